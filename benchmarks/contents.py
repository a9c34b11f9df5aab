"""The benchmarks of the paper's algorithms by name, in the order in which they run."""

from benchmarks import (
    ask_tell,
    clipped,
    experiment,
    field,
    first_answer,
    growth,
    hedge,
    kt,
    privacy,
    reading,
    scale,
    startup,
)
from benchmarks.suite import Suite

SUITE = Suite(
    benchmarks={
        "kt": kt,
        "hedge": hedge,
        "clipped": clipped,
        "privacy": privacy,
        "growth": growth,
        "experiment": experiment,
        "scale": scale,
        "field": field,
        "first-answer": first_answer,
        "startup": startup,
        "ask-tell": ask_tell,
        "reading": reading,
    },
    purpose="Measure mtcool against peers and floors, and its targets.",
    document="benchmarks.md",
    title="Benchmarks",
    introduction=(
        "Written by `python -m benchmarks --write`. Every number stands against a peer or a floor "
        "that was measured in the same run, in turns with it; times are the best of several "
        "repetitions."
    ),
    packages=("mtcool", "numpy", "numba", "llvmlite", "scipy", "cvxpy", "clarabel"),
)
