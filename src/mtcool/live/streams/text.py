"""The text of a stream: a file, a pipe, or standard input."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from mtcool.live.config import Description

STANDARD_INPUT = "-"
KEPT = "surrogateescape"
"""Bytes that are no text are kept for `check_text`: to decode them would end the whole stream."""
NO_TEXT = re.compile("[\udc80-\udcff]")
"""What becomes of them."""


def arrives(network: Description, path: str) -> bool:
    """Whether lines come when they come, and only once, as from a terminal or a pipe."""
    if path == STANDARD_INPUT:
        return not _is_file(sys.stdin)
    file = Path(network.path(path))
    # What is missing, or a folder, is not waited for: to open it is refused at once.
    return file.exists() and not file.is_file() and not file.is_dir()


def _is_file(stream: TextIO) -> bool:
    """Whether it is read from a file, as by `< rows.csv`."""
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # it is no stream of the system, or closed
        return False


@contextmanager
def table_of(network: Description, path: str) -> Iterator[str | BinaryIO]:
    """What the reader of tables opens, or goes on with if it is a pipe. That waits for a writer."""
    if path == STANDARD_INPUT:
        _rewind(sys.stdin)
        yield path
    elif arrives(network, path):
        with Path(network.path(path)).open("rb") as file:
            yield file
    else:
        yield str(network.path(path))


def _rewind(stream: TextIO) -> None:
    """Go back to the beginning of a file, which may have been read before."""
    if _is_file(stream):
        stream.seek(0)


@contextmanager
def lines_of(network: Description, path: str) -> Iterator[Iterator[str]]:
    """Open it and give its lines, which `check_text` must see. A pipe waits for a writer."""
    if path == STANDARD_INPUT:
        if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors != KEPT:
            sys.stdin.reconfigure(encoding="utf-8-sig", errors=KEPT)
        _rewind(sys.stdin)
        yield sys.stdin
        return
    with Path(network.path(path)).open(encoding="utf-8-sig", errors=KEPT, newline="") as file:
        yield file


def check_text(text: str) -> None:
    """Refuse text with bytes that are none.

    Examples
    --------
    >>> check_text("Z\\udcfcrich")
    Traceback (most recent call last):
    ...
    ValueError: it must be text in UTF-8, got the byte 0xfc
    """
    found = NO_TEXT.search(text)
    if found is not None:
        raise ValueError(f"it must be text in UTF-8, got the byte {ord(found[0]) & 0xFF:#x}")
