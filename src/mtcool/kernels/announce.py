"""One line on standard error when compiling takes long enough to be noticed.

Compiling happens once per machine: the cache keeps what it gives. Nobody should wait for it
without a word.
"""

import multiprocessing
import sys
import threading
import time
from typing import Any

from numba.core import event

from mtcool.kernels.linking import KernelCompiler

PATIENCE = 2.0  # seconds of compiling in one process before the line appears

_Listener: Any = event.Listener
_register: Any = event.register


class Announcer(_Listener):  # type: ignore[misc]
    """Adds up the time that our kernels take to compile, and speaks once it is too long."""

    def __init__(self) -> None:
        self._depth = 0
        self._spent = 0.0
        self._began = 0.0
        self._timer: threading.Timer | None = None
        self._said = False

    def on_start(self, event: Any) -> None:
        """A function begins to compile; those that it calls compile inside it."""
        dispatcher = event.data["dispatcher"]
        if self._depth or dispatcher._compiler.pipeline_class is KernelCompiler:
            self._depth += 1
            if self._depth == 1 and not self._said:
                self._began = time.perf_counter()
                left = max(PATIENCE - self._spent, 0.0)
                self._timer = threading.Timer(left, self._say, [dispatcher.py_func.__name__])
                self._timer.daemon = True
                self._timer.start()

    def on_end(self, event: Any) -> None:
        """A function has been compiled."""
        if self._depth:
            self._depth -= 1
            if self._depth == 0 and self._timer is not None:
                self._timer.cancel()
                self._timer = None
                self._spent += time.perf_counter() - self._began

    def _say(self, name: str) -> None:
        # Workers compile for a parent that shows its own progress.
        if self._said or multiprocessing.current_process().name != "MainProcess":
            return
        self._said = True
        print(
            f"mtcool is compiling its algorithms for this machine (now: {name.strip('_')}). "
            "This happens once, and takes up to half a minute each; `mtcool warm` does it ahead "
            "of time.",
            file=sys.stderr,
            flush=True,
        )


_register("numba:compile", Announcer())
