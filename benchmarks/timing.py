"""Seconds of several contestants, taken in turns on the same machine at the same time."""

import gc
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

Name = TypeVar("Name")
Run: TypeAlias = Callable[[], object]


def fastest(contestants: Mapping[Name, Callable[[], Run]], repetitions: int) -> dict[Name, float]:
    """Best seconds of each contestant; a slow moment of the machine meets them all alike.

    A contestant prepares itself, untimed, and returns what is timed. One turn before the first
    that counts compiles what has to be compiled.
    """
    best = dict.fromkeys(contestants, float("inf"))
    for turn in range(repetitions + 1):
        gc.collect()
        for name, prepare in contestants.items():
            seconds = _seconds(prepare())
            if turn > 0:
                best[name] = min(best[name], seconds)
    return best


def _seconds(run: Run) -> float:
    gc.disable()
    try:
        began = time.perf_counter()
        run()
        return time.perf_counter() - began
    finally:
        gc.enable()
