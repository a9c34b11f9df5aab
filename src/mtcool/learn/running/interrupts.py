"""Ctrl-C between two chunks: a first one is noted, a second one is raised."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noted() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C was pressed in this block.

    Learners that play side by side must all have played a chunk, or none. So the block ends where
    it can; who cannot wait presses again. In other threads than the main one nothing is noted.
    """
    pressed = threading.Event()

    def note(signum: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()
        print("stopping after these rows; Ctrl-C again stops at once", file=sys.stderr, flush=True)

    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
