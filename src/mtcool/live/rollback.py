"""A counter beside the database of a private host, which tells when an older copy was put back."""

from __future__ import annotations

import os
from pathlib import Path

DIGITS = 20
"""The number is always as long: it is written over in one piece."""
ANEW = "let these agents begin again under other names, on a host of another name"
MEND = f"put its newest copy in its place, or, if there is none, {ANEW}"
"""What to do with the damaged database of a private host: an older one, or none, is refused."""


class RollbackCounter:
    """How often the private agents of a host have drawn noise, in a file of its own.

    It is durable before anything is seen that rests on that noise, and after the transaction that
    holds it: so no database is behind it but one that was restored from a copy, which would draw
    other noise for the same rounds.

    Parameters
    ----------
    database
        The path of the database.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     counter = RollbackCounter(pathlib.Path(folder, "rome.db"))
    ...     counter.count(3)
    ...     counter.begin(2)
    Traceback (most recent call last):
    ...
    ValueError: database must be the newest of its host, got '...rome.db' with 2 draws of noise ...
    """

    def __init__(self, database: Path) -> None:
        self._database, self.path = database, database.with_suffix(".counter")
        self._durable: int | None = None
        """What stands in the file, if it is known to survive a power cut."""

    def begin(self, drawn: int, *, new: bool = False) -> None:
        """Refuse a database with fewer draws of noise than were counted; go on from any other.

        Parameters
        ----------
        drawn
            How often noise was drawn, as far as the database knows.
        new
            Whether there need not be a counter yet.
        """
        path = str(self._database)
        try:
            counted = int(self.path.read_text("ascii"))
        except (FileNotFoundError, ValueError):  # it is empty if it could not be written at first
            counted = 0 if new else -1
        if counted < 0 < drawn:
            raise ValueError(
                f"'{self.path}' must be the number of draws of noise that database {path!r} has "
                f"seen, which knows of {drawn}: put the file back; if it is lost, and no newer "
                f"database was ever used, write {drawn} into it to go on"
            )
        check_newest(path, drawn, counted)
        self.count(drawn)

    def count(self, drawn: int) -> None:
        """Let the file say, durably, that noise was drawn so often.

        Parameters
        ----------
        drawn
            How often it was.
        """
        if drawn == self._durable:
            return
        self._durable = None
        made = not self.path.exists()
        file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.pwrite(file, f"{drawn:0{DIGITS}d}\n".encode(), 0)
            os.fsync(file)
        finally:
            os.close(file)
        if made:
            _sync(self.path.parent)
        self._durable = drawn


def check_newest(path: str, drawn: int, counted: int) -> None:
    """Refuse a database that knows of fewer draws of noise than were counted.

    Parameters
    ----------
    path
        That of the database.
    drawn, counted
        Those that it knows of, and those that were counted.
    """
    if drawn < counted:
        raise ValueError(
            f"database must be the newest of its host, got {path!r} with {drawn} draws of noise "
            f"of {counted}, as if it was restored from a copy: private agents would draw noise "
            f"again for rounds that were seen; put the newest one back, or, if it is lost, {ANEW}"
        )


def _sync(folder: Path) -> None:
    """Let a file that was made in a folder survive a power cut."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
