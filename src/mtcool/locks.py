"""Threads that share a network or a model take turns."""

import os
import threading


class Turn:
    """A lock for the thread that is inside a call; calls of other threads wait until it is done.

    The thread that holds it may enter again: a function that ST-FTRL asks for a subgradient may
    itself ask for a prediction.

    Parameters
    ----------
    what
        What the threads share, for the refusal of a fork in the middle of a call.

    Examples
    --------
    >>> turn = Turn("network")
    >>> with turn.lock, turn.lock:
    ...     print("nobody else is here")
    nobody else is here
    """

    __slots__ = ("_lock", "_process", "_what")

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.RLock()
        self._process = os.getpid()

    @property
    def lock(self) -> threading.RLock:
        """The lock itself, for a `with`: Ctrl-C between two lines of ours would leave it locked."""
        if os.getpid() != self._process:
            self._check_copy()
        return self._lock

    def _check_copy(self) -> None:
        # The thread that held the lock was not copied by the fork: it would never let go.
        if not self._lock.acquire(blocking=False):
            raise ValueError(
                f"{self._what} must not be in use by another thread when the process is forked, "
                f"got a call in process {os.getpid()} within one of process {self._process}"
            )
        self._lock.release()
