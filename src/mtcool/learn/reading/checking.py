"""The check of rows: what each role asks of its column, and why a row is bad."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.learn.reading.encoding import Encoder
from mtcool.learn.reading.parsing import (
    MISSING,
    SAMPLE,
    Form,
    Parsed,
    column_of,
    form_of,
    is_text,
    looks_like_dates,
    named,
    notation_of,
    parse,
    parse_typed,
    trimmed,
)
from mtcool.learn.reading.pieces import BadRow, Piece, pyarrow
from mtcool.learn.reading.values import Kind, refused_date
from mtcool.learners.panel.constants import OVERFLOW
from mtcool.types import AnyArray, Floats, Given, Integers

WORDS: dict[Form | None, str] = {
    "number": "a number",
    "boolean": "true or false",
    "date": "a date, perhaps with a time, without a zone",
    "moment": "a date and time with a zone",
    None: "a number or an ISO date",
}
MANY = 100
"""Different texts from which on a column may be one that names rows."""
PLAIN_NUMBERS = "write decimals with a point and nothing else, as in 1234.5"
SHOWN = 40
"""Characters of a wrong value that a reason shows."""


class Checked(NamedTuple):
    """A piece with its columns read; `good` are the rows that are accepted, `bad` the others."""

    good: Integers
    bad: list[BadRow]
    agents: AnyArray
    target: Floats
    time: Floats
    arrives: Floats
    features: Mapping[str, Given]
    distinct: int
    """At most so many columns are new in the piece."""


class Checker:
    """Checks the pieces of one table, one after the other.

    In a `live` table targets are numbers whatever its first rows look like, which may be few, and a
    feature that is "nan" is unknown.
    """

    def __init__(
        self,
        roles: Mapping[str, str],
        features: Sequence[str],
        encoder: Encoder,
        after: float,
        unit: str,
        *,
        live: bool = False,
    ) -> None:
        self.roles, self.features, self.encoder = roles, list(features), encoder
        self._unit = unit
        self._live = live
        self._forms: dict[str, Form] = {"target": "number"} if live else {}
        self._last, self._last_text = after, ""
        self._accepted = 0

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return [*self.roles.values(), *self.features]

    @property
    def learns(self) -> bool:
        """Whether there is a target; without one the encoder stays as it is."""
        return "target" in self.roles

    def check(self, piece: Piece) -> Checked:
        """Read all columns of a piece and find its bad rows."""
        columns = {name: column_of(piece.table, name) for name in self.names}
        marks = _Marks(columns, len(piece.lines))
        agents = self._agents(marks)
        target = self._target(marks)
        time = self._times(marks, "time")
        arrives = self._times(marks, "arrives") if "arrives" in self.roles else time
        if "arrives" in self.roles:
            self._compare(marks, arrives < time)
        kinds = self._kinds(marks, piece)
        features = {name: self._feature(marks, name, kind) for name, kind in kinds.items()}
        self._order(marks, time)
        good = np.flatnonzero(~marks.bad)
        if self.learns and len(good):  # Bad rows alone decide nothing.
            for name, kind in kinds.items():
                self.encoder.decide(name, kind)
        if "time" not in self.roles:
            time[good] = self._accepted + np.arange(len(good))
        self._accepted += len(good)
        bad = [BadRow(int(piece.lines[row]), why) for row, why in sorted(marks.reasons.items())]
        texts = [column for column in features.values() if not isinstance(column, np.ndarray)]
        most = self.encoder.categories + 1
        distinct = sum(min(most, len(column.dictionary)) for column in texts)
        return Checked(good, bad, agents, target, time, arrives, features, distinct)

    def _agents(self, marks: _Marks) -> AnyArray:
        name = self.roles["agent"]
        column = named(marks.columns[name]).dictionary_encode()
        # One entry more, for the code -1 of rows that have none.
        values = np.array([*trimmed(column.dictionary).to_pylist(), None], dtype=np.object_)
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        agents: AnyArray = values[codes]
        nameless = np.array([value is None for value in values])
        marks.miss("agent", name, nameless[codes])
        return agents

    def _target(self, marks: _Marks) -> Floats:
        if not self.learns:
            return np.full(len(marks.bad), np.nan)
        name = self.roles["target"]
        column = marks.columns[name]
        form: Form | None = self._forms.get("target")
        if form is None and is_text(column):
            form = "boolean" if form_of(column) == "boolean" else "number"
            self._forms["target"] = form
        parsed = _read(name, column, form or "number")
        marks.miss("target", name, parsed.missing)
        either = form == "number" and not self._live
        hint = "; a target is a number, or true or false" if either else ""
        values = marks.numbers(name, parsed, form or "number", hint)
        large = np.abs(values) > OVERFLOW
        marks.add(name, large, lambda _: f"in column {name!r} is larger than {OVERFLOW:g} in size")
        return values

    def _times(self, marks: _Marks, role: str) -> Floats:
        if role not in self.roles:
            return np.full(len(marks.bad), np.nan)
        name = self.roles[role]
        column = marks.columns[name]
        form = self._forms.get("time")
        if form is None:
            found = form_of(column) if is_text(column) else _form_of_type(column.type)
            form = None if found == "boolean" else found
            if form is not None:
                self._forms["time"] = form
        typed = not is_text(column) and column.null_count < len(column)
        if typed and (form is None or _form_of_type(column.type) != form):
            raise ValueError(
                f"{role} must hold {WORDS[form]}, got column {name!r} of type {column.type}"
            )
        parsed = _read(name, column, form or "number")
        if self.learns:
            marks.miss(role, name, parsed.missing)
        return marks.numbers(name, parsed, form)

    def _compare(self, marks: _Marks, early: NDArray[np.bool_]) -> None:
        asked, known = self.roles["time"], self.roles["arrives"]

        def reason(row: int) -> str:
            shown = _shown(marks.columns[asked], row)
            return f"in column {known!r} is before {shown} in column {asked!r}"

        marks.add(known, early, reason)

    def _kinds(self, marks: _Marks, piece: Piece) -> dict[str, Kind]:
        """What the features are; one without values is left out until there are some."""
        kinds = {}
        for name in self.features:
            kind = self.encoder.kinds.get(name)
            if kind is None and self.learns:
                column, untyped = marks.columns[name], name in piece.untyped
                kind = _kind_of(name, column, marks.bad, untyped)
                if kind == "category" and untyped:
                    self._refuse_notation(name, column, marks.bad, piece.lines)
                if kind == "category":
                    _refuse_labels(name, column, marks.bad)
            if kind is not None:
                kinds[name] = kind
        return kinds

    def _feature(self, marks: _Marks, name: str, kind: Kind) -> Given:
        """Numbers of a feature, or its categories."""
        column = marks.columns[name]
        if kind == "category":
            return _categories(column)
        parsed, hint = _read(name, column, kind), ""
        if self._live:
            parsed = parsed._replace(missing=np.isnan(parsed.values) & ~parsed.wrong)
        elif kind == "number":
            hint = "; name the column as a category if it is one"
        return marks.numbers(name, parsed, kind, hint)

    def _refuse_notation(
        self, name: str, column: Given, bad: NDArray[np.bool_], lines: Integers
    ) -> None:
        """Refuse numbers in a notation that is not read: they would become names without a word."""
        good = np.flatnonzero(~bad)
        found = notation_of(column.take(good))
        if found is not None:
            how, place = found
            row = int(good[place])
            raise ValueError(
                f"column {name!r} must not hold numbers {how}, got {_shown(column, row)} in "
                f"{self._unit} {lines[row]}; {PLAIN_NUMBERS}, or name the column as a category"
            )

    def _order(self, marks: _Marks, time: Floats) -> None:
        """Mark rows that are before the last row that is accepted, if they are learned from."""
        if "time" not in self.roles or not self.learns:
            return
        rows = np.flatnonzero(~marks.bad)
        # A row that goes backwards is below the maximum, so it need not be left out of it.
        before = np.maximum.accumulate(np.concatenate(([self._last], time[rows])))
        back = time[rows] < before[:-1]
        name = self.roles["time"]
        column, kept = marks.columns[name], rows[~back]

        def reason(row: int) -> str:
            place = int(np.searchsorted(kept, row)) - 1
            last = _shown(column, int(kept[place])) if place >= 0 else self._last_text
            last = last or self._earlier()
            return f"in column {name!r} goes back before {last}"

        backwards = np.zeros(len(marks.bad), np.bool_)
        backwards[rows[back]] = True
        marks.add(name, backwards, reason)
        if len(kept):
            self._last, self._last_text = float(time[kept[-1]]), _shown(column, int(kept[-1]))

    def _earlier(self) -> str:
        """The time that no row may be before, as the column would have it."""
        if self._forms.get("time") in ("date", "moment"):
            moment = np.datetime64(round(1e3 * self._last), "ms")
            return str(moment).removesuffix(".000").removesuffix("T00:00:00")
        return f"{self._last:.15g}"


class _Marks:
    """The bad rows of a piece, each with the first reason that was found."""

    def __init__(self, columns: Mapping[str, Given], count: int) -> None:
        self.columns = columns
        self.bad = np.zeros(count, np.bool_)
        self.reasons: dict[int, str] = {}

    def add(self, name: str, wrong: NDArray[np.bool_], reason: Callable[[int], str]) -> None:
        """Mark rows whose value in a column is wrong."""
        for row in np.flatnonzero(wrong & ~self.bad).tolist():
            self.reasons[row] = f"{_shown(self.columns[name], row)} {reason(row)}"
        self.bad |= wrong

    def miss(self, role: str, name: str, missing: NDArray[np.bool_]) -> None:
        """Mark rows that have nothing in a column."""
        for row in np.flatnonzero(missing & ~self.bad).tolist():
            self.reasons[row] = f"no {role} in column {name!r}"
        self.bad |= missing

    def numbers(self, name: str, parsed: Parsed, form: Form | None, hint: str = "") -> Floats:
        """The numbers of a column, after rows that cannot be read or are infinite are marked."""
        values, missing, wrong = parsed
        if wrong.any():
            said = f"in column {name!r} is not {WORDS[form]}"
            self.add(name, wrong, lambda row: said + (self._notation(name, row) or hint))
        finite = np.isfinite(values)
        if not finite.all():
            odd = ~(finite | missing | wrong)
            self.add(name, odd, lambda _: f"in column {name!r} is not finite")
        return values

    def _notation(self, name: str, row: int) -> str:
        """What to do about a number in a notation that is not read."""
        found = notation_of(self.columns[name].slice(row, 1))
        return "" if found is None else f", it is written {found[0]}; {PLAIN_NUMBERS}"


def _kind_of(name: str, column: Given, bad: NDArray[np.bool_], untyped: bool) -> Kind | None:
    """What a new feature is, from its type or from the texts of rows that are not bad."""
    if pyarrow().types.is_temporal(column.type):
        raise refused_date(
            name, column.drop_null()[0] if column.null_count < len(column) else column.type
        )
    if not is_text(column):
        return None if column.null_count == len(column) else "number"
    seen = _texts(column, bad)
    if not len(trimmed(seen, MISSING if untyped else ("",)).drop_null()):
        return None
    form = form_of(seen) if untyped else None
    if form in ("date", "moment") or (untyped and form is None and looks_like_dates(seen)):
        raise refused_date(name, seen[0])
    if form is None:
        return "category"
    return "boolean" if form == "boolean" else "number"


def _refuse_labels(name: str, column: Given, bad: NDArray[np.bool_]) -> None:
    """Refuse texts that name rows, such as invoices: a column for each would take for ever."""
    texts = _texts(column, bad)
    sample = texts.slice(0, SAMPLE)
    distinct = pyarrow("pyarrow.compute").count_distinct(sample).as_py()
    if distinct >= MANY and 2 * distinct > len(sample):
        raise ValueError(
            f"column {name!r} must not hold another text in nearly every row, got {distinct} in "
            f"the first {len(sample)}, such as {_shown(texts, 0)}: choose features without it, or "
            "name it as a category"
        )


def _texts(column: Given, bad: NDArray[np.bool_]) -> Given:
    """The texts of the rows that are not bad."""
    return trimmed(column.filter(pyarrow().array(~bad))).drop_null()


def _read(name: str, column: Given, form: Form) -> Parsed:
    parsed = parse(column, form) if is_text(column) else parse_typed(column)
    if parsed is None:
        raise ValueError(f"column {name!r} must hold {WORDS[form]}, got {column.type}")
    return parsed


def _form_of_type(kind: Given) -> Form | None:
    types = pyarrow().types
    if types.is_timestamp(kind):
        return "date" if kind.tz is None else "moment"
    if types.is_date(kind):
        return "date"
    return "number" if types.is_integer(kind) or types.is_floating(kind) else None


def _categories(column: Given) -> Given:
    """Texts with their codes; white space around them does not count."""
    pa = pyarrow()
    texts = column.cast(pa.string()).dictionary_encode()
    if trimmed(texts.dictionary).equals(texts.dictionary):
        return texts
    return trimmed(column).dictionary_encode()


def _shown(column: Given, row: int) -> str:
    value = column[row].as_py()
    return repr(value[:SHOWN]) if isinstance(value, str) else str(value)
