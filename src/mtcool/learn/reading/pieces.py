"""What every source of rows is cut into: tables of pyarrow, with the line of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mtcool.types import Given, Integers

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 65536
"""Rows of a piece, where the source can be cut by rows."""


class BadRow(NamedTuple):
    """A row that was not accepted, by its line in the file, and why.

    Examples
    --------
    >>> BadRow(17, "no target in column 'y'").line
    17
    """

    line: int
    reason: str


class Piece(NamedTuple):
    """Some rows of a source: their lines, their columns, and the rows that could not be read."""

    lines: Integers
    table: pa.Table
    bad: list[BadRow]
    untyped: frozenset[str] = frozenset()
    """Columns of text that may hold numbers: all of a CSV file, and mixed ones of a frame."""


def pyarrow(module: str = "pyarrow") -> Given:
    """A module of pyarrow, which is an extra: imported when a table is read."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            'reading tables needs pyarrow, which is not installed: pip install "mtcool[learn]"'
        ) from None
