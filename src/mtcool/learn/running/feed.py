"""Where rows come from: a file, standard input or a built-in stream."""

import math
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from mtcool.learn.model import Task
from mtcool.learn.reading.encoding import Encoder
from mtcool.learn.reading.parsing import form_of, is_text, parse_typed
from mtcool.learn.reading.pieces import pyarrow
from mtcool.learn.reading.sources import open_source
from mtcool.learn.reading.tables import (
    BadRow,
    Batch,
    Columns,
    OnBad,
    read_batches,
    refused_row,
)
from mtcool.learn.running.built_in import built_in, built_in_batches
from mtcool.learn.running.fingerprint import LOOKED_AT, Beginning, beginning_of
from mtcool.learn.running.options import BUILT_IN, LearnOptions
from mtcool.learn.running.settings import PassSettings, Stop
from mtcool.streams.table import Table
from mtcool.types import Given, Integers

STANDARD_INPUT = "-"
COLUMNS = ("agent", "target", "time", "arrives", "features", "categories", "near")
"""Options that name columns, which built-in streams have by themselves."""
ROWS = 16384
"""Rows that are played at once: few enough to stop after them, and to see how it goes on."""
CLASSES = "; for classification a target is 0 or 1, or true or false"
READ_TO_COUNT = 1 << 28
"""Bytes in which lines are counted; the rest of a larger file is assumed to be alike."""


@final
@dataclass(frozen=True)
class Feed:
    """A source of batches that can be gone through once.

    Attributes
    ----------
    name
        What the report calls it.
    place
        Its full path, by which an interrupted run knows it again.
    target
        What is predicted.
    total
        Rows, nearly; None if that is not known.
    unit
        What the number of a row counts: "line" or "row".
    """

    name: str
    place: str
    target: str
    total: int | None
    source: str | Table
    unit: str = "line"

    def is_where(self, stop: Stop | None) -> bool:
        """Whether these are the data in which an earlier run ended.

        After a run that was interrupted the place tells, so that bad rows can be mended. After one
        that came to the end, the place may have been given to other data since.
        """
        if stop is None or stop.source != self.place:
            return False
        return stop.finished is None or stop.finished == self.beginning(stop.finished.size)

    def beginning(self, size: int = LOOKED_AT) -> Beginning | None:
        """How the data begin; None for standard input, which is never the same again."""
        if isinstance(self.source, Table):
            return Beginning(0, self.place)
        return None if self.source == STANDARD_INPUT else beginning_of(self.source, size)

    def batches(
        self, settings: PassSettings, encoder: Encoder, task: Task, on_bad: OnBad
    ) -> Iterator[tuple[Batch, list[BadRow]]]:
        """Rows that were not played yet, with the numbers and times that they go on from."""
        ending = None
        if isinstance(self.source, Table):
            found = built_in_batches(self.source, task, ROWS)
        else:
            source = open_source(self.source, settings.columns.agent)
            ending = source.ending
            if ending is not None:
                ending.earlier, settings.within_line = settings.within_line, 0
            after = settings.earlier_time if settings.columns.time is not None else -math.inf
            found = read_batches(
                source, settings.columns, encoder, on_bad=on_bad, rows=ROWS, after=after
            )
        done = settings.stop.line if settings.stop is not None else 0
        last = 0
        found = _in_order(found)
        if task == "classification":
            found = self._two_classes(found, on_bad)
        for batch, bad in found:
            if settings.columns.time is None and not isinstance(self.source, Table):
                # Without a clock every row has a time of its own, which goes on from file to file.
                batch = batch._replace(
                    time=batch.time + settings.earlier_rows,
                    arrives=batch.arrives + settings.earlier_rows,
                )
            last = max([last, *batch.line[-1:].tolist(), *(row.line for row in bad)])
            yield _after(batch, done), [row for row in bad if row.line > done]
        if last < done:
            raise ValueError(
                f"{self.name} must be as it was when the run was stopped, or longer, got {last:,} "
                f"lines after {done:,} were read"
            )
        if ending is not None:
            settings.within_line = ending.within_line

    def _two_classes(
        self, found: Iterator[tuple[Batch, list[BadRow]]], on_bad: OnBad
    ) -> Iterator[tuple[Batch, list[BadRow]]]:
        """The rows whose target is 0 or 1; others are bad."""
        for batch, bad in found:
            wrong = np.flatnonzero((batch.target != 0.0) & (batch.target != 1.0))
            rows = [
                BadRow(line, f"{value:g} in column {self.target!r} is neither 0 nor 1{CLASSES}")
                for line, value in zip(batch.line[wrong].tolist(), batch.target[wrong], strict=True)
            ]
            if rows and on_bad == "stop":
                yield _rows(batch, np.arange(wrong[0])), bad
                raise refused_row(self.name, self.unit, rows[0])
            kept = np.delete(np.arange(batch.line.size), wrong)
            yield _rows(batch, kept), sorted([*bad, *rows])


def open_feed(asked: LearnOptions, columns: Columns | None) -> Feed:
    """Open the data; `columns` is None for a built-in stream."""
    if columns is None:
        given = [name for name in COLUMNS if getattr(asked, name) is not None]
        if given:
            raise ValueError(
                f"{given[0]} must be left out with a built-in stream, got "
                f"{getattr(asked, given[0])!r}"
            )
        table = built_in(asked.data)
        above = ": whether it is above its median" if asked.task == "classification" else ""
        target = table.meaning + above
        return Feed(asked.data, asked.data, target, len(table.target), table)
    if asked.data == STANDARD_INPUT:
        return Feed("standard input", STANDARD_INPUT, str(columns.target), None, STANDARD_INPUT)
    path = Path(asked.data)
    unit, rows = open_source(asked.data, columns.agent).unit, count_rows(path)
    return Feed(path.name, os.path.realpath(path), str(columns.target), rows, asked.data, unit)


def check_data(data: str) -> None:
    """Refuse a name that is neither a file nor one of our words."""
    if data != STANDARD_INPUT and not is_built_in(data):
        try:
            check_no_pipe(data)
        except FileNotFoundError:
            words = ", ".join(BUILT_IN)
            raise ValueError(f"{data}: no such file, and no built-in stream ({words})") from None


def check_no_pipe(data: str) -> None:
    """Refuse a pipe, which can be read only once; a file that is missing is an OSError."""
    if stat.S_ISFIFO(os.stat(data).st_mode):
        raise ValueError(f"data must be a file, or - for standard input, got the pipe {data}")


def is_built_in(data: str) -> bool:
    """Whether data are named by one of our words, and no file has that name."""
    return data in BUILT_IN and (not Path(data).exists() or Path(data).is_dir())


def count_rows(path: Path) -> int | None:
    """About how many rows a file has; None if it cannot be told without reading all of it."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(4)
            if start == b"PAR1":
                return int(pyarrow("pyarrow.parquet").read_metadata(str(path)).num_rows)
            if b"\0" in start or path.suffix in (".gz", ".bz2", ".zst", ".xz", ".lz4"):
                return None
            file.seek(0)
            breaks = read = 0
            while read < READ_TO_COUNT and (block := file.read(1 << 20)):
                breaks += block.count(b"\n")
                read += len(block)
    except (OSError, ValueError, NotImplementedError):
        return None  # the reader says what is wrong
    return max(round(breaks * size / max(read, 1)) - 1, 1)


def is_dated(source: str, columns: Columns) -> bool:
    """Whether the time column holds dates; the first rows decide."""
    if columns.time is None or source == STANDARD_INPUT:
        return False
    table = open_source(source, columns.agent)
    if columns.time not in table.names:
        return False  # which `read_batches` refuses in words
    piece = next(iter(table.pieces([columns.time])), None)
    if piece is None:
        return False
    column: Given = piece.table.column(columns.time).combine_chunks()
    if is_text(column):
        return form_of(column) in ("date", "moment")
    types = pyarrow().types
    return parse_typed(column) is not None and bool(
        types.is_timestamp(column.type) or types.is_date(column.type)
    )


def _in_order(
    found: Iterator[tuple[Batch, list[BadRow]]],
) -> Iterator[tuple[Batch, list[BadRow]]]:
    """Each bad row with the rows around it: the reader tells of many ahead of their batches."""
    ahead: list[BadRow] = []
    batch = None
    for batch, bad in found:
        ahead += bad
        last = batch.line[-1] if batch.line.size else 0
        yield batch, [row for row in ahead if row.line <= last]
        ahead = [row for row in ahead if row.line > last]
    if batch is not None and ahead:
        yield _rows(batch, np.arange(0)), ahead


def _after(batch: Batch, line: int) -> Batch:
    """The rows after a line."""
    if line == 0 or batch.line.size == 0:
        return batch
    return _rows(batch, np.flatnonzero(batch.line > line))


def _rows(batch: Batch, chosen: Integers) -> Batch:
    return Batch(
        batch.line[chosen],
        batch.agents[chosen],
        batch.features[chosen],
        batch.target[chosen],
        batch.time[chosen],
        batch.arrives[chosen],
    )
