"""Dominating sets: a few agents such that everybody has one of them in the neighbourhood."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtcool import validation
from mtcool.graphs.edges import Indices, node_indices
from mtcool.graphs.graph import Graph, GraphLike, as_graph
from mtcool.graphs.greedy import greedy_dominating_set
from mtcool.graphs.integer_programs import smallest_cover


def is_dominating(graph: GraphLike, nodes: ArrayLike | Iterable[int]) -> bool:
    """Whether every closed neighbourhood contains one of `nodes` (node indices).

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    nodes
        Node indices.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> is_dominating(star(5), [0]), is_dominating(star(5), [1, 2, 3])
    (True, False)
    """
    network = as_graph(graph)
    members = members_of(network, "nodes", nodes)
    return bool(np.logical_or.reduceat(members[network.idx], network.ptr[:-1]).all())


def smallest_dominating_set(graph: GraphLike, time_limit: float = 60.0) -> Indices:
    """A dominating set of the least size gamma(G): node indices, ascending.

    Exact, by integer programming on each connected component; proven within `time_limit` seconds
    or refused with a TimeoutError.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    time_limit
        Seconds for the proof.

    Examples
    --------
    >>> from mtcool.graphs import grid
    >>> len(smallest_dominating_set(grid(4, 4)))
    4
    """
    network = as_graph(graph)
    time_limit = validation.positive("time_limit", time_limit)
    found = smallest_cover(network, greedy_dominating_set(network), time_limit)
    if found.lower < found.upper:
        raise TimeoutError(
            f"no proof of a smallest dominating set within time_limit={time_limit} seconds: allow "
            "more time, or pass dominating_set= to delegation_weights"
        )
    return found.witness


def members_of(graph: Graph, name: str, nodes: ArrayLike | Iterable[int]) -> NDArray[np.bool_]:
    """The indicator of a set of node indices."""
    members = np.zeros(graph.size, dtype=np.bool_)
    members[node_indices(name, nodes, graph.size)] = True
    return members
