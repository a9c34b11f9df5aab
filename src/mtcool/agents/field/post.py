"""Messages and labels under way: how long each of them takes, and which are lost."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from mtcool.agents.kernels import drawn, rounds_late
from mtcool.field.draws import (
    DELAY_GRADIENT,
    DELAY_LABEL,
    DELAY_ROW,
    LOST_GRADIENT,
    LOST_ROW,
)
from mtcool.field.settings import FieldSettings
from mtcool.peers.field.records import Rules
from mtcool.types import Label

LOST = -1

Item = TypeVar("Item")


class UnderWay(Generic[Item]):
    """What arrives in some rounds, those of a round in the order in which they were put in."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Item]] = []
        self._order = itertools.count()

    def __len__(self) -> int:
        return len(self._heap)

    def put(self, due: int, item: Item) -> None:
        """Let something arrive at the end of round `due`."""
        heapq.heappush(self._heap, (due, next(self._order), item))

    def until(self, now: int) -> Iterator[Item]:
        """Take out all that is due at the end of round `now`."""
        while self._heap and self._heap[0][0] <= now:
            yield heapq.heappop(self._heap)[2]


class Placed(Protocol):
    """An agent, of which draws need to know no more."""

    @property
    def name(self) -> Label:
        """Its name, by which edges have delays of their own."""

    @property
    def index(self) -> int:
        """Its place among all."""


class Waits:
    """Rounds until something arrives, drawn as in a network that holds all agents in one block."""

    def __init__(self, rules: Rules, field: FieldSettings) -> None:
        self._rules, self._delays = rules, field.delays

    def of_row(self, asker: Placed, other: Placed, number: int, size: int) -> int:
        """Of the answer to a request, or `LOST`."""
        rules, edges = self._rules, self._delays.rows.edges
        constant = rules.row_constant + edges.get((asker.name, other.name), 0.0)
        constant += size / rules.row_bandwidth
        if self._is_lost(LOST_ROW, asker, other, number):
            return LOST
        return self._drawn(constant, rules.row_mean, DELAY_ROW, asker.index, other.index, number)

    def of_gradient(self, sender: Placed, other: Placed, number: int, size: int) -> int:
        """Of a gradient, or `LOST`."""
        rules, edges = self._rules, self._delays.gradients.edges
        constant = rules.gradient_constant + edges.get((sender.name, other.name), 0.0)
        constant += size / rules.gradient_bandwidth
        if self._is_lost(LOST_GRADIENT, sender, other, number):
            return LOST
        mean, ends = rules.gradient_mean, (sender.index, other.index)
        return self._drawn(constant, mean, DELAY_GRADIENT, *ends, number)

    def of_label(self, agent: Placed, number: int) -> int:
        """Of what an agent learns from."""
        constant, mean = self._rules.label_constant, self._rules.label_mean
        return self._drawn(constant, mean, DELAY_LABEL, agent.index, 0, number)

    def _drawn(self, constant: float, mean: float, kind: int, i: int, j: int, n: int) -> int:
        return rounds_late(constant, mean, self._rules.seed, kind, i, j, n)

    def _is_lost(self, kind: int, one: Placed, two: Placed, number: int) -> bool:
        seed, lost = self._rules.seed, self._rules.lost
        return lost > 0.0 and drawn(seed, kind, one.index, two.index, number) < lost
