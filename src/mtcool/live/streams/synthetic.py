"""Made-up streams whose tasks are alike for neighbours."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from mtcool.live.config import Description, tables
from mtcool.live.streams.row import Row
from mtcool.streams import Stream, gaussian_tasks, name_of, quadratic_stream, regression_stream
from mtcool.types import Floats

BLOCK = 1000
"""Rows that are drawn at a time: so a longer stream begins with the rows of a shorter one."""


def synthetic_rows(network: Description, stream: tables.Synthetic, rounds: int) -> Iterator[Row]:
    """So many rows that suit the network, in an order drawn by the seed."""
    learn, table = network.file.learn, network.file.algorithm
    rng = np.random.default_rng(stream.seed)
    if learn is not None:
        dim = len(learn.features)
        kind: str | None = "squared" if learn.task == "regression" else "logistic"
    else:
        assert table is not None  # one of the two is given
        dim, kind = table.dim, table.loss
    tasks = gaussian_tasks(network.graph, dim, stream.smoothness, rng)
    if table is not None:
        tasks *= 0.5 * table.radius / max(_largest(tasks), 1e-12)
    classes = learn is not None and learn.task == "classification"
    for first in range(0, rounds, BLOCK):
        if kind is None:
            found = quadratic_stream(network.graph, tasks, BLOCK, rng, stream.noise)
        else:
            found = regression_stream(network.graph, tasks, BLOCK, rng, kind, stream.noise)  # type: ignore[arg-type]  # one of its words
        rows = _points(found) if kind is None else _examples(found, classes)
        for number, row in enumerate(itertools.islice(rows, rounds - first), first + 1):
            yield row._replace(number=number)


def _examples(found: Stream, classes: bool) -> Iterator[Row]:
    """Features and targets; with `classes`, targets are 0 or 1."""
    for agent, row in zip(found.agents.tolist(), found.losses.rows.tolist(), strict=True):
        target = float(row[-1] > 0) if classes else row[-1]
        yield Row(found.labels[agent], row[:-1], target)


def _points(found: Stream) -> Iterator[Row]:
    """Losses of points."""
    name = name_of(found.losses.kind)
    for agent, row in zip(found.agents.tolist(), found.losses.rows.tolist(), strict=True):
        yield Row(found.labels[agent], None, None, (name, row))


def _largest(tasks: Floats) -> float:
    return float(np.sqrt((tasks**2).sum(axis=1)).max())
