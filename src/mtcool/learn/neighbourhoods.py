"""Who is whose neighbour, while agents keep joining."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from mtcool.graphs import GraphLike, as_graph
from mtcool.learn.names import check_name
from mtcool.types import Integers, Label

Network: TypeAlias = "GraphLike | Literal['complete', 'none'] | None"
"""A graph; "complete", where all are neighbours of each other; "none" or None, where nobody is."""
MOST_COMPLETE = 300
"""Agents among whom everybody talks to everybody, when nobody said who talks to whom."""


class Neighbourhoods:
    """The agents by name, and the neighbours of each.

    Examples
    --------
    >>> places = Neighbourhoods("complete")
    >>> places.add(["rome", "milan"])
    >>> places.entries(2)
    (array([0, 2, 4]), array([0, 1, 1, 0]))
    """

    def __init__(self, graph: Network) -> None:
        if isinstance(graph, str) and graph not in ("complete", "none"):
            raise ValueError(f"graph must be a graph, 'complete', 'none' or None, got {graph!r}")
        self.complete = isinstance(graph, str) and graph == "complete"
        self.position: dict[Label, int] = {}
        self.neighbours: list[list[int]] = []
        """By agent; empty where all are neighbours of each other."""
        if graph is not None and not isinstance(graph, str):
            known = as_graph(graph)
            for label in known.labels:
                check_name("each label of graph", label)
            self.add(known.labels)
            owner = np.repeat(np.arange(known.size), np.diff(known.ptr))
            other = known.idx.astype(np.int64)
            pairs = np.stack([owner, other], axis=1)[owner != other]
            for i, j in pairs.tolist():
                self.neighbours[i].append(j)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The agents' names, by their indices."""
        return tuple(self.position)

    def add(self, agents: Iterable[Label]) -> None:
        """Add agents that are not known yet; alone, or as neighbours of all."""
        for agent in agents:
            if agent not in self.position:
                self.position[agent] = len(self.position)
                self.neighbours.append([])

    def connect(self, agent: Label, others: Sequence[Label]) -> None:
        """Make agents neighbours of one."""
        i = self.position[agent]
        for other in others if not self.complete else ():
            j = self.position[other]
            if j != i and j not in self.neighbours[i]:
                self.neighbours[i].append(j)
                self.neighbours[j].append(i)

    def unknown(self, agents: Iterable[Label]) -> list[Label]:
        """Those of the agents that are not known, each once, in order."""
        return list(dict.fromkeys(agent for agent in agents if agent not in self.position))

    def entries(self, room: int) -> tuple[Integers, Integers]:
        """Compressed rows for so many agents; each row begins with the agent itself."""
        known = len(self.position)
        if self.complete:
            sizes = np.where(np.arange(room) < known, known, 1)
            rest = np.arange(known, room)
            return np.cumsum([0, *sizes]), np.concatenate([_all_pairs(known), rest])
        rows = [[i, *others] for i, others in enumerate(self.neighbours)]
        rows += [[i] for i in range(len(rows), room)]
        ptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return ptr, np.array([j for row in rows for j in row], dtype=np.int64)

    def layout(self, room: int) -> tuple[Integers, Integers, Integers]:
        """Where entries begin, whom they name, and where they end, with room for who may join.

        In a complete network every agent has an entry for each that there is room for, in the order
        in which they join, so that joining only moves the ends. The agent after the last one hears
        all others, and none hears it: it predicts as one that joins now.
        """
        if not self.complete:
            ptr, idx = self.entries(room)
            return ptr, idx, ptr[1:].copy()
        ptr = np.arange(room + 1) * room
        return ptr, _all_pairs(room), self.ends(ptr)

    def ends(self, ptr: Integers) -> Integers:
        """Where the entries of the agents of a complete network end."""
        known, agents = len(self.position), np.arange(len(ptr) - 1)
        sizes = np.where(agents < known, known, 1)
        sizes[known] = known + 1
        return ptr[:-1] + sizes


def _all_pairs(count: int) -> Integers:
    """Rows in which each agent stands before all others."""
    others = np.broadcast_to(np.arange(count), (count, count))
    rows = others[~np.eye(count, dtype=bool)].reshape(count, max(count - 1, 0))
    return np.concatenate([np.arange(count)[:, None], rows], axis=1).ravel()
