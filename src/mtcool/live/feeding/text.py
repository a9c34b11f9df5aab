"""The text of a stream: a file, a pipe, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mtcool.live.description import Description

STANDARD_INPUT = "-"


def arrives(network: Description, path: str) -> bool:
    """Whether lines come when they come, and only once, as from standard input or a pipe."""
    if path == STANDARD_INPUT:
        return True
    file = Path(network.path(path))
    # What is missing, or a folder, is not waited for: to open it is refused at once.
    return file.exists() and not file.is_file() and not file.is_dir()


@contextmanager
def opened(network: Description, path: str) -> Iterator[IO[str]]:
    """Open it. That of a pipe waits until somebody writes to it."""
    if path == STANDARD_INPUT:
        yield sys.stdin
        return
    with Path(network.path(path)).open(newline="") as file:
        yield file
