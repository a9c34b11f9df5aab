"""Rows of a table, checked and encoded, in batches: any size of file in constant memory."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtcool import validation
from mtcool.learn.reading.checking import Checked, Checker
from mtcool.learn.reading.encoding import Encoder
from mtcool.learn.reading.pieces import ROWS, BadRow, Piece
from mtcool.learn.reading.sources import OpenTable, open_source
from mtcool.types import Floats, Given, Integers

__all__ = ["BadRow", "Batch", "Columns", "read_batches"]

OnBad: TypeAlias = Literal["skip", "stop"]
CELLS = 1 << 22
"""Numbers in the features of a batch: with many categories a batch has fewer rows."""
WORK = 1 << 25
"""Pairs of features in a batch, which models take time for: it goes on every few seconds."""


@dataclass(frozen=True)
class Columns:
    """Which column of a table is what.

    Examples
    --------
    >>> Columns(agent="station", target="demand", time="hour").features is None
    True

    Attributes
    ----------
    agent
        Names the agent of each row.
    target
        What is to be predicted; None where there is none, to predict without learning.
    time
        When a row is predicted: a number, an ISO date, or a time stamp; never goes backwards.
        Without it every row has a time of its own.
    arrives
        When the target of a row is known, of the same kind as `time`; by default at once.
    features
        The features; by default all other columns that have a name.
    categories
        Features that are categories although they look like numbers, such as postcodes.
    no_features
        Columns that are left out where nobody says what the features are, such as coordinates.
    """

    agent: str
    target: str | None = None
    time: str | None = None
    arrives: str | None = None
    features: tuple[str, ...] | None = None
    categories: tuple[str, ...] = ()
    no_features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for role in ("features", "categories", "no_features"):
            given = getattr(self, role)
            if isinstance(given, str):
                raise ValueError(f"{role} must be a list of names, got {given!r}")
            if given is not None:
                object.__setattr__(self, role, tuple(given))
        named = [*self.roles.values(), *(self.features or ())]
        for name in (*named, *self.categories):
            if not isinstance(name, str) or not name:
                raise ValueError(f"columns must be names, got {name!r}")
        twice = next((name for name in named if named.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"columns must be different, got {twice!r} twice")
        if self.arrives is not None and self.time is None:
            raise ValueError(f"arrives must not be given without time, got {self.arrives!r}")

    @property
    def roles(self) -> dict[str, str]:
        """The columns that are no features, by their roles."""
        roles = ("agent", "target", "time", "arrives")
        return {role: name for role in roles if (name := getattr(self, role)) is not None}


class Batch(NamedTuple):
    """Checked rows in the order of the file.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO(b"station,wind,power\\nnorth,3.5,12\\nsouth,7,40\\n")
    >>> columns = Columns(agent="station", target="power")
    >>> [(batch, _)] = read_batches(file, columns, Encoder())
    >>> batch.agents, batch.line
    (array(['north', 'south'], dtype=object), array([2, 3]))

    Attributes
    ----------
    line
        The line of each row in its file, where the header is line 1; a row whose quoted text has
        several lines is named by the first. In Parquet files and frames the number of the row,
        which starts at 1.
    agents
        Names of the agents, as texts.
    features
        Encoded features, as many columns as the encoder has so far.
    target
        NaN when there is no target.
    time
        Dates as seconds since 1970; the number of the accepted row where there is no time.
    arrives
        The time where there is no such column.
    """

    line: Integers
    agents: NDArray[np.object_]
    features: Floats
    target: Floats
    time: Floats
    arrives: Floats


def read_batches(
    source: Given,
    columns: Columns,
    encoder: Encoder,
    *,
    on_bad: OnBad = "stop",
    rows: int = ROWS,
    after: float = -math.inf,
) -> Iterator[tuple[Batch, list[BadRow]]]:
    """Read a table in batches of checked rows, each with the rows that were not accepted.

    A row is bad if it has no agent or target, text or NaN or infinity in a number, a time that
    cannot be read or goes backwards, a target that arrives before its time, too many or too few
    fields, or bytes that are no text in UTF-8. A number or category that is missing among the
    features is unknown (NaN), and its row is good. Bad rows leave no trace: neither the encoder nor
    the time that later rows are compared with knows of them.

    In a CSV file a column is a number if at least half of its first thousand values are; this
    is decided once, and text in it is then a bad row. Frames and Parquet files have types. A
    feature with another text in nearly every row, such as the number of an invoice, is refused
    unless it is named as a category.

    Parameters
    ----------
    source
        Path of a CSV file (with commas, semicolons or tabs; perhaps compressed, such as .csv.gz)
        or of a Parquet file, "-" for CSV from standard input, a binary file object, or a frame of
        pandas, polars or pyarrow.
    columns
        Which column is what.
    encoder
        Encodes the features. Without a target it stays as it is, and only features that it knows
        are read.
    on_bad
        "stop" raises a ValueError at the first bad row, after all rows before it; "skip" goes on.
    rows
        At most so many rows in a batch.
    after
        A time that no row may be before, such as the last time of an earlier file.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO(b"station,wind,power\\nnorth,3.5,12\\nnorth,calm,10\\nsouth,7,40\\n")
    >>> columns = Columns(agent="station", target="power")
    >>> for batch, bad in read_batches(file, columns, Encoder(), on_bad="skip"):
    ...     print(batch.target, bad[0].line, bad[0].reason)
    [12. 40.] 3 'calm' in column 'wind' is not a number; name the column as a category if it is one
    """
    if not isinstance(columns, Columns):
        raise ValueError(f"columns must be Columns, got {columns!r}")
    if not isinstance(encoder, Encoder):
        raise ValueError(f"encoder must be an Encoder, got {encoder!r}")
    validation.one_of("on_bad", on_bad, ("skip", "stop"))
    most = validation.count("rows", rows)
    table = open_source(source, columns.agent)
    features = checked_features(table, columns, encoder)
    for name in columns.categories:
        encoder.decide(name, "category")
    checker = Checker(columns.roles, features, encoder, after, table.unit)
    return _batches(table, checker, on_bad == "stop", most)


def refused_row(name: str, unit: str, row: BadRow) -> ValueError:
    """The refusal of a row, which says how to go on without such rows."""
    said = f"{name}, {unit} {row.line}: {row.reason}"
    return ValueError(f'{said}; on_bad="skip" goes on without such rows')


def checked_features(table: OpenTable, columns: Columns, encoder: Encoder) -> list[str]:
    """The features to read, once all columns that are asked for are known to be there."""
    roles = {*columns.roles.values(), *columns.no_features}
    others = [name for name in table.names if name and name not in roles]
    if columns.target is None:
        others = [name for name in others if name in encoder.kinds]
    # What the encoder knows must be there, or it would silently count as unknown in every row.
    known = [name for name in encoder.kinds if name not in others]
    features = [*others, *known] if columns.features is None else list(columns.features)
    for role, name in [*columns.roles.items(), *(("features", name) for name in features)]:
        _check_name(table, role, name)
    for name in columns.categories:
        if name not in features:
            raise ValueError(f"categories must be among the features, got {name!r}")
    return features


def _check_name(table: OpenTable, role: str, name: str) -> None:
    if table.names.count(name) > 1:
        raise ValueError(f"{role} must be one column of {table.name}, got {name!r}, which is two")
    if name not in table.names:
        close = difflib.get_close_matches(name, table.names, n=3) or table.names[:10]
        raise ValueError(
            f"{role} must be a column of {table.name}, such as {', '.join(map(repr, close))}, "
            f"got {name!r}"
        )


def _batches(
    table: OpenTable, checker: Checker, stop: bool, most: int
) -> Iterator[tuple[Batch, list[BadRow]]]:
    for piece in table.pieces(checker.names):
        checked = checker.check(piece)
        bad = sorted([*piece.bad, *checked.bad])
        last = bad[0].line if bad and stop else math.inf
        good = checked.good[piece.lines[checked.good] < last]
        reported = [] if stop else bad
        for rows in _cut(good, checker, checked.distinct, most):
            yield _batch(piece, checked, rows, checker), reported
            reported = []
        if stop and bad:
            raise refused_row(table.name, table.unit, bad[0])


def _cut(good: Integers, checker: Checker, distinct: int, most: int) -> Sequence[Integers]:
    """Rows of a piece in parts that are neither too long nor too large once they are encoded."""
    width = max(1, checker.encoder.width + distinct)
    size = max(1, min(most, CELLS // width, WORK // width**2))
    return [good[start : start + size] for start in range(0, max(1, len(good)), size)]


def _batch(piece: Piece, checked: Checked, rows: Integers, checker: Checker) -> Batch:
    features = {
        name: column[rows] if isinstance(column, np.ndarray) else column.take(rows)
        for name, column in checked.features.items()
    }
    encoded = checker.encoder.encode(features, grow=checker.learns)
    if not features:  # The encoder cannot tell the number of rows from no columns.
        encoded = np.full((len(rows), checker.encoder.width), np.nan)
    return Batch(
        piece.lines[rows],
        checked.agents[rows],
        encoded,
        checked.target[rows],
        checked.time[rows],
        checked.arrives[rows],
    )
