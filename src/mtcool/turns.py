"""Threads that share a network take turns."""

import os
import threading


class Turn:
    """Held by the thread that is inside a call; calls of other threads wait until it is done.

    The thread that holds it may enter again: a function that ST-FTRL asks for a subgradient may
    itself ask for a prediction.

    >>> turn = Turn()
    >>> with turn, turn:
    ...     print("nobody else is here")
    nobody else is here
    """

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()

    def __enter__(self) -> None:
        if self._lock.acquire(blocking=False):
            return
        # The thread that holds the lock was not copied by the fork: it would never let go.
        if os.getpid() != self._process:
            raise ValueError(
                "network must not be in use by another thread when the process is forked, "
                f"got a call in process {os.getpid()} within one of process {self._process}"
            )
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
