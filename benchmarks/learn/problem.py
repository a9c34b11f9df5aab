"""What all contestants play: rows, events, the rows that count, and the loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from mtcool.graphs import Graph
from mtcool.streams import Table, births, flights, progressive_order, schools
from mtcool.types import Floats, Integers

DIVERGED = 1e6
"""Who predicts so many times the largest target has diverged; NaN has too."""
ORDERS = 5
"""How many orders of the pupils, who have no time stamps, are averaged over."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A stream to be predicted, by regression or as a class."""

    name: str
    graph: Graph
    agent: Integers
    features: Floats
    target: Floats
    """The number itself, or 0 and 1 for classes."""
    events: Integers
    classes: bool = False

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """The rows that are not cold: some target was seen in the closed neighbourhood."""
        rows = self.target.size
        position = np.empty(2 * rows, np.int64)  # of the event that predicts, then of its learning
        position[np.where(self.events >= 0, self.events, rows + ~self.events)] = np.arange(2 * rows)
        first = np.full(self.graph.size, 2 * rows)
        np.minimum.at(first, self.agent, position[rows:])
        around = np.minimum.reduceat(first[self.graph.idx], self.graph.ptr[:-1])
        return position[:rows] > around[self.agent]

    @cached_property
    def scaled_features(self) -> Floats:
        """A column of ones, then the features z-scored over the whole file: in hindsight."""
        x = self.features
        scaled = (x - x.mean(axis=0)) / x.std(axis=0)
        return np.column_stack([np.ones(len(x)), scaled])

    @cached_property
    def scaled_target(self) -> Floats:
        """The target z-scored over the whole file, in hindsight; classes as they are."""
        y = self.target
        return y if self.classes else (y - y.mean()) / y.std()

    def unscaled(self, prediction: Floats) -> Floats:
        """Predictions of the scaled target, as predictions of the target."""
        if self.classes:
            return prediction
        return prediction * self.target.std() + self.target.mean()

    def loss(self, prediction: Floats) -> float:
        """Mean squared error over the target's variance, or log loss; infinite if one diverged."""
        p, y = prediction[self.counted], self.target[self.counted]
        if not (np.abs(p) < DIVERGED * np.abs(y).max()).all():
            return math.inf
        if not self.classes:
            return float(np.mean((p - y) ** 2) / y.var())
        tiny = np.finfo(np.float64).eps
        sure = np.clip(np.where(y > 0.5, p, 1.0 - p), tiny, 1.0)
        return float(-np.log(sure).mean())

    def first(self, rows: int) -> Problem:
        """The problem of the first rows alone."""
        kept = np.where(self.events >= 0, self.events, ~self.events) < rows
        return replace(
            self,
            agent=self.agent[:rows],
            features=self.features[:rows],
            target=self.target[:rows],
            events=self.events[kept],
        )

    def as_classes(self) -> Problem:
        """Predict whether the target is above its median over the whole file."""
        above = self.target > np.median(self.target)
        return replace(self, target=above.astype(np.float64), classes=True)


def from_table(table: Table) -> Problem:
    """The regression problem of a table, with its time stamps and delays."""
    events = progressive_order(table.time, table.arrives)
    return Problem(table.name, table.graph, table.agent, table.features, table.target, events)


STREAMS: dict[str, tuple[Callable[..., Table], int]] = {
    "births": (births, 1),
    "flights": (flights, 1),
    "schools": (schools, ORDERS),
}
"""The streams, each with its number of orders: those with time stamps have one."""

# So many rows of a stream are played if the run is to be quick.
QUICK_ROWS = 4_800


@lru_cache(maxsize=4)
def problems(name: str, quick: bool) -> tuple[Problem, ...]:
    """The stream in each of its orders."""
    read, orders = STREAMS[name]
    tables = [read(seed=seed) for seed in range(orders)] if orders > 1 else [read()]
    found = [from_table(table) for table in tables]
    return tuple(problem.first(QUICK_ROWS) for problem in found) if quick else tuple(found)
