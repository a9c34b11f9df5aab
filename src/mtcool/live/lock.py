"""The lock of a database, and what stands beside it of who has written the database last."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

LOOK, LOOKS = 0.1, 5
"""Seconds for which a lock is tried, and how often: who asks whether a host runs has it briefly."""
CLOSED = "closed"
"""What stands in the file when the process before has closed the database."""
LONGEST = 100
MEND = "put a copy of it in its place, or remove it to begin anew"


class Lock:
    """The lock of a database: a second process of the same host is refused, others may read.

    The lock has a file of its own: closing a second descriptor of the database would take away
    SQLite's own locks. It ends with the process, however that ends. In the file stand the sessions
    that may have written the database last, so that it is noticed if what they wrote is missing.

    Parameters
    ----------
    database
        The path of the database.
    """

    def __init__(self, database: Path) -> None:
        self._database, self.path = database, _beside(database)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        for _ in range(LOOKS):
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(LOOK / LOOKS)
            except OSError as error:
                os.close(self._file)
                raise OSError(f"{str(self.path)!r} could not be locked: {error}") from error
            else:
                # SQLite makes an empty one when it opens the database.
                log = Path(f"{database}-wal")
                self._without_log = not log.exists() or log.stat().st_size == 0
                return
        os.close(self._file)
        raise ValueError(
            f"database must be ours alone, got {str(database)!r}, which another process has"
        )

    def check_not_empty(self, mend: str) -> None:
        """Refuse a file without content where there was a database, and say what to do."""
        path = self._database
        if path.exists() and path.stat().st_size == 0 and os.fstat(self._file).st_size:
            raise ValueError(f"database must be whole, got {str(path)!r}, which is empty; {mend}")

    def check_last(self, session: int) -> None:
        """Refuse a database that lacks what the session before has written, and did not close."""
        noted = os.pread(self._file, LONGEST, 0).decode("ascii", "replace").split()
        path = str(self._database)
        # Until a session closes the database, its last transactions stand in the log alone.
        lost = self._without_log and noted == [str(session)]
        if noted and CLOSED not in noted and (lost or str(session) not in noted):
            raise ValueError(
                f"database must have all that was written, got {path!r}, which is older than the "
                f"process before, because its write-ahead log '{path}-wal' is missing or it was "
                "replaced by a copy: put back what is missing, or remove "
                f"'{self.path}' to go on from what is there"
            )

    def note(self, *sessions: int | str) -> None:
        """Write down who may have written the database last."""
        content = " ".join(map(str, sessions)).encode()
        # What stands there is overwritten first: on a full disk it must not be gone.
        length = os.fstat(self._file).st_size
        os.pwrite(self._file, content.ljust(length), 0)
        os.ftruncate(self._file, len(content))
        os.fsync(self._file)

    def close(self) -> None:
        """Let others have the database."""
        fcntl.flock(self._file, fcntl.LOCK_UN)  # a forked process may have the file open, too
        os.close(self._file)


def is_running(database: Path) -> bool:
    """Whether a process has the database of a host."""
    try:
        # A stranger's lock may be a pipe, which would wait for its other end.
        lock = os.open(_beside(database), os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _beside(database: Path) -> Path:
    return database.with_suffix(".lock")
