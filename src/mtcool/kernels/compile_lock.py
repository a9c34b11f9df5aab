"""Processes that need the same kernel at the same time: one compiles it, the others wait and load.

Eight nodes that start on a machine with an empty cache would compile everything eight times. A turn
is a lock on one byte of a file in the cache folder; the system takes it back when a process ends,
however it ends. Nobody waits for ever, and where there are no such locks nobody waits at all.
"""

import contextlib
import errno
import functools
import hashlib
import os
import time
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

NAME = ".turns"
PATIENCE = 120.0  # seconds; a process that takes longer may have been stopped
PAUSE = 0.02


def begin_turn(path: Path) -> None:
    """Wait until no other process compiles the kernel that is kept in this file of the cache."""
    end = time.monotonic() + PATIENCE
    with contextlib.suppress(OSError):  # no locks, or no file that we may write: then nobody waits
        while not _taken(path) and time.monotonic() < end:
            time.sleep(PAUSE)


def end_turn(path: Path) -> None:
    """Let others look for the kernel, whether it was compiled or not."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.lockf(_file(path.parent, os.getpid()), fcntl.LOCK_UN, 1, _byte(path))


def _taken(path: Path) -> bool:
    if fcntl is None:
        return True
    file = _file(path.parent, os.getpid())  # refused, that is no turn of another process
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte(path))
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            return False
        raise
    return True


def _byte(path: Path) -> int:
    """The byte that stands for a kernel; if it stands for another one as well, they take turns."""
    return int.from_bytes(hashlib.sha256(path.name.encode()).digest()[:7], "big")


@functools.cache
def _file(folder: Path, process: int) -> int:
    """The file, open as long as this process lives: to close it would end all of its turns."""
    return os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
