"""Predictions as they come: a CSV file, or a document of JSON, never all of them in memory."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, TextIO

import numpy as np

from mtcool.files import spreadsheet_text
from mtcool.learn.reading.pieces import pyarrow
from mtcool.learn.running.run import Answers
from mtcool.types import AnyArray, Floats, Given


class AnswerWriter(Protocol):
    """Takes answers, one batch after the other."""

    def write(self, answers: Answers) -> None:
        """Add the rows of a batch."""


class CsvWriter:
    """Writes line, agent, time, predictions, target and whether a row was cold, as CSV.

    Numbers are written with as many digits as tell them apart from all others. The file is made
    when there is something to write, so that what fails before leaves an older file as it was.

    Parameters
    ----------
    place
        The path of the file, whose folder is made if needed, or an open file.
    dated
        Whether times are seconds since 1970, to be written as dates.
    target
        Whether targets are written.
    timed
        Whether times are written.
    after
        Bytes of the file that stay, if it goes on with earlier rows.
    """

    def __init__(
        self,
        place: Path | BinaryIO,
        *,
        dated: bool,
        target: bool,
        timed: bool = True,
        after: int = 0,
    ) -> None:
        pa = pyarrow()
        self._place, self._after = place, after
        self._dated = dated
        numbers = ["prediction", "alone", "pooled", *(["target"] if target else [])]
        self._schema = pa.schema(
            [
                ("line", pa.int64()),
                ("agent", pa.string()),
                *([("time", pa.timestamp("ms") if dated else pa.float64())] if timed else []),
                *((name, pa.float64()) for name in numbers),
                ("cold", pa.int8()),
            ]
        )
        self._file: BinaryIO | None = None
        self._writer: Given = None

    def __enter__(self) -> "CsvWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._open()
        if self._file is not None:
            if self._writer is not None:  # None if the first line could not be written
                self._writer.close()
            self._file.flush()
            if isinstance(self._place, Path):
                self._file.close()

    def write(self, answers: Answers) -> None:
        """Add the rows of a batch."""
        pa = pyarrow()
        columns = answers._asdict()
        columns["agent"] = written_names(columns.pop("agents"))
        columns["cold"] = answers.cold.astype(np.int8)
        columns["time"] = written_times(answers.time, dated=self._dated)
        self._open()
        chosen = {name: columns[name] for name in self._schema.names}
        self._writer.write_table(pa.table(chosen, schema=self._schema))

    def written(self) -> int:
        """Bytes that are in the file."""
        if self._file is None:
            return self._after
        self._file.flush()
        return self._file.tell()

    def _open(self) -> None:
        if self._file is not None:
            return
        if isinstance(self._place, Path):
            self._place.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self._place, "r+b" if self._after else "wb")  # noqa: SIM115
            if self._after:  # what a run that was killed wrote after its last save is written again
                self._file.truncate(self._after)
                self._file.seek(self._after)
        else:
            self._file = self._place
        if not self._after:
            self._file.write((",".join(self._schema.names) + "\n").encode())
        files = pyarrow("pyarrow.csv")
        options = files.WriteOptions(include_header=False)
        self._writer = files.CSVWriter(self._file, self._schema, write_options=options)


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
        self._file, self._ascii, self._between = file, ascii_only, '{"predictions": ['

    def write(self, answers: Answers) -> None:
        """Add the rows of a batch."""
        for row in _records(answers):
            self._file.write(self._between + json.dumps(row, ensure_ascii=self._ascii))
            self._between = ",\n"

    def finish(self, rest: dict[str, Given]) -> None:
        """End the document with these entries."""
        start = self._between if self._between.startswith("{") else ""
        self._file.write(start + "], " + json.dumps(rest).removeprefix("{") + "\n")


def _records(answers: Answers) -> Iterator[dict[str, Given]]:
    columns = (answers.line, answers.agents, answers.prediction, answers.alone, answers.pooled)
    for line, agent, *numbers, cold in zip(
        *(column.tolist() for column in columns), answers.cold.tolist(), strict=True
    ):
        named = zip(("prediction", "alone", "pooled"), numbers, strict=True)
        yield {"line": line, "agent": agent, **dict(named), "cold": cold}


def written_names(names: AnyArray) -> Given:
    """Names of agents as tables have them: no spreadsheet takes them for formulas."""
    pa = pyarrow()
    coded = pa.array(names, pa.string()).dictionary_encode()
    texts = [spreadsheet_text(name) for name in coded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(coded.indices)


def written_times(time: Floats, *, dated: bool) -> Given:
    """Times as tables have them: numbers, or dates from seconds since 1970; NaN is left empty."""
    pa = pyarrow()
    unknown = np.isnan(time)
    if not dated:
        return pa.array(time, mask=unknown)
    seconds = np.where(unknown, 0.0, time)
    whole = pa.array(np.round(1e3 * seconds).astype(np.int64), mask=unknown)
    return whole.cast(pa.timestamp("ms"))
