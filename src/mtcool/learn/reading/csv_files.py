"""Pieces of a CSV file: every column as text, which is read as numbers later."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mtcool.learn.reading.pieces import BadRow, Piece, pyarrow
from mtcool.learn.reading.records import (
    BLOCK,
    ENDLESS,
    LIVE_BLOCK,
    RecordBlock,
    line_breaks,
    read_blocks,
    record_ends,
)
from mtcool.types import Given, Integers

MARK = b"\xef\xbb\xbf"
"""The byte order mark, which some programs write before everything else."""
DELIMITERS = (b",", b";", b"\t")
LINE_BREAKS = (b"", b"\n", b"\r")
"""What ends a line; nothing ends none."""


class CsvFile:
    """A CSV file whose header has been read: its names, and its rows in pieces."""

    def __init__(self, file: Given, name: str, wanted: str, *, live: bool = False) -> None:
        self._name, self._live, self.ending = name, live, Ending()
        self._read: Callable[[int], bytes] = _reads_what_is_there(file) if live else file.read
        given = lines = head = b""
        ends: Sequence[int] | Integers = ()
        while not len(ends) and len(given) < LIVE_BLOCK and (read := self._read(BLOCK)):
            if not isinstance(read, bytes):
                raise ValueError(f"source must be a file opened in binary mode, got {file!r}")
            given += read
            # Lines may end as those of old Macintoshes.
            lines = re.sub(rb"\r(?!\n|\Z)", b"\n", given.removeprefix(MARK))
            head = lines.lstrip(b"\r\n")
            ends = record_ends(head, line_breaks(head), b",")
        if not head.strip():
            raise ValueError(f"{name} must be a table with a header, got an empty file")
        # Blank lines above the header are counted, and are no header.
        self._line = 1 + lines.count(b"\n", 0, len(lines) - len(head))
        if b"\n" in head and not len(ends):
            raise ValueError(f"{name}, line {self._line}: {ENDLESS}")
        end = int(ends[0]) + 1 if len(ends) else len(head)
        try:
            text = head[:end].decode()
        except UnicodeDecodeError:
            raise ValueError(
                f"{name} must be a table of UTF-8 text, got {head[:20]!r}; spreadsheets save it as "
                "CSV UTF-8"
            ) from None
        self._delimiter, self.names = _split_header(text, wanted)
        self._line += text.count("\n")
        self._rest = head[end:]

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """All rows, with these columns."""
        parse = _parser(self.names, columns, self._delimiter)
        blocks = read_blocks(self._rows, self._delimiter, self._line, self._name, live=self._live)
        return map(parse, blocks)

    def _rows(self, size: int) -> bytes:
        """The next bytes of the rows, of which some were read with the header."""
        read, self._rest = self._rest or self._read(size), b""
        return self.ending.follow(read, self._name)


def _reads_what_is_there(file: Given) -> Callable[[int], bytes]:
    """Reads so many bytes at most, and waits only while there are none."""
    # A thread that waits in a buffered reader has its lock, which Python needs in order to end.
    file = getattr(file, "raw", file)
    read = getattr(file, "read1", file.read)
    return lambda size: read(min(size, LIVE_BLOCK))


class Ending:
    """Whether a table ends within a line, which somebody may still be writing.

    Attributes
    ----------
    earlier
        Bytes of its rows when it was read before, if it ended within a line then, else 0.
    """

    def __init__(self) -> None:
        self.earlier = self._size = 0
        self._last = b""

    @property
    def within_line(self) -> int:
        """Bytes of its rows, if the last that was read of them is no line break, else 0."""
        return 0 if self._last in LINE_BREAKS else self._size

    def follow(self, read: bytes, name: str) -> bytes:
        """Go on to the next bytes; refuses a line that was read in part before."""
        at = self.earlier - self._size
        if self.earlier and 0 <= at < len(read) and read[at : at + 1] not in LINE_BREAKS:
            raise ValueError(
                f"{name} must be as it was when it was read, or have further lines, got more of "
                "its last line, which was taken as it was then; without --resume all of it "
                "is read again"
            )
        self._size += len(read)
        self._last = read[-1:] or self._last
        return read


def _split_header(text: str, wanted: str) -> tuple[bytes, list[str]]:
    """The delimiter that makes `wanted` a name of the header, and all names."""
    found = [(d, _fields(text, d.decode())) for d in DELIMITERS]
    return next((split for split in found if wanted in split[1]), found[0])


def _fields(text: str, delimiter: str) -> list[str]:
    row = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    return [field.strip() for field in row]


def _parser(
    names: Sequence[str], columns: Sequence[str], delimiter: bytes
) -> Callable[[RecordBlock], Piece]:
    pa, files = pyarrow(), pyarrow("pyarrow.csv")
    # By position: names may stand twice in columns that nobody asks for.
    keys = {name: str(names.index(name)) for name in columns}
    convert = files.ConvertOptions(
        column_types=dict.fromkeys(keys.values(), pa.string()),
        include_columns=list(keys.values()),
        check_utf8=False,  # The blocks have been checked.
        strings_can_be_null=True,
        null_values=[""],
    )
    read = files.ReadOptions(
        use_threads=False, block_size=1 << 30, column_names=[str(k) for k in range(len(names))]
    )

    untyped = frozenset(columns)

    def parse(block: RecordBlock) -> Piece:
        short: list[Given] = []

        def skip(row: Given) -> str:
            short.append(row)
            return "skip"

        options = files.ParseOptions(
            delimiter=delimiter.decode(),
            newlines_in_values=True,
            invalid_row_handler=skip,
        )
        if not len(block.lines):
            return Piece(
                block.lines, pa.table({c: pa.array([], pa.string()) for c in columns}), block.bad
            )
        try:
            table = files.read_csv(
                pa.BufferReader(block.content),
                read_options=read,
                parse_options=options,
                convert_options=convert,
            ).rename_columns(list(keys))
        except pa.ArrowCancelled:  # what pyarrow makes of Ctrl-C
            raise KeyboardInterrupt from None
        bad, lines = list(block.bad), block.lines
        for row in short:
            reason = f"{row.actual_columns} fields instead of {row.expected_columns}"
            bad.append(BadRow(int(lines[row.number - 1]), reason))
        lines = np.delete(lines, [row.number - 1 for row in short])
        return Piece(lines, table, bad, untyped)

    return parse
