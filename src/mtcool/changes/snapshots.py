"""A schedule from pictures of the network, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mtcool.changes.change import Change, connect, disconnect, join, leave
from mtcool.changes.edges import edges_of
from mtcool.changes.schedule import Schedule
from mtcool.graphs import GraphLike, as_graph
from mtcool.types import Given, Integers, Label
from mtcool.validation import vector


def from_graphs(times: Iterable[float], graphs: Iterable[GraphLike]) -> Schedule:
    """The changes from each graph to the next; the first graph is the start.

    At the time of a graph agents join, then edges appear, edges vanish, and agents leave: nobody
    who stays has fewer neighbours on the way than before or after.

    Parameters
    ----------
    times
        The time of each graph, in rounds, ascending. The first is not used: the network is the
        first graph until the time of the second.
    graphs
        networkx graphs, or mtcool's; nodes with the same label are the same agent.

    Examples
    --------
    >>> import networkx as nx
    >>> monday, tuesday = nx.path_graph(["rome", "milan", "turin"]), nx.path_graph(["oslo", "rome"])
    >>> schedule = from_graphs([0, 100], [monday, tuesday])
    >>> list(schedule)
    [join(100, 'oslo', ['rome']), leave(100, 'milan'), leave(100, 'turin')]
    """
    pictures = _listed("graphs", graphs)
    if not pictures:
        raise ValueError(f"graphs must not be empty, got {graphs!r}")
    moments = vector("times", _listed("times", times), len(pictures)).tolist()
    for before, after in pairwise(moments):
        if after < before:
            raise ValueError(f"times must ascend, got {after:g} after {before:g}")
    positions: dict[Label, int] = {}
    snapshots = [_snapshot(graph, positions) for graph in pictures]
    names, changes = list(positions), list[Change]()
    for time, (old, new) in zip(moments[1:], pairwise(snapshots), strict=True):
        changes += changes_between(old, new, names, time)
    return Schedule(changes)


class GraphSnapshot(NamedTuple):
    """A network at one moment: agents, and edges as one number each, both ascending."""

    agents: Integers
    edges: Integers


def edge_numbers(pairs: Integers) -> Integers:
    """One number for each pair of indices, whichever comes first; ascending."""
    return np.unique((pairs.min(axis=1) << 32) + pairs.max(axis=1))


def changes_between(
    old: GraphSnapshot, new: GraphSnapshot, names: Sequence[Label], time: float
) -> list[Change]:
    """What happens from one snapshot to the next, in an order in which each change is possible."""
    joining = np.setdiff1d(new.agents, old.agents, assume_unique=True)
    leaving = np.setdiff1d(old.agents, new.agents, assume_unique=True)
    appear, vanish = _pairs(new.edges, old.edges), _pairs(old.edges, new.edges)
    with_new = np.isin(appear, joining)
    # Of two that join the later one, whose index is larger, finds the other present.
    later = np.where(with_new[:, 1], appear[:, 1], appear[:, 0])
    neighbours: dict[int, list[Label]] = {agent: [] for agent in joining.tolist()}
    found = with_new.any(axis=1)
    others = appear.sum(axis=1) - later
    for agent, other in zip(later[found].tolist(), others[found].tolist(), strict=True):
        neighbours[agent].append(names[other])
    gone = np.isin(vanish, leaving).any(axis=1)
    return [
        *(join(time, names[agent], them) for agent, them in neighbours.items()),
        *(connect(time, names[i], names[j]) for i, j in appear[~found].tolist()),
        *(disconnect(time, names[i], names[j]) for i, j in vanish[~gone].tolist()),
        *(leave(time, names[agent]) for agent in leaving.tolist()),
    ]


def _pairs(edges: Integers, without: Integers) -> Integers:
    left = np.setdiff1d(edges, without, assume_unique=True)
    return np.stack((left >> 32, left & 0xFFFFFFFF), axis=1)


def _snapshot(graph: GraphLike, positions: dict[Label, int]) -> GraphSnapshot:
    """Agents are numbered in the order in which they are first seen."""
    network = as_graph(graph)
    numbers = [positions.setdefault(label, len(positions)) for label in network.labels]
    indices = np.array(numbers, np.int64)
    return GraphSnapshot(np.sort(indices), edge_numbers(indices[edges_of(network)]))


def _listed(argument: str, given: Given) -> list[Given]:
    try:
        return list(given)
    except TypeError:
        raise ValueError(f"{argument} must be a sequence, got {given!r}") from None
