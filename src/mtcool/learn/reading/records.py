"""Records of a CSV file: where each begins and ends, and in which line.

A record is usually a line. A field in quotes may hold line breaks, and then its record has several
lines and is named by the first. Blank lines are counted and hold no record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from mtcool.learn.reading.pieces import BadRow
from mtcool.types import Integers

BLOCK = 1 << 22
"""Bytes that are read at once."""
LONGEST = 1 << 26
"""Bytes of a record; a longer one has a quote that is never closed."""
LIVE_BLOCK = 1 << 16
"""Bytes of a live table that are read at once: rows are fed in between, and wait no longer."""
LIVE_LONGEST = 1 << 17
"""Bytes of a field in a live table; a longer one has a quote that is never closed, and is left out.

That of Python's `csv`, so that the lines which are left out stay the same.
"""

ENDLESS = "the record that begins here does not end; a quote in it may not be closed"

QUOTE, NEWLINE = ord('"'), ord("\n")


class RecordBlock(NamedTuple):
    """Whole records, and the line in which each begins."""

    content: bytes
    lines: Integers
    bad: list[BadRow]


def read_blocks(
    read: Callable[[int], bytes], delimiter: bytes, line: int, name: str, *, live: bool = False
) -> Iterator[RecordBlock]:
    """Cut what is read, beginning with line number `line`, into blocks of whole records.

    A record that does not end is refused; in a live table it is a bad row, which ends with the line
    in which its field becomes longer than `LIVE_LONGEST`.
    """
    rest = b""
    while True:
        try:
            last = read(BLOCK)
        except OSError as error:  # a compressed file that was cut off, a disk that fails
            raise ValueError(
                f"{name} cannot be read to its end, only up to line {line - 1}: {error}"
            ) from None
        content, rest = rest + last, b""
        if not content:
            return
        if not last and not content.endswith(b"\n"):
            content += b"\n"
        if b"\r" in content:
            # A carriage return at the very end may belong to a newline that is not yet read.
            held = b"\r" if last and content.endswith(b"\r") else b""
            content = content.removesuffix(held).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            rest = held
        breaks = line_breaks(content)
        ends = record_ends(content, breaks, delimiter)
        cut = int(ends[-1]) + 1 if len(ends) else 0
        following = line + int(np.searchsorted(breaks, cut))
        broken = cut < len(content) and (not last or len(content) > LONGEST)
        if broken and not live:
            raise ValueError(f"{name}, line {following}: {ENDLESS}")
        rest = content[cut:] + rest
        if cut:
            yield _block(content[:cut], ends, line + np.searchsorted(breaks, _starts(ends)))
            line = following
        if live and (broken or len(rest) > LIVE_LONGEST):
            most = rest.find(b'"') + 1 + LIVE_LONGEST
            cut = rest.find(b"\n", most) + 1 or (len(rest) if broken else 0)
            if cut:
                following = line + rest.count(b"\n", 0, cut)
                reason = f"{ENDLESS}; with it goes all up to line {following - 1}"
                yield RecordBlock(b"", np.empty(0, np.int64), [BadRow(line, reason)])
                line, rest = following, rest[cut:]
        if not last and not rest:
            return


def line_breaks(content: bytes) -> Integers:
    """Positions of all line breaks."""
    return np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == NEWLINE)


def record_ends(content: bytes, breaks: Integers, delimiter: bytes) -> Integers:
    """The line breaks that end records: those outside quotes.

    A quote opens only at the start of a field; elsewhere in an unquoted field it is a character.
    """
    if b'"' not in content:
        return breaks
    padded = np.frombuffer(b"\n" + content + b"\n", dtype=np.uint8)
    quotes = np.flatnonzero(padded[1:-1] == QUOTE)
    opening, closing = quotes[::2], quotes[1::2]
    edges = (NEWLINE, QUOTE, delimiter[0])
    # A quote doubled inside quotes closes and opens again, so that counting them is enough.
    if np.isin(padded[opening], edges).all() and np.isin(padded[closing + 2], edges).all():
        outside: Integers = breaks[np.searchsorted(quotes, breaks) % 2 == 0]
        return outside
    return _record_ends_one_by_one(content, delimiter)


def _record_ends_one_by_one(content: bytes, delimiter: bytes) -> Integers:
    start = rb"(?:\A|(?<=[\n" + re.escape(delimiter) + rb"]))"
    pattern = re.compile(start + rb'"(?:[^"]|"")*(?:"|\Z)|\n')
    ends = (match.start() for match in pattern.finditer(content) if match[0] == b"\n")
    return np.fromiter(ends, dtype=np.int64)


def _starts(ends: Integers) -> Integers:
    return np.concatenate(([0], ends[:-1] + 1))


def _block(content: bytes, ends: Integers, lines: Integers) -> RecordBlock:
    starts = _starts(ends)
    full = ends > starts
    if _is_text(content):
        return RecordBlock(content, lines[full], [])
    records = [content[a : b + 1] for a, b in zip(starts[full], ends[full], strict=True)]
    readable = np.array([_is_text(record) for record in records])
    bad = [BadRow(int(k), "bytes that are no text in UTF-8") for k in lines[full][~readable]]
    kept = b"".join(record for record, good in zip(records, readable, strict=True) if good)
    return RecordBlock(kept, lines[full][readable], bad)


def _is_text(content: bytes) -> bool:
    if b"\0" in content:  # which is UTF-8, and in no text
        return False
    try:
        return content.isascii() or bool(content.decode())
    except UnicodeDecodeError:
        return False
