"""The built-in streams, cut into batches as files are."""

from collections.abc import Iterator

import numpy as np

from mtcool.learn.model import Task
from mtcool.learn.reading.tables import BadRow, Batch
from mtcool.streams.table import Table

TARGETS = {
    "births": "log of the births of a state and day, from its level at the start",
    "flights": "delay of a flight at its arrival",
    "schools": "result of a pupil in mathematics",
}
"""What is predicted, by the name of the stream."""


def built_in(name: str) -> Table:
    """One of the built-in streams, by its name."""
    from mtcool.streams import real

    table: Table = getattr(real, name)()
    return table


def built_in_batches(table: Table, task: Task, rows: int) -> Iterator[tuple[Batch, list[BadRow]]]:
    """The rows of a table; for classification the target is whether it is above its median."""
    target = table.target
    if task == "classification":
        target = (target > np.median(target)).astype(float)
    labels = np.array([str(label) for label in table.graph.labels], dtype=object)
    for start in range(0, target.size, rows):
        part = slice(start, start + rows)
        line = np.arange(start, min(start + rows, target.size)) + 1
        yield (
            Batch(
                line,
                labels[table.agent[part]],
                table.features[part],
                target[part],
                table.time[part],
                table.arrives[part],
            ),
            [],
        )
