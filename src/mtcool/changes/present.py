"""The network while changes happen: who is present, and between whom there are edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from mtcool.changes.change import Change
from mtcool.changes.edges import edges_of
from mtcool.changes.names import Names
from mtcool.graphs import Graph
from mtcool.types import Label


@final
class Present:
    """The agents that are present and their edges; starts as a graph, and changes.

    Only what changes is kept in sets, so a million agents cost nothing until something happens
    to them.
    """

    def __init__(self, graph: Graph) -> None:
        self.names = Names(graph)
        self._graph = graph
        self._gone: set[int] = set()
        # Of the agents whose edges have changed; those of all others are the graph's.
        self._neighbours: dict[int, set[int]] = {}

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
        changed, here = np.zeros(size, np.bool_), np.ones(size, np.bool_)
        changed[list(self._neighbours)] = True
        here[list(self._gone)] = False
        edges = edges_of(self._graph)
        kept = edges[~changed[edges].any(axis=1)]
        new = [(i, j) for i, others in self._neighbours.items() for j in others]
        pairs = np.concatenate((kept, np.array(new, np.int64).reshape(-1, 2)))
        graph = Graph.from_edges((np.cumsum(here) - 1)[pairs], size=int(here.sum()))
        labels = self.names.labels()
        if self._gone:
            labels = [labels[i] for i in np.flatnonzero(here).tolist()]
        return Graph(graph.ptr, graph.idx, labels)

    def _connect(self, name: Label, other: Label) -> list[int]:
        a, b = (self._here(who, "connect agents that are present") for who in (name, other))
        if a == b:
            raise ValueError(f"connect two different agents, got {name!r} and {other!r}")
        if b in self._edges(a):
            raise ValueError(f"connect agents that have no edge, got {name!r} and {other!r}")
        self._edges(a).add(b)
        self._edges(b).add(a)
        return [a, b]

    def _disconnect(self, name: Label, other: Label) -> list[int]:
        a, b = (self._here(who, "disconnect agents that are present") for who in (name, other))
        if b not in self._edges(a):
            raise ValueError(f"disconnect agents that have an edge, got {name!r} and {other!r}")
        self._edges(a).remove(b)
        self._edges(b).remove(a)
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
        self._neighbours[agent] = set(neighbours)
        for other in neighbours:
            self._edges(other).add(agent)
        return [agent, *sorted(neighbours)]

    def _leave(self, name: Label) -> list[int]:
        agent = self._here(name, "let an agent leave that is present")
        if len(self.names) - len(self._gone) == 1:
            raise ValueError(f"leave somebody in the network, got {name!r}, the last agent")
        for other in self._edges(agent):
            self._edges(other).remove(agent)
        self._neighbours[agent] = set()
        self._gone.add(agent)
        return [agent]

    def _here(self, name: Label, wanted: str) -> int:
        """The index of an agent that is present."""
        agent = self.names.find(name)
        if agent is None:
            raise ValueError(f"{wanted}, got {name!r}, whom nobody knows")
        if agent in self._gone:
            raise ValueError(f"{wanted}, got {name!r}, who has left")
        return agent

    def _edges(self, agent: int) -> set[int]:
        """The neighbours of an agent without itself, to be changed."""
        found = self._neighbours.get(agent)
        if found is None:
            # A change of an edge concerns the sets of both its ends: nothing has happened here yet.
            ptr, idx = self._graph.ptr, self._graph.idx
            found = set(idx[ptr[agent] : ptr[agent + 1]].tolist()) - {agent}
            self._neighbours[agent] = found
        return found
