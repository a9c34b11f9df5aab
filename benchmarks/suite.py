"""The benchmarks by name, in the order in which they run."""

import inspect
from types import ModuleType

from benchmarks import (
    ask_tell,
    clipped,
    experiment,
    first_answer,
    growth,
    hedge,
    kt,
    privacy,
    reading,
    scale,
    startup,
)

SUITE: dict[str, ModuleType] = {
    "kt": kt,
    "hedge": hedge,
    "clipped": clipped,
    "privacy": privacy,
    "growth": growth,
    "experiment": experiment,
    "scale": scale,
    "first-answer": first_answer,
    "startup": startup,
    "ask-tell": ask_tell,
    "reading": reading,
}


def explanation(name: str) -> str:
    """What a benchmark measures, and against what: the text at the head of its file."""
    return inspect.getdoc(SUITE[name]) or ""
