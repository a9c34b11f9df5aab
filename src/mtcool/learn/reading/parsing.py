"""Columns of text as numbers, truth values and times; what cannot be read is pointed out.

Whole columns are converted by pyarrow. Only where that fails are single values looked at.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtcool.files import QUOTED_FORMULA
from mtcool.learn.reading.pieces import pyarrow
from mtcool.types import Floats, Given

Form: TypeAlias = Literal["number", "boolean", "date", "moment"]
"""How texts are written; a moment is a date and time with its zone."""
FORMS: tuple[Form, ...] = ("number", "boolean", "date", "moment")
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "None")
"""Texts that stand for no number; in a category only the empty text does.

What stands for no number does not say either what a column is.
"""
SAMPLE = 1000
"""Values that decide what a column of text is."""


DATE = r"^\d{1,4}[-/]\d{1,2}[-/]\d{2,4}([ T].*)?$"
GAPS = r"'’ \x{a0}\x{202f}"
GROUPED = rf"\d[\d.,{GAPS}]*"
NOTATIONS = {
    "with commas": rf"^[-+]?(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d*)?|[\d.{GAPS}]*,\d+)$",
    "with gaps": rf"^[-+]?\d{{1,3}}(?:[{GAPS}]\d{{3}})+(?:[.]\d*)?$",
    "with several points": r"^[-+]?\d{1,3}(?:\.\d{3}){2,}$",
    "with a sign of money or percent": (
        rf"^[-+]?(?:\p{{Sc}}[{GAPS}]?[-+]?{GROUPED}|{GROUPED}[\p{{Sc}}%])$"
    ),
    "with a minus that is no hyphen": rf"^[\x{{2212}}\x{{2013}}]{GROUPED}$",
    "with a minus behind them": rf"^{GROUPED}[.,]\d+-$",
    "in brackets": rf"^\(\p{{Sc}}?{GROUPED}\)$",
    "in hexadecimal": r"^[-+]?0[xX][0-9a-fA-F]+$",
}
"""Numbers as people write them and pyarrow does not read, by what they are."""


class Parsed(NamedTuple):
    """Numbers of a column, NaN where there is none: `missing`, or `wrong` and not readable."""

    values: Floats
    missing: NDArray[np.bool_]
    wrong: NDArray[np.bool_]


def column_of(table: Given, name: str) -> Given:
    """A column of a table as one array; all kinds of texts as the one that pyarrow can convert."""
    pa = pyarrow()
    array = table.column(name).combine_chunks()
    if pa.types.is_dictionary(array.type):  # categories, whatever they look like
        entries = array.dictionary.cast(pa.string())
        return pa.DictionaryArray.from_arrays(array.indices, entries).dictionary_decode()
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        return array.cast(pa.string())
    return array


def is_text(array: Given) -> bool:
    """Whether a column, as `column_of` returns it, holds texts."""
    return bool(pyarrow().types.is_string(array.type))


def named(array: Given) -> Given:
    """The texts of a column that names agents: numbers as they are written.

    An apostrophe that keeps a name from being a formula is no part of it (`spreadsheet_text`).
    """
    pa, compute = pyarrow(), pyarrow("pyarrow.compute")
    if pa.types.is_floating(array.type):
        array = compute.if_else(compute.is_nan(array), pa.scalar(None, array.type), array)
    texts = array.cast(pa.string())
    quoted = compute.match_substring_regex(texts, QUOTED_FORMULA)
    return compute.if_else(quoted, compute.utf8_slice_codeunits(texts, 1), texts)


def looks_like_dates(array: Given) -> bool:
    """Whether at least half of the first texts look like dates in a form that is not read."""
    sample = array.slice(0, SAMPLE)
    dates = pyarrow("pyarrow.compute").match_substring_regex(sample, DATE)
    return bool(2 * dates.true_count >= len(sample))


def notation_of(array: Given) -> tuple[str, int] | None:
    """How numbers are written that are not read, and where the first is.

    None if there are none, or if they and those that are read are less than half of the first
    texts: then the column holds something else.

    Examples
    --------
    >>> import pyarrow as pa
    >>> notation_of(pa.array(["200", "1,250", "2,000"]))
    ('with commas', 1)
    >>> notation_of(pa.array(["200", "1st, 250", "2nd"]))
    """
    compute = pyarrow("pyarrow.compute")
    sample = trimmed(array, MISSING).slice(0, SAMPLE)
    found = {
        how: compute.match_substring_regex(sample, pattern) for how, pattern in NOTATIONS.items()
    }
    first = [(compute.index(odd, True).as_py(), how) for how, odd in found.items()]
    where = min(((row, how) for row, how in first if row >= 0), default=None)
    count = sum(odd.true_count for odd in found.values())
    count += len(sample) - sample.null_count - int(parse(sample, "number").wrong.sum())
    if where is None or 2 * count < len(sample) - sample.null_count:
        return None
    return where[1], where[0]


def form_of(array: Given) -> Form | None:
    """The form in which at least half of the first texts of a column are written, if there is one.

    So a few wrong entries do not turn a column of numbers into categories.
    """
    sample = trimmed(array, MISSING).drop_null().slice(0, SAMPLE)
    for form in FORMS:
        parsed = parse(sample, form)
        if len(sample) and 2 * parsed.wrong.sum() <= len(sample):
            return form
    return None


def trimmed(array: Given, missing: tuple[str, ...] = ("",)) -> Given:
    """Texts without the white space around them; null where that leaves one of `missing`."""
    pa, compute = pyarrow(), pyarrow("pyarrow.compute")
    texts = compute.utf8_trim_whitespace(array.cast(pa.string()))
    empty = compute.is_in(texts, pa.array(missing))
    return compute.if_else(empty, pa.scalar(None, pa.string()), texts)


def parse(array: Given, form: Form) -> Parsed:
    """A column of texts as numbers; dates and moments are seconds since 1970."""
    pa, compute = pyarrow(), pyarrow("pyarrow.compute")
    target = {
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.timestamp("us"),
        "moment": pa.timestamp("us", "UTC"),
    }[form]
    try:
        return _numbers(compute.cast(array, target))
    except pa.ArrowInvalid:
        pass
    # Each text once: texts that are wrong are often the same.
    texts = array.dictionary_encode()
    entries = trimmed(texts.dictionary, MISSING)
    if form in ("date", "moment"):
        # pyarrow refuses digits below a microsecond, which the clocks of some programs write.
        entries = compute.replace_substring_regex(entries, r"(\.\d{6})\d+", r"\1")
    converted = _converted(entries, target)
    wrong = entries.is_valid().to_numpy(zero_copy_only=False) & _nulls(converted)
    codes = texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    values, missing, _ = _numbers(converted.take(texts.indices))
    wrong = np.append(wrong, False)[codes]
    return Parsed(values, missing & ~wrong, wrong)


def parse_typed(array: Given) -> Parsed | None:
    """A column of numbers, truth values or times as numbers; None if it is none of these."""
    types = pyarrow().types
    readable = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    if any(test(array.type) for test in (*readable, types.is_timestamp, types.is_date)):
        return _numbers(array)
    if types.is_null(array.type):
        return _numbers(array.cast(pyarrow().float64()))
    return None


def _numbers(array: Given) -> Parsed:
    pa = pyarrow()
    unit = 1.0
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("s" if pa.types.is_date32(array.type) else "ms"))
    if pa.types.is_timestamp(array.type):
        unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[array.type.unit]
        array = array.cast(pa.int64())
    missing = _nulls(array)
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return Parsed(values / unit if unit != 1.0 else values, missing, np.zeros(len(array), np.bool_))


def _nulls(array: Given) -> NDArray[np.bool_]:
    if array.null_count == 0:
        return np.zeros(len(array), np.bool_)
    nulls: NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return nulls


def _converted(texts: Given, target: Given) -> Given:
    """Texts as `target`, null where one cannot be read: halves are tried until each is clear."""
    pa, compute = pyarrow(), pyarrow("pyarrow.compute")
    try:
        return compute.cast(texts, target)
    except pa.ArrowInvalid:
        if len(texts) == 1:
            return pa.nulls(1, target)
        half = len(texts) // 2
        parts = [_converted(texts.slice(0, half), target), _converted(texts.slice(half), target)]
        return pa.concat_arrays(parts)
