"""Lines on standard error: when compiling takes long enough to be noticed, or cannot be cached.

Compiling happens once per machine: the cache keeps what it gives. Nobody should wait for it
without a word: the first line says what it is, short ones every few seconds that it goes on.
"""

import contextlib
import functools
import multiprocessing
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from numba.core import event

from mtcool.kernels.linking import KernelCompiler

PATIENCE = 2.0  # seconds of compiling in one process before the first line appears
EVERY = 5.0  # seconds of compiling between two lines

_Listener: Any = event.Listener
_register: Any = event.register


class Announcer(_Listener):  # type: ignore[misc]
    """Adds up the time that our kernels take to compile, and speaks when it is too long."""

    def __init__(self) -> None:
        self._depth = 0
        self._spent = 0.0
        self._began = 0.0
        self._lines = 0
        self._told = 0.0  # how much of the time was spent when the last line appeared
        self._timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """A function begins to compile; those that it calls compile inside it."""
        dispatcher = event.data["dispatcher"]
        if self._depth or dispatcher._compiler.pipeline_class is KernelCompiler:
            self._begin(dispatcher.py_func.__name__)

    def on_end(self, event: Any) -> None:
        """A function has been compiled."""
        if self._depth:
            self._end()

    @contextlib.contextmanager
    def long_wait(self, name: str) -> Iterator[None]:
        """Another process may be compiling this kernel, which takes as long."""
        self._begin(name)
        try:
            yield
        finally:
            self._end()

    def _begin(self, name: str) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = time.perf_counter()
            self._wait(name)

    def _so_far(self) -> float:
        return self._spent + time.perf_counter() - self._began

    def _wait(self, name: str) -> None:
        due = self._told + EVERY if self._lines else PATIENCE
        self._timer = threading.Timer(max(due - self._so_far(), 0.0), self._say, [name])
        self._timer.daemon = True
        self._timer.start()

    def _end(self) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._spent = self._so_far()

    def _say(self, name: str) -> None:
        # Workers compile for a parent that shows its own progress.
        if not _in_main_process():
            return
        if self._timer is not threading.current_thread():  # it is compiled by now
            return
        words = f"mtcool still compiles (now: {name.strip('_')})"
        if not self._lines:
            words = (
                f"mtcool is compiling its algorithms for this machine (now: {name.strip('_')}). "
                "This happens once, and takes three to fourteen seconds for most, up to half a "
                "minute for networks that change; `mtcool warm` does it ahead of time."
            )
        print(words, file=sys.stderr, flush=True)
        self._lines, self._told = self._lines + 1, self._so_far()
        self._wait(name)


@functools.cache
def say_once(words: str) -> None:
    """Write a line on standard error, unless this process has; its workers do not repeat it."""
    if _in_main_process():
        print(words, file=sys.stderr, flush=True)


def _in_main_process() -> bool:
    return multiprocessing.current_process().name == "MainProcess"


ANNOUNCER = Announcer()
_register("numba:compile", ANNOUNCER)
