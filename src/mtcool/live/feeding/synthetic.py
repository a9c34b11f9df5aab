"""Made-up streams whose tasks are alike for neighbours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mtcool.live.description import Description, tables
from mtcool.live.feeding.row import Row
from mtcool.streams import gaussian_tasks, name_of, quadratic_stream, regression_stream
from mtcool.types import Floats


def synthetic_rows(network: Description, stream: tables.Synthetic, rounds: int) -> Iterator[Row]:
    """So many rows that suit the network, in an order drawn by the seed."""
    learn, table = network.file.learn, network.file.algorithm
    rng = np.random.default_rng(stream.seed)
    if learn is not None:
        tasks = gaussian_tasks(network.graph, len(learn.features), stream.smoothness, rng)
        kind = "squared" if learn.task == "regression" else "logistic"
        found = regression_stream(network.graph, tasks, rounds, rng, kind, stream.noise)  # type: ignore[arg-type]  # one of its words
        rows, classes = found.losses.rows, learn.task == "classification"
        for agent, row in zip(found.agents.tolist(), rows.tolist(), strict=True):
            target = float(row[-1] > 0) if classes else row[-1]
            yield Row(found.labels[agent], row[:-1], target)
        return
    assert table is not None  # one of the two is given
    tasks = gaussian_tasks(network.graph, table.dim, stream.smoothness, rng)
    tasks *= 0.5 * table.radius / max(_largest(tasks), 1e-12)
    if table.loss is not None:
        found = regression_stream(network.graph, tasks, rounds, rng, table.loss, stream.noise)
        for agent, row in zip(found.agents.tolist(), found.losses.rows.tolist(), strict=True):
            yield Row(found.labels[agent], row[:-1], row[-1])
        return
    found = quadratic_stream(network.graph, tasks, rounds, rng, stream.noise)
    name = name_of(found.losses.kind)
    for agent, row in zip(found.agents.tolist(), found.losses.rows.tolist(), strict=True):
        yield Row(found.labels[agent], None, None, (name, row))


def _largest(tasks: Floats) -> float:
    return float(np.sqrt((tasks**2).sum(axis=1)).max())
