"""Sources of rows: CSV and Parquet files, standard input, and frames that are in memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mtcool.learn.reading.csv_files import CsvFile, Ending
from mtcool.learn.reading.pieces import ROWS, Piece, pyarrow
from mtcool.types import Given


class OpenTable(NamedTuple):
    """A table that is open: what it is called, the names of its columns, and its rows."""

    name: str
    unit: str
    """What the number of a row counts: "line" or "row"."""
    names: Sequence[str]
    pieces: Callable[[Sequence[str]], Iterator[Piece]]
    ending: Ending | None = None
    """How a CSV file ends, once its rows have been read."""


def open_source(source: Given, wanted: str, *, live: bool = False) -> OpenTable:
    """Open a file by its path, "-" for standard input, a file object, or a frame.

    What is open already stays as it is. `wanted` is a name that the header must have; it tells the
    delimiter of a CSV file. A `live` CSV file is read as its lines come, and a quote that is not
    closed costs a part of it only.
    """
    if isinstance(source, OpenTable):
        return source
    if isinstance(source, str) and source == "-":
        return _csv(sys.stdin.buffer, "standard input", wanted, live)
    if isinstance(source, str | os.PathLike):
        return _open_path(Path(source), wanted, live)
    if hasattr(source, "read"):
        return _csv(source, str(getattr(source, "name", "the file")), wanted, live)
    if type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "iloc"):
        names = [str(name) for name in source.columns]
        return OpenTable("the frame", "row", names, lambda chosen: _of_pandas(source, chosen))
    if hasattr(source, "__arrow_c_stream__"):
        return _open_stream(source)
    raise ValueError(
        f"source must be a path, '-', a file or a frame of pandas, polars or pyarrow, "
        f"got {source!r}"
    )


def _csv(file: Given, name: str, wanted: str, live: bool) -> OpenTable:
    pyarrow()
    table = CsvFile(file, name, wanted, live=live)
    return OpenTable(name, "line", table.names, table.pieces, table.ending)


def _open_path(path: Path, wanted: str, live: bool) -> OpenTable:
    pa = pyarrow()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
        if magic == b"PAR1":
            return _parquet(path)
        # Compressed files are told by their suffix, such as .gz.
        return _csv(pa.input_stream(str(path)), str(path), wanted, live)
    except OSError as error:
        raise ValueError(
            f"source must be a file that can be read, got {str(path)!r}: {error.strerror or error}"
        ) from None


def _parquet(path: Path) -> OpenTable:
    pa, files = pyarrow(), pyarrow("pyarrow.parquet")
    try:
        file = files.ParquetFile(str(path), pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from None

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        try:
            yield from _cut(file.iter_batches(ROWS, columns=list(columns)), columns)
        except (pa.ArrowException, OSError) as error:
            raise _damaged(path, error) from None

    return OpenTable(str(path), "row", list(file.schema_arrow.names), pieces)


def _damaged(path: Path, error: Exception) -> ValueError:
    reason = " ".join(str(error).split())
    return ValueError(f"source must be a whole Parquet file, got {path}: {reason}")


def _open_stream(frame: Given) -> OpenTable:
    reader = pyarrow().RecordBatchReader.from_stream(frame)
    return OpenTable(
        "the frame", "row", list(reader.schema.names), lambda chosen: _cut(reader, chosen)
    )


def _cut(batches: Given, columns: Sequence[str]) -> Iterator[Piece]:
    pa = pyarrow()
    start = 1
    for batch in batches:
        for begin in range(0, batch.num_rows, ROWS):
            table = pa.Table.from_batches([batch.slice(begin, ROWS)]).select(list(columns))
            yield Piece(start + np.arange(table.num_rows), table, [])
            start += table.num_rows


def _of_pandas(frame: Given, columns: Sequence[str]) -> Iterator[Piece]:
    pa = pyarrow()
    names = [str(name) for name in frame.columns]
    chosen = frame.iloc[:, [names.index(column) for column in columns]]
    for start in range(0, len(frame), ROWS):
        part = chosen.iloc[start : start + ROWS]
        arrays = [_of_series(part.iloc[:, k]) for k in range(len(columns))]
        table = pa.table([array for array, _ in arrays], names=list(columns))
        mixed = [name for name, (_, typed) in zip(columns, arrays, strict=True) if not typed]
        yield Piece(start + 1 + np.arange(len(part)), table, [], frozenset(mixed))


def _of_series(series: Given) -> tuple[Given, bool]:
    """A column of a pandas frame, and whether its entries are of one type."""
    pa = pyarrow()
    try:
        return pa.Array.from_pandas(series), True
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        entries = zip(series, series.isna(), strict=True)
        return pa.array([None if missing else str(x) for x, missing in entries], pa.string()), False
