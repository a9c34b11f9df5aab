"""Columns and single values of features, as numbers or as categories with their codes.

A column is a numpy array, a pandas or polars series, a pyarrow array or a list. Nothing here needs
an extra: pyarrow is used when the column is of pyarrow.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable
from math import isfinite
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from mtcool.types import AnyArray, Floats, Given, Integers

Kind: TypeAlias = Literal["number", "boolean", "category"]
KINDS: tuple[Kind, ...] = ("number", "boolean", "category")


class Codes(NamedTuple):
    """A column of categories: row i has `values[codes[i]]`, or nothing where its code is -1."""

    codes: Integers
    values: list[str]


def read_column(name: str, column: Given, kind: Kind | None) -> Floats | Codes | None:
    """A column as numbers (NaN where missing) or categories; None if nothing is known of it.

    Without a `kind` the type of the column decides: text is a category.
    """
    if type(column).__module__.partition(".")[0] == "pyarrow":
        return _read_arrow(name, column, kind)
    # numpy would turn numbers in a list into texts if there is a text among them.
    array = np.asarray(column, dtype=np.object_ if isinstance(column, list | tuple) else None)
    if array.ndim != 1:
        raise ValueError(f"column {name!r} must have one dimension, got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        if array.dtype.kind in "mM":
            raise refused_date(name, array[:1])
        return _read_objects(name, array.tolist(), kind)
    if kind == "category":
        return _codes_of(_text(value) for value in array.tolist())
    return _finite(name, array.astype(np.float64))


def read_value(name: str, value: object, kind: Kind | None) -> float | str | None:
    """One value as a number or as the text of a category; None if it is missing."""
    if isinstance(value, float | bool) and kind != "category" and isfinite(value):
        return float(value)  # what most values are
    if is_missing(value):
        return None
    if isinstance(value, str):
        if kind in ("number", "boolean"):
            raise ValueError(f"feature {name!r} must be a number as before, got {value!r}")
        return value
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | np.datetime64):
        raise refused_date(name, value)
    if not isinstance(value, numbers.Real | np.bool_):
        raise ValueError(
            f"feature {name!r} must be a number, a truth value or a text, got {value!r}"
        )
    if kind == "category":
        return _text(value)
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not isfinite(number):
        raise ValueError(f"feature {name!r} must be finite, got {value!r}")
    return number


def is_missing(value: object) -> bool:
    """Whether a value stands for none: None, NaN, pandas' NA or NaT."""
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def refused_date(name: str, value: object) -> ValueError:
    """The refusal of dates as features."""
    return ValueError(
        f"feature {name!r} must be a number or a category, got the date {value!s}; name it as "
        "time, or as arrives if it says when targets are known, leave it out, or turn it into "
        "numbers such as the hour of the day"
    )


def _read_arrow(name: str, column: Given, kind: Kind | None) -> Floats | Codes | None:
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_temporal(array.type):
        raise refused_date(name, array[0] if len(array) else array.type)
    if pa.types.is_null(array.type):
        return None
    if pa.types.is_dictionary(array.type):
        array = pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(pa.string()))
    elif _is_text(array.type) or kind == "category":
        array = array.cast(pa.string()).dictionary_encode()
    elif not _is_number(array.type):
        raise ValueError(f"feature {name!r} must be a number or a category, got {array.type}")
    else:
        return _finite(name, array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if kind in ("number", "boolean") and (codes >= 0).any():
        value = array.dictionary[int(codes[codes >= 0][0])].as_py()
        raise ValueError(f"feature {name!r} must be a number as before, got {value!r}")
    if len(array.dictionary) > len(codes):  # a short part of a column with many categories
        used, codes = np.unique(np.append(-1, codes), return_inverse=True)
        return Codes(codes[1:] - 1, array.dictionary.take(used[1:]).to_pylist())
    return Codes(codes, array.dictionary.to_pylist())


def _is_text(kind: Given) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_number(kind: Given) -> bool:
    import pyarrow as pa

    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def _read_objects(name: str, values: list[object], kind: Kind | None) -> Floats | Codes | None:
    read = [read_value(name, value, kind) for value in values]
    texts = sum(isinstance(value, str) for value in read)
    if texts == 0 and kind != "category":
        if kind is None and all(value is None for value in read):
            return None
        return np.array([np.nan if value is None else value for value in read], dtype=np.float64)
    mixed = next((value for value in read if not isinstance(value, str | None)), None)
    if mixed is not None:
        raise ValueError(f"feature {name!r} must be all numbers or all texts, got {mixed!r} too")
    return _codes_of(value for value in read if isinstance(value, str | None))


def _codes_of(values: Iterable[str | None]) -> Codes:
    places: dict[str, int] = {}
    codes = [-1 if value is None else places.setdefault(value, len(places)) for value in values]
    return Codes(np.array(codes, dtype=np.int64), list(places))


def _text(value: Given) -> str | None:
    """The text of a number: whole numbers are written without a point, however they are stored."""
    if is_missing(value):
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return str(value)


def _finite(name: str, column: AnyArray) -> Floats:
    infinite = np.isinf(column)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(f"feature {name!r} must be finite, got {column[row]} in row {row}")
    return column
