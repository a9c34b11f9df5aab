"""Schedules in CSV files: a line for each change."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mtcool.changes.change import Change
from mtcool.changes.schedule import Schedule
from mtcool.csv_rows import delimiter_of, rows
from mtcool.files import write_whole
from mtcool.types import Given, Label

COLUMNS = ("time", "event", "agent", "others")
BETWEEN = ";"
"""Stands between the names in the column `others`."""


def read_changes(path: str | os.PathLike[str]) -> Schedule:
    """The changes in a CSV file with the columns time, event, agent and others.

    An event is connect or disconnect (agent and other are the ends of the edge), join (others are
    the neighbours, perhaps none), or leave (others is empty). Between others stands a semicolon; a
    name with a semicolon in it is quoted inside the cell, as CSV quotes cells. Columns may stand in
    any order and be separated by comma, semicolon or tab; those with other names are ignored. Names
    are text; blanks around them do not count. How text names an agent whose label is a whole number
    is said at `Schedule`.

    Parameters
    ----------
    path
        The file, UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "changes.csv"
    ...     _ = file.write_text(
    ...         "time,event,agent,others\\n"
    ...         "3,connect,rome,turin\\n"
    ...         "5,join,oslo,rome;milan\\n"
    ...         "9,leave,turin,\\n"
    ...     )
    ...     schedule = read_changes(file)
    >>> list(schedule)
    [connect(3, 'rome', 'turin'), join(5, 'oslo', ['rome', 'milan']), leave(9, 'turin')]
    """
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"path must be that of a file, got {path!r}")
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"path must be a file, got {str(path)!r}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"path must be a file of UTF-8 text, got {str(path)!r}: {error}") from None
    return Schedule(_changes(text, Path(path).name))


def write_changes(schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Write a CSV file that `read_changes` reads: the same changes, names as text.

    Parameters
    ----------
    schedule
        Changes of agents whose names are text or whole numbers.
    path
        The file, which is replaced if it is there.

    Examples
    --------
    >>> import tempfile
    >>> from mtcool.changes import join
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "changes.csv"
    ...     write_changes(Schedule([join(2, "oslo", ["rome", "new york"])]), file)
    ...     print(file.read_text())
    time,event,agent,others
    2,join,oslo,rome;new york
    """
    if not isinstance(schedule, Schedule):
        raise ValueError(f"schedule must be a Schedule, got {schedule!r}")
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"path must be that of a file, got {path!r}")
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    for change in schedule:
        agent, *others = map(_text, change.agents)
        table.writerow((repr(change.time), change.event, agent, _joined(others)))
    content = file.getvalue().encode()
    write_whole(path, lambda target: target.write(content))


def _changes(text: str, file: str) -> Iterator[Change]:
    lines = io.StringIO(text, newline="")
    table = rows(lines, delimiter_of(text.splitlines()), file)
    line, header = next(table, (1, []))
    names = [name.lower() for name in header]
    missing = [name for name in COLUMNS if names.count(name) != 1]
    if missing:
        raise ValueError(
            f"line {line} of {file} must be a header with the columns {', '.join(COLUMNS)}, each "
            f"once, got {','.join(header)!r}"
        )
    columns = [names.index(name) for name in COLUMNS]
    for line, row in table:
        place = f"line {line} of {file}"
        if len(row) > len(header) and any(row[len(header) :]):
            raise ValueError(f"{place} must have {len(header)} cells at most, got {len(row)}")
        # Some programs leave out the empty cells at the end of a line.
        time, event, agent, others = (
            row[column] if column < len(row) else "" for column in columns
        )
        try:
            yield _change(time, event.lower(), agent, others, place)
        except ValueError as error:
            raise ValueError(f"{place} must be a change: {error}") from None


def _change(time: str, event: Given, agent: str, others: str, source: str) -> Change:
    names = [agent, *_split(others)]
    if not all(names):
        raise ValueError(f"agents must have names, got {names!r}")
    try:
        number = float(time)
    except ValueError:
        raise ValueError(f"time must be a number, got {time!r}") from None
    return Change(number, event, tuple(names), source)


def _split(cell: str) -> list[str]:
    """The names in a cell."""
    try:
        row = next(csv.reader([cell], delimiter=BETWEEN, skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise ValueError(
            f"others must be names with {BETWEEN} between, got {cell!r}: {error}"
        ) from None
    return [name.strip() for name in row]


def _joined(names: Sequence[str]) -> str:
    cell = io.StringIO()
    csv.writer(cell, delimiter=BETWEEN, lineterminator="\n").writerow(names)
    return cell.getvalue().removesuffix("\n")


def _text(name: Label) -> str:
    """A name as it stands in a file, from where it must come back as it was."""
    whole = isinstance(name, int | np.integer) and not isinstance(name, bool)
    text = str(name) if isinstance(name, str) or whole else ""
    line = text.splitlines() == [text] and text.strip() == text
    if not line or text != text.encode(errors="replace").decode():
        raise ValueError(
            "agents must be whole numbers, or a line of text without blanks around it, to be "
            f"written, got {name!r}"
        )
    return text
