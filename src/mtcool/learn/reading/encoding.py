"""Features as numbers: categories become columns of zeros and ones when they are first seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, final

import numpy as np

from mtcool import validation
from mtcool.learn.reading.values import KINDS, Codes, Kind, read_column, read_value
from mtcool.types import Floats, Given, Integers, Plain

MOST_CATEGORIES = 1000
"""Columns that one feature may become; each is a number in every row, whatever the row holds."""


class Slot(NamedTuple):
    """What a numeric column stands for: a number, a category (`value`), or all further ones."""

    column: str
    category: bool
    value: str | None = None

    @property
    def name(self) -> str:
        """The name that people read."""
        if not self.category:
            return self.column
        return f"{self.column}=(other)" if self.value is None else f"{self.column}={self.value}"


@final
class Encoder:
    """Turns named features into rows of numbers, and learns the categories as they come.

    Numbers and truth values keep their column. Each category of a text column has a column of its
    own, 1 in its rows and 0 in others, which is appended when the category is first seen. A number
    or text that is missing is NaN in all columns of its feature, and so is a category's column in
    the rows before it was first seen: rows are encoded the same in batches of any size.

    The first values of a feature decide whether it is a number or a category. Until then, rows in
    which it is missing keep a column for it, so that the order of columns is that of the features.

    Parameters
    ----------
    categories
        At most so many categories of a feature have columns of their own; further ones share the
        column `feature=(other)`, and `crowded` counts their rows.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.encode({"age": [31, 40, 25], "city": ["rome", "milan", "rome"]})
    array([[31.,  1., nan],
           [40.,  0.,  1.],
           [25.,  1.,  0.]])
    >>> encoder.names
    ('age', 'city=rome', 'city=milan')
    >>> encoder.encode_one({"city": "milan"})
    array([nan,  0.,  1.])
    """

    def __init__(self, categories: int = MOST_CATEGORIES) -> None:
        self._most = validation.count("categories", categories)
        self._kinds: dict[str, Kind] = {}
        self._slots: list[Slot] = []
        self._names: tuple[str, ...] | None = ()
        # By column: the place of a number, or the places of the categories and of the others.
        self._numbers: dict[str, int] = {}
        self._categories: dict[str, dict[str, int]] = {}
        self._others: dict[str, int] = {}
        # By feature: the column that is kept for its first value.
        self._kept: dict[str, int] = {}
        self._crowded: dict[str, int] = {}
        self._found: dict[str, Integers] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numeric columns so far; new ones are appended."""
        if self._names is None:
            self._names = tuple(slot.name for slot in self._slots)
        return self._names

    @property
    def categories(self) -> int:
        """The number of categories of a feature that have columns of their own."""
        return self._most

    @property
    def width(self) -> int:
        """The number of numeric columns so far."""
        return len(self._slots)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What each feature is, by its name: "number", "boolean" or "category"."""
        return MappingProxyType(self._kinds)

    @property
    def columns(self) -> Mapping[str, int]:
        """How many numeric columns each feature has become so far, by its name.

        Examples
        --------
        >>> encoder = Encoder()
        >>> _ = encoder.encode({"age": [31, 40], "city": ["rome", "milan"]})
        >>> dict(encoder.columns)
        {'age': 1, 'city': 2}
        """
        return Counter(slot.column for slot in self._slots)

    @property
    def crowded(self) -> Mapping[str, int]:
        """Rows whose category came too late for a column of its own, by feature."""
        return MappingProxyType(self._crowded)

    def decide(self, column: str, kind: Kind) -> None:
        """Say what a feature is before its first value does.

        Parameters
        ----------
        column
            The name of the feature.
        kind
            "number", "boolean" (a number whose texts are true and false) or "category".

        Examples
        --------
        >>> encoder = Encoder()
        >>> encoder.decide("postcode", "category")
        >>> encoder.encode({"postcode": [20121, 184]}).shape
        (2, 2)
        """
        validation.one_of("kind", kind, KINDS)
        known = self._kinds.get(column, kind)
        if known != kind:
            raise ValueError(f"kind of {column!r} must be {known!r} as before, got {kind!r}")
        self._kinds[column] = kind

    def encode(self, columns: Mapping[str, Given], *, grow: bool = True) -> Floats:
        """Rows of numbers from columns of features, each an array or a list.

        Parameters
        ----------
        columns
            Arrays of one length by the names of the features. Features known from before that
            are absent here are NaN.
        grow
            Whether new features and categories are appended; else they are left out.

        Examples
        --------
        >>> encoder = Encoder()
        >>> encoder.encode({"ill": [True, False]})
        array([[1.],
               [0.]])
        >>> encoder.encode({"ward": ["A", "B"]}, grow=False)
        array([[nan],
               [nan]])
        """
        read = {name: read_column(name, c, self._kinds.get(name)) for name, c in columns.items()}
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns must have one length, got lengths {sorted(lengths)}")
        count, before = max(lengths, default=0), self.width
        first = self._append_new(read) if grow and count else np.empty(0, dtype=np.int64)
        blank = np.full(self.width, np.nan)
        for name, column in read.items():
            if isinstance(column, Codes):
                blank[self._places(name)] = 0.0
        rows = np.tile(blank, (count, 1))
        for name, column in read.items():
            if isinstance(column, Codes):
                self._fill_categories(rows, name, column, grow)
            elif column is not None and name in self._numbers:
                rows[:, self._numbers[name]] = column
        for place, row in enumerate(first, start=before):
            rows[:row, place] = np.nan
        return rows

    def encode_one(self, x: Mapping[str, object], *, grow: bool = True) -> Floats:
        """One row of numbers from the features of one example.

        Parameters
        ----------
        x
            Numbers, truth values and texts by the names of the features.
        grow
            Whether new features and categories are appended; else they are left out.

        Examples
        --------
        >>> Encoder().encode_one({"age": 31, "city": "rome"})
        array([31.,  1.])
        """
        read = {name: read_value(name, value, self._kinds.get(name)) for name, value in x.items()}
        if grow:
            for name, value in read.items():
                if name in self._numbers:
                    continue
                # A feature that is known to be a number has a column before its first value.
                if value is not None:
                    self._place(name, value, grow=True)
                elif self._kinds.get(name) in ("number", "boolean"):
                    self._place(name, 0.0, grow=True)
                elif self._is_open(name):
                    self._keep_place(name)
        row = np.full(self.width, np.nan)
        for name, value in read.items():
            if isinstance(value, str):
                row[self._places(name)] = 0.0
                place = self._place(name, value, grow=False)
                if place >= 0:
                    row[place] = 1.0
                    self._count(name, int(place == self._others.get(name)) if grow else 0)
            elif value is not None and name in self._numbers:
                row[self._numbers[name]] = value
        return row

    def to_plain(self) -> Plain:
        """All that the encoder knows, as numbers, texts, lists and tables.

        Examples
        --------
        >>> encoder = Encoder()
        >>> _ = encoder.encode_one({"city": "rome"})
        >>> Encoder.from_plain(encoder.to_plain()).names
        ('city=rome',)
        """
        return {
            "categories": self._most,
            "kinds": dict(self._kinds),
            "slots": [list(slot) for slot in self._slots],
            "crowded": dict(self._crowded),
        }

    @classmethod
    def from_plain(cls, plain: Plain) -> Encoder:
        """The encoder that `to_plain` described.

        Parameters
        ----------
        plain
            What `to_plain` returned, perhaps through a file.

        Examples
        --------
        >>> Encoder.from_plain(Encoder(categories=7).to_plain()).to_plain()["categories"]
        7
        """
        try:
            encoder = cls(plain["categories"])
            for column, kind in plain["kinds"].items():
                encoder.decide(column, kind)
            for slot in plain["slots"]:
                read = _checked_slot(*slot)
                if read.category or read.column in encoder._kinds:
                    encoder._append(read)
                else:
                    encoder._keep_place(read.column)
            encoder._crowded = {
                column: validation.count("crowded", count, least=0)
                for column, count in plain["crowded"].items()
            }
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"plain must describe an encoder, got {plain!r}: {error}") from None
        return encoder

    def _append_new(self, read: Mapping[str, Floats | Codes | None]) -> Integers:
        """Append what is new, in the order of rows, then of columns; rows of their first values."""
        found: list[tuple[int, int, str, float | str | None]] = []
        for order, (name, column) in enumerate(read.items()):
            found += [(row, order, name, value) for row, value in self._new_in(name, column)]
        first = []
        for row, _, name, value in sorted(found, key=lambda item: item[:2]):
            width = self.width
            if value is None:
                self._keep_place(name)
            else:
                self._place(name, value, grow=True)
            first += [row] * (self.width - width)
        return np.array(first, dtype=np.int64)

    def _new_in(
        self, name: str, column: Floats | Codes | None
    ) -> list[tuple[int, float | str | None]]:
        """New values of a feature, each with its first row; None where a place is only kept."""
        new: list[tuple[int, float | str | None]] = []
        if isinstance(column, Codes):
            known, count = self._categories.get(name, {}), len(column.codes)
            first = sorted(zip(_first_rows(column).tolist(), column.values, strict=True))
            new += [(row, value) for row, value in first if value not in known and row < count]
        elif column is not None and name not in self._numbers:
            new.append((0, 0.0))
        if self._is_open(name):  # rows without a value keep a place for the first one
            new[:1] = [(0, new[0][1] if new else None)]
        return new

    def _place(self, name: str, value: float | str, *, grow: bool) -> int:
        """The numeric column of a value, appended if it is new; -1 if there is none."""
        if not isinstance(value, str):
            place = self._numbers.get(name, -1)
            return self._append(Slot(name, False)) if grow and place < 0 else place
        known = self._categories.get(name, {})
        place = known.get(value, -1)
        if place < 0 and len(known) >= self._most:
            place = self._others.get(name, -1)
            return self._append(Slot(name, True)) if grow and place < 0 else place
        return self._append(Slot(name, True, value)) if grow and place < 0 else place

    def _is_open(self, name: str) -> bool:
        """Whether nothing is known of a feature, and no column is kept for it."""
        return name not in self._kinds and name not in self._kept

    def _keep_place(self, name: str) -> None:
        self._kept[name] = self.width
        self._slots.append(Slot(name, False))
        self._names = None

    def _append(self, slot: Slot) -> int:
        place = self._kept.pop(slot.column, self.width)
        if slot.category:
            self.decide(slot.column, "category")
            if slot.value is None:
                self._others[slot.column] = place
            else:
                self._categories.setdefault(slot.column, {})[slot.value] = place
        else:
            if self._kinds.get(slot.column) != "boolean":
                self.decide(slot.column, "number")
            self._numbers[slot.column] = place
        self._slots[place : place + 1] = [slot]
        self._names = None
        self._found.pop(slot.column, None)
        return place

    def _places(self, name: str) -> Integers:
        """All numeric columns of a category, looked up once until there is a new one."""
        if name not in self._found:
            others = [self._others[name]] if name in self._others else []
            places = [*self._categories.get(name, {}).values(), *others]
            self._found[name] = np.array(places, dtype=np.int64)
        return self._found[name]

    def _fill_categories(self, rows: Floats, name: str, column: Codes, grow: bool) -> None:
        missing = np.flatnonzero(column.codes < 0)
        rows[np.ix_(missing, self._places(name))] = np.nan
        # The last entry is that of the code -1.
        places = np.array([self._place(name, v, grow=False) for v in column.values] + [-1])
        own = places[column.codes]
        placed = np.flatnonzero(own >= 0)
        rows[placed, own[placed]] = 1.0
        if grow and name in self._others:
            self._count(name, int((own == self._others[name]).sum()))

    def _count(self, name: str, rows: int) -> None:
        if rows:
            self._crowded[name] = self._crowded.get(name, 0) + rows


def _checked_slot(column: Given, category: Given, value: Given) -> Slot:
    """A slot that was read from a file, which may hold anything."""
    fits = isinstance(column, str) and isinstance(category, bool) and isinstance(value, str | None)
    if not fits or (value is not None and not category):
        raise ValueError(f"slot must be a column, a truth value and a text, got {column!r}")
    return Slot(column, category, value)


def _first_rows(column: Codes) -> Integers:
    """The first row of each category; the number of rows for one that none has."""
    count = len(column.codes)
    first = np.full(len(column.values) + 1, count, dtype=np.int64)
    # Assigned from the end, so that the first row of a category is the one that stays.
    first[column.codes[::-1]] = np.arange(count)[::-1]
    return first[:-1]
