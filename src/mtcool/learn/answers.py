"""Predictions as they come: a CSV file, or a document of JSON, never all of them in memory."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, TextIO

import numpy as np

from mtcool.learn.pieces import pyarrow
from mtcool.learn.run import Answers
from mtcool.types import Given


class Writer(Protocol):
    """Takes answers, one batch after the other."""

    def write(self, answers: Answers) -> None:
        """Add the rows of a batch."""


class CsvWriter:
    """Writes line, agent, time, predictions, target and whether a row was cold, as CSV.

    Numbers are written with as many digits as tell them apart from all others.

    Parameters
    ----------
    file
        An open file; the header is written at once unless the file goes on with earlier rows.
    dated
        Whether times are seconds since 1970, to be written as dates.
    target
        Whether targets are written.
    header
        Whether the file begins here.
    """

    def __init__(self, file: BinaryIO, *, dated: bool, target: bool, header: bool = True) -> None:
        pa, files = pyarrow(), pyarrow("pyarrow.csv")
        self._target = target
        self._time = pa.timestamp("ms") if dated else pa.float64()
        numbers = ["prediction", "alone", "pooled", *(["target"] if target else [])]
        self._schema = pa.schema(
            [
                ("line", pa.int64()),
                ("agent", pa.string()),
                ("time", self._time),
                *((name, pa.float64()) for name in numbers),
                ("cold", pa.int8()),
            ]
        )
        if header:
            file.write((",".join(self._schema.names) + "\n").encode())
        options = files.WriteOptions(include_header=False)
        self._writer = files.CSVWriter(file, self._schema, write_options=options)

    def write(self, answers: Answers) -> None:
        """Add the rows of a batch."""
        pa = pyarrow()
        columns = answers._asdict()
        columns["agent"] = pa.array(columns.pop("agents"), pa.string())
        columns["cold"] = answers.cold.astype(np.int8)
        if pa.types.is_timestamp(self._time):
            columns["time"] = _dates(answers)
        chosen = {name: columns[name] for name in self._schema.names}
        self._writer.write_table(pa.table(chosen, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


class JsonWriter:
    """Writes one document: a list of predictions, and then what `finish` is given.

    Examples
    --------
    >>> import io
    >>> text = io.StringIO()
    >>> JsonWriter(text).finish({"rows": 0})
    >>> text.getvalue()
    '{"predictions": [], "rows": 0}\\n'
    """

    def __init__(self, file: TextIO, *, ascii_only: bool = True) -> None:
        self._file, self._ascii, self._between = file, ascii_only, ""
        file.write('{"predictions": [')

    def write(self, answers: Answers) -> None:
        """Add the rows of a batch."""
        for row in _records(answers):
            self._file.write(self._between + json.dumps(row, ensure_ascii=self._ascii))
            self._between = ",\n"

    def finish(self, rest: dict[str, Given]) -> None:
        """End the document with these entries."""
        self._file.write("], " + json.dumps(rest).removeprefix("{") + "\n")


@contextmanager
def csv_file(path: Path, *, dated: bool, target: bool, append: bool = False) -> Iterator[CsvWriter]:
    """A CSV file for answers, in place of what is there, or after it."""
    with open(path, "ab" if append else "wb") as file:
        writer = CsvWriter(file, dated=dated, target=target, header=not append)
        try:
            yield writer
        finally:
            writer.close()


def _records(answers: Answers) -> Iterator[dict[str, Given]]:
    columns = (answers.line, answers.agents, answers.prediction, answers.alone, answers.pooled)
    for line, agent, *numbers, cold in zip(
        *(column.tolist() for column in columns), answers.cold.tolist(), strict=True
    ):
        named = zip(("prediction", "alone", "pooled"), numbers, strict=True)
        yield {"line": line, "agent": agent, **dict(named), "cold": cold}


def _dates(answers: Answers) -> Given:
    pa = pyarrow()
    return pa.array(np.round(1e3 * answers.time).astype(np.int64)).cast(pa.timestamp("ms"))
