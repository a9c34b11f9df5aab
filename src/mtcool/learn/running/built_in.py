"""The built-in streams, cut into batches as files are."""

from collections.abc import Iterator

import numpy as np

from mtcool.learn.model import Task
from mtcool.learn.reading.tables import BadRow, Batch
from mtcool.streams.table import Table


def built_in(name: str) -> Table:
    """One of the built-in streams, by its name."""
    from mtcool.streams import real

    table: Table = getattr(real, name)()
    return table


def places_in(table: Table) -> dict[str, tuple[float, float]]:
    """Longitude and latitude of the agents by name, if they are somewhere."""
    if table.places is None:
        return {}
    return {
        str(label): (east, north)
        for label, (east, north) in zip(table.graph.labels, table.places.tolist(), strict=True)
    }


def built_in_batches(table: Table, task: Task, rows: int) -> Iterator[tuple[Batch, list[BadRow]]]:
    """The rows of a table; for classification the target is whether it is above its median.

    Times are seconds since 1970, if the table has dates.
    """
    target = table.target
    start, unit = table.clock or (0.0, 1.0)
    time, arrives = start + unit * table.time, start + unit * table.arrives
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
                time[part],
                arrives[part],
            ),
            [],
        )
