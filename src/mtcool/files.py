"""Files that appear at their path when they are complete, and never in part."""

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where a file that somebody writes cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

Content = Callable[[BinaryIO], object]

FORMULA, QUOTED_FORMULA = r"^'*[=+\-@\t\r]", r"^'+[=+\-@\t\r]"
"""What texts begin with that a spreadsheet takes for formulas, or that are quoted because of it."""
NEGATIVE = r"-\d+(?:\.\d+)?"


_TEMPORARY = re.compile(r"mtcool-[0-9a-f]{16}\.tmp")


def write_whole(path: str | os.PathLike[str], write: Content, *, secret: bool = False) -> None:
    """Let `write` fill a new file, which takes its place at `path` when it is complete.

    A symbolic link stays one: its target is replaced. An existing file keeps its permissions; a
    secret file is never open to others than its owner. What an earlier call in this folder left
    behind when it was killed is removed. Every OSError names `path`.
    """
    try:
        target = Path(os.path.realpath(path))
        kept = _mode_of(target)
        remove_leftovers(target.parent)
        _replace(target, write, kept, 0o700 if secret else 0o777)
    except OSError as error:
        if error.errno is None:
            raise OSError(f"{error}: {os.fspath(path)!r}") from error
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def spreadsheet_text(text: str) -> str:
    """A text as it stands in a table that people may open in a spreadsheet.

    One that a spreadsheet would take for a formula, which may run programs and send data, begins
    with an apostrophe. Negative numbers stay as they are.

    Examples
    --------
    >>> spreadsheet_text("=1+1"), spreadsheet_text("-7"), spreadsheet_text("rome")
    ("'=1+1", '-7', 'rome')
    """
    harmless = re.match(FORMULA, text) is None or re.fullmatch(NEGATIVE, text) is not None
    return text if harmless else f"'{text}"


def from_spreadsheet_text(text: str) -> str:
    """The text that `spreadsheet_text` was given.

    Examples
    --------
    >>> from_spreadsheet_text("'=1+1"), from_spreadsheet_text("'s-Hertogenbosch")
    ('=1+1', "'s-Hertogenbosch")
    """
    return text[1:] if re.match(QUOTED_FORMULA, text) else text


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of writers that were killed: they may hold secrets."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # we may not list it
        found = [Path(entry.path) for entry in entries if _TEMPORARY.fullmatch(entry.name)]
    for path in found:
        with contextlib.suppress(OSError):  # still written to, not ours, or gone
            _remove_unless_locked(path)


def _remove_unless_locked(path: Path) -> None:
    if fcntl is None:
        path.unlink()
        return
    # Not through a link, and without waiting for the other end of a pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a living writer holds the lock
        path.unlink()
    finally:
        os.close(descriptor)


def _mode_of(target: Path) -> int | None:
    """Permissions of what is there, None if nothing is; only a file can be replaced."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory")
    if not stat.S_ISREG(mode):
        raise ValueError(
            f"path must be a file or a new name, not a device, pipe or socket, got {str(target)!r}"
        )
    return stat.S_IMODE(mode) & 0o777


def _replace(target: Path, write: Content, kept: int | None, mask: int) -> None:
    # Not tempfile's: its files are readable by their owner only, whatever the umask.
    temporary, descriptor = _new_file(target.parent, (0o666 if kept is None else 0o600) & mask)
    try:
        with open(descriptor, "wb") as file:
            if kept is not None:
                os.chmod(temporary, kept & mask)
            write(file)
            file.flush()
            os.fsync(descriptor)
            if fcntl is not None:  # while the lock is held, which ends with the file
                os.replace(temporary, target)
        if fcntl is None:
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _new_file(folder: Path, mode: int) -> tuple[Path, int]:
    """A temporary file, locked where that is possible, so that nobody takes it for a leftover."""
    while True:
        path = folder / f"mtcool-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags, mode)
        if fcntl is None:
            return path, descriptor
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if path.exists():
            return path, descriptor
        os.close(descriptor)  # somebody removed it before it was locked: try again
