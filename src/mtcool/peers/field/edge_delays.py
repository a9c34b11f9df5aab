"""Edges with delays of their own."""

from collections.abc import Iterable

import numpy as np

from mtcool.field.settings import FieldSettings
from mtcool.peers.field.directory import Directory
from mtcool.peers.field.events import SLOW_EDGE, edge_number
from mtcool.types import AnyArray, Label

UNKNOWN = 2**63 - 1


class SlowEdges:
    """The table of slow edges, in which an edge appears when both its ends are known.

    The numbers of its edges ascend, so one is found by bisection. An agent that becomes known has
    the largest place so far, and so have its edges: they are added behind the others.
    """

    def __init__(self, field: FieldSettings, directory: Directory) -> None:
        self._rows, self._gradients = field.delays.rows.edges, field.delays.gradients.edges
        self._ends: dict[Label, set[Label]] = {}
        for one, two in (*self._rows, *self._gradients):
            self._ends.setdefault(one, set()).add(two)
            self._ends.setdefault(two, set()).add(one)
        self._directory, self._met, self._count = directory, directory.size, 0
        self._table = np.zeros(sum(map(len, self._ends.values())) // 2, SLOW_EDGE)
        self._table["edge"] = UNKNOWN
        known = [end for end in self._ends if directory.knows(end)]
        self._add(sorted(known, key=directory.index))

    @property
    def table(self) -> AnyArray:
        """Of type `SLOW_EDGE`; numbers that are `UNKNOWN` stand for what is to come."""
        directory = self._directory
        if self._met < directory.size:
            self._add(directory.joined[self._met - directory.start.size :])
            self._met = directory.size
        return self._table

    def _add(self, agents: Iterable[Label]) -> None:
        """Add the edges of agents, by place, to those who were known before them."""
        for agent in agents:
            place, ends = self._directory.index(agent), self._ends.get(agent, set())
            others = {self._directory.index(end): end for end in ends if self._directory.knows(end)}
            for other in sorted(others):
                if other < place:
                    pair = agent, others[other]
                    rows, gradients = self._rows.get(pair, 0.0), self._gradients.get(pair, 0.0)
                    self._table[self._count] = edge_number(place, other), rows, gradients
                    self._count += 1
