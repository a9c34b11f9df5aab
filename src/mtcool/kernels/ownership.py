"""Folders and files that only we and root can change, as sshd and sudo ask of theirs.

The compile cache holds pickles, and whoever can write one into it runs code as us. So its folder
and its files must belong to us or to root and be writable by nobody else. So must all folders
above: whoever can rename one of them can put another in its place. A sticky folder above, such as
/tmp, may be writable by all: there only its owner and the owner of an entry can rename the entry.
Where the system has no user ids there is nothing to ask, and nothing is refused.
"""

import contextlib
import os
import stat
from pathlib import Path

OTHERS = stat.S_IWGRP | stat.S_IWOTH
# Not through a link, without waiting for the other end of a pipe, and bytes as they are.
_READ = ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")


class UnsafePathError(OSError):
    """Somebody else can change what lies at a path."""


def safe_folder(path: Path) -> Path:
    """The folder's path without links, after it was made where it was missing.

    Raises UnsafePathError if somebody else can change what is in it. Afterwards nobody else can put
    another folder in its place either, because the way to it is checked from the root down.
    """
    real = Path(os.path.realpath(path))
    for folder in (*reversed(real.parents), real):
        if not folder.exists():
            with contextlib.suppress(FileExistsError):
                folder.mkdir(0o700)
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(f"{folder} is not a folder")
        _require_ours(str(folder), found, sticky=folder != real)
    return real


def read_safely(path: Path) -> bytes:
    """The content of a file in a safe folder; the open file is checked, not what its path names."""
    flags = 0
    for name in _READ:
        flags |= getattr(os, name, 0)
    with open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a file")
        _require_ours(f"a file in {path.parent}", found)
        return file.read()


def _require_ours(what: str, found: os.stat_result, *, sticky: bool = False) -> None:
    if not hasattr(os, "geteuid"):
        return
    if found.st_uid not in (0, os.geteuid()):
        raise UnsafePathError(f"{what} belongs to {_user(found.st_uid)}")
    if found.st_mode & OTHERS and not (sticky and found.st_mode & stat.S_ISVTX):
        mode = f"{stat.S_IMODE(found.st_mode):o}"
        raise UnsafePathError(f"{what} can be written by other users (mode {mode})")


def _user(number: int) -> str:
    import pwd  # only where there are user ids

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
