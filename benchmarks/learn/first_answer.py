"""The first answer of `mtcool learn` after an installation: a process with an empty compile cache.

It learns the schools, in three ways, and writes its report. Seconds are CPU seconds of the process,
import included.
"""

import tempfile

from benchmarks.first_answer import FLOOR, cpu_seconds
from benchmarks.learn.score import say
from benchmarks.result import Result, at_most

TARGET = 15.0
PROGRAM = """
import runpy
import sys
sys.argv = ["mtcool", "learn", "schools", "--output", {output!r}, "--json"]
runpy.run_module("mtcool", run_name="__main__")
"""


def run(quick: bool) -> list[Result]:
    """CPU seconds of the whole process; there is no smaller size."""
    say("first answer: mtcool learn schools with an empty compile cache")
    with tempfile.TemporaryDirectory() as folder:
        seconds = cpu_seconds(PROGRAM.format(output=folder))
    return [
        Result(
            "First answer of mtcool learn with an empty compile cache",
            f"numba compiles one line: {cpu_seconds(FLOOR):.1f} s",
            seconds,
            unit="s",
            target=at_most(TARGET),
        )
    ]
