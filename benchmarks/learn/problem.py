"""What all contestants play: rows, events, the rows that count, and the loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.graphs import Graph
from mtcool.streams import Table, births, flights, progressive_order, schools
from mtcool.types import Floats, Integers

DIVERGED = 1e6
"""Who predicts so many times the largest target has diverged; NaN has too."""
ORDERS = 5
"""How many orders of the pupils, who have no time stamps, are averaged over."""


class Scale(NamedTuple):
    """What is taken from targets, and what they are divided by then."""

    mean: float
    deviation: float

    def apply(self, target: Floats) -> Floats:
        """Targets on the scale."""
        return (target - self.mean) / self.deviation

    def undo(self, prediction: Floats) -> Floats:
        """Predictions of the target itself from those on the scale."""
        with np.errstate(over="ignore"):  # of a rival that diverged
            return prediction * self.deviation + self.mean


AS_THEY_ARE = Scale(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Problem:
    """A stream to be predicted, by regression or as a class."""

    name: str
    graph: Graph
    agent: Integers
    features: Floats
    target: Floats
    """The number itself, or 0 and 1 for classes."""
    time: Floats
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
    def scale(self) -> Scale:
        """Mean and deviation of the target over the whole file, in hindsight; classes have none."""
        if self.classes:
            return AS_THEY_ARE
        return Scale(float(self.target.mean()), float(self.target.std()))

    def best_of_scales(self, play: Callable[[Scale], Floats]) -> Floats:
        """The better predictions of two runs: with targets as they are, and z-scored."""
        scales = {AS_THEY_ARE, self.scale}
        return min((scale.undo(play(scale)) for scale in scales), key=self.loss)

    def loss(self, prediction: Floats, among: NDArray[np.bool_] | None = None) -> float:
        """Mean squared error over the target's variance, or log loss; infinite if one diverged.

        Of the rows that count, all or those among the given ones.
        """
        rows = self.counted if among is None else self.counted & among
        p, y = prediction[rows], self.target[rows]
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
            time=self.time[:rows],
            events=self.events[kept],
        )

    def as_classes(self) -> Problem:
        """Predict whether the target is above its median over the whole file."""
        above = self.target > np.median(self.target)
        return replace(self, target=above.astype(np.float64), classes=True)


def from_table(table: Table) -> Problem:
    """The regression problem of a table, with its time stamps and delays."""
    return Problem(
        name=table.name,
        graph=table.graph,
        agent=table.agent,
        features=table.features,
        target=table.target,
        time=table.time,
        events=progressive_order(table.time, table.arrives),
    )


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
