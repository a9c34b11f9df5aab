"""The log of a host that `mtcool up` runs: what its process says on standard error."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path

LARGEST = 1 << 22
"""Bytes of a log; then it becomes an old one, and a new one begins."""
OLD = 3
"""Old logs that are kept: HOST.log.1 is the newest of them."""


class HostLog(RotatingFileHandler):
    """Writes lines to files that only their owner can read, and which are few and small.

    Parameters
    ----------
    path
        The file.
    tell
        Is told once if it cannot be written: the host goes on.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = HostLog(Path(folder, "rome.log"), print)
    ...     log.write("rome begins")
    ...     log.close()
    ...     Path(folder, "rome.log").read_text()
    'rome begins\\n'
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._tell: Callable[[str], None] | None = tell
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().__init__(path, maxBytes=LARGEST, backupCount=OLD, encoding="utf-8")

    def _open(self) -> io.TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors="replace")

    def close(self) -> None:
        """Close it; lines for which the disk had no room are lost."""
        with contextlib.suppress(OSError):
            super().close()

    def write(self, line: str) -> None:
        """Write a line."""
        self.emit(logging.makeLogRecord({"msg": line}))

    def handleError(self, record: logging.LogRecord) -> None:
        """Say that the disk is full, or broken."""
        if self._tell is not None:
            self._tell(f"{self.baseFilename} could not be written: {sys.exc_info()[1]}")
            self._tell = None
