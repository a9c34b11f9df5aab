"""The network while changes happen: who is present, and between whom there are edges."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import final

import numpy as np

from mtcool.changes.change import Change
from mtcool.changes.edges import edges_of
from mtcool.changes.names import KnownNames, whole
from mtcool.graphs import Graph
from mtcool.types import Integers, Label


@final
class Present:
    """The agents that are present and their edges; starts as a graph, and changes.

    Only the edges that change are kept in sets, so a million agents cost nothing until something
    happens to them, and a change what its agents' edges cost.
    """

    def __init__(self, graph: Graph, left: Iterable[Label] = ()) -> None:
        self.names = KnownNames(graph)
        self._graph, self._left = graph, frozenset(left)
        self._gone: set[int] = set()
        # Neighbours that an agent does not have in the graph, and those that it has there only.
        self._gained: defaultdict[int, set[int]] = defaultdict(set)
        self._lost: defaultdict[int, set[int]] = defaultdict(set)

    def play(self, change: Change) -> list[int]:
        """Let a change happen; the indices of its agents, the neighbours of a new one ascending.

        A ValueError says what the change must do instead, and then nothing has happened.
        """
        name, *others = change.agents
        match change.event:
            case "connect":
                return self._connect(name, others[0])
            case "disconnect":
                return self._disconnect(name, others[0])
            case "join":
                return self._join(name, others)
            case "leave":
                return self._leave(name)

    def graph(self) -> Graph:
        """The graph of those who are present, in the order of their indices."""
        size = len(self.names)
        here = np.ones(size, np.bool_)
        here[list(self._gone)] = False
        edges, lost = edges_of(self._graph), _pairs(self._lost)
        kept = edges[~np.isin(edges @ [size, 1], lost @ [size, 1])]
        pairs = np.concatenate((kept, _pairs(self._gained)))
        graph = Graph.from_edges((np.cumsum(here) - 1)[pairs], size=int(here.sum()))
        labels = self.names.labels()
        if self._gone:
            labels = [labels[i] for i in np.flatnonzero(here).tolist()]
        return Graph(graph.ptr, graph.idx, labels)

    def _connect(self, name: Label, other: Label) -> list[int]:
        a, b = (self._here(who, "connect agents that are present") for who in (name, other))
        if a == b:
            raise ValueError(f"connect two different agents, got {name!r} and {other!r}")
        if self._are_connected(a, b):
            raise ValueError(f"connect agents that have no edge, got {name!r} and {other!r}")
        self._add(a, b)
        return [a, b]

    def _disconnect(self, name: Label, other: Label) -> list[int]:
        a, b = (self._here(who, "disconnect agents that are present") for who in (name, other))
        if not self._are_connected(a, b):
            raise ValueError(f"disconnect agents that have an edge, got {name!r} and {other!r}")
        self._remove(a, b)
        return [a, b]

    def _join(self, name: Label, others: Sequence[Label]) -> list[int]:
        agent = self.names.find(name)
        if agent is not None and agent not in self._gone:
            raise ValueError(f"join an agent that is not present, got {name!r}")
        neighbours = {self._here(who, "join neighbours that are present") for who in others}
        if len(neighbours) < len(others):
            raise ValueError(f"join neighbours that are different, got {list(others)!r}")
        if agent is None:
            agent = self.names.add(name)
        self._gone.discard(agent)
        for other in neighbours:
            self._add(agent, other)
        return [agent, *sorted(neighbours)]

    def _leave(self, name: Label) -> list[int]:
        agent = self._here(name, "let an agent leave that is present")
        if len(self.names) - len(self._gone) == 1:
            raise ValueError(f"leave somebody in the network, got {name!r}, the last agent")
        for other in self._neighbours(agent):
            self._remove(agent, other)
        self._gone.add(agent)
        return [agent]

    def _here(self, name: Label, wanted: str) -> int:
        """The index of an agent that is present."""
        agent = self.names.find(name)
        if agent in self._gone or (agent is None and {name, whole(name)} & self._left):
            raise ValueError(f"{wanted}, got {name!r}, who has left")
        if agent is None:
            raise ValueError(f"{wanted}, got {name!r}, whom nobody knows")
        return agent

    def _are_connected(self, agent: int, other: int) -> bool:
        if other in self._gained.get(agent, ()):
            return True
        if other in self._lost.get(agent, ()) or agent >= self._graph.size:
            return False
        first, last = self._graph.ptr[agent : agent + 2].tolist()
        place = bisect_left(self._graph.idx, other, first, last)
        return place < last and int(self._graph.idx[place]) == other

    def _neighbours(self, agent: int) -> set[int]:
        """The neighbours of an agent without itself."""
        found = set(self._gained.get(agent, ()))
        if agent < self._graph.size:
            first, last = self._graph.ptr[agent : agent + 2].tolist()
            found.update(self._graph.idx[first:last].tolist())
        return found - self._lost.get(agent, set()) - {agent}

    def _add(self, one: int, two: int) -> None:
        _flip(self._lost, self._gained, one, two)

    def _remove(self, one: int, two: int) -> None:
        _flip(self._gained, self._lost, one, two)


def _flip(
    there: defaultdict[int, set[int]], else_to: defaultdict[int, set[int]], one: int, two: int
) -> None:
    """Take an edge out of some, or put it to others if it is not among them."""
    if two in there.get(one, ()):
        there[one].remove(two)
        there[two].remove(one)
    else:
        else_to[one].add(two)
        else_to[two].add(one)


def _pairs(neighbours: Mapping[int, set[int]]) -> Integers:
    """Every edge once, the smaller index first."""
    pairs = [(i, j) for i, others in neighbours.items() for j in others if i < j]
    return np.array(pairs, np.int64).reshape(-1, 2)
