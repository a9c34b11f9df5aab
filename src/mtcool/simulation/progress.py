"""Progress with rate and remaining time: a bar on a terminal, plain lines elsewhere, or nothing."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Advance: TypeAlias = Callable[[int], None]

# Seconds until the first line and between lines: nobody waits for more than three without a word.
FIRST_LINE, NEXT_LINE = 0.5, 2.5


@contextmanager
def progress_bar(what: str, total: int | None, show: bool, *, done: int = 0) -> Iterator[Advance]:
    """Yield a function to call with the number of steps done; progress goes to standard error.

    Without a terminal it is a line every few seconds, even if nothing moved, and one at the end.
    A total of None is not known.
    """
    if not show:
        yield lambda steps: None
        return
    from mtcool.simulation.bar import bar, is_seen  # slow to import, and most simulations are mute

    with (bar if is_seen() else _lines)(what, total, done) as advance:
        yield advance


def per_second(speed: float) -> str:
    """Format a rate, by the minute if it is low."""
    if speed < 0.5:
        return f"{60 * speed:.1f}/min"
    return f"{speed:,.{0 if speed >= 10 else 1}f}/s"


@contextmanager
def _lines(what: str, total: int | None, done: int) -> Iterator[Advance]:
    lines = _Lines(what, total, done)
    # A thread of its own: a step may take minutes, and kernels let other threads run.
    thread = threading.Thread(target=lines.repeat, name="progress", daemon=True)
    thread.start()
    try:
        yield lines.advance
    finally:
        lines.ended.set()
        thread.join()
    lines.over = True
    _say(lines.now())


class _Lines:
    def __init__(self, what: str, total: int | None, done: int) -> None:
        self.what, self.total = what, total
        self.before = self.done = done
        self.began = time.monotonic()
        self.ended = threading.Event()
        self.over = False
        """Whether the next line is the last one: after the last step something may follow."""

    def advance(self, steps: int) -> None:
        self.done += steps

    def repeat(self) -> None:
        wait = FIRST_LINE
        while not self.ended.wait(wait):
            _say(self.now())
            wait = NEXT_LINE

    def now(self) -> str:
        seconds = time.monotonic() - self.began
        moved = self.done - self.before
        if self.total is None:
            rate = f", {per_second(moved / seconds)}" if moved and seconds > 0 else ""
            return f"{self.what}: {self.done:,} in {_duration(seconds)}{rate}"
        line = f"{self.what}: {self.done:,}/{self.total:,}"
        if self.over and self.done >= self.total:
            return f"{line} in {_duration(seconds)}"
        if self.done >= self.total:
            return f"{line} after {_duration(seconds)}"
        if moved == 0 or moved * 10 < self.total - self.before:  # first steps may be longer ones
            return f"{line} after {_duration(seconds)}"
        left = _duration(seconds * (self.total - self.done) / moved)
        return f"{line}, {per_second(moved / seconds)}, about {left} left"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _say(line: str) -> None:
    # Nobody may be listening any more: progress is not worth an error.
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
