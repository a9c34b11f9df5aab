"""The first answer after an installation: a process with an empty compile cache.

It makes a network of six agents and calls `predict`, `update` and `simulate` once each. Seconds are
CPU seconds of the process, import included. The floor is a process that imports numba and compiles
a function of one line.
"""

import os
import subprocess
import sys
import tempfile

from benchmarks.result import Result, at_most

TARGETS = {"Hedge": 12.0, "private": 25.0, "KT": 5.0}
MAKE = {
    "Hedge": "mtcool.mt_co2ol(graph, 1, lipschitz=2.0)",
    "private": "mtcool.dpmt_co2ol(graph, 1, mtcool.Privacy(1.0, 100), lipschitz=2.0, seed=0)",
    "KT": "mtcool.mt_co2ol(graph, 1, lipschitz=2.0, learner=mtcool.learners.MTFTRLKT())",
}
PROGRAM = """
import mtcool
graph = mtcool.graphs.ring(6)
stream = mtcool.streams.quadratic_stream(graph, [[0.1]] * 6, rounds=50, seed=1)
network = {make}
network.predict(0)
network.update(0, [0.1])
mtcool.simulate(network, stream)
"""
FLOOR = """
import numba
numba.njit(lambda x: x + 1.0)(1.0)
"""


def run(quick: bool) -> list[Result]:
    """CPU seconds of each first answer."""
    floor = cpu_seconds(FLOOR)
    names = ["KT"] if quick else list(MAKE)
    return [_answer(name, floor) for name in names]


def _answer(name: str, floor: float) -> Result:
    return Result(
        f"First answer with an empty compile cache, {name}",
        f"numba compiles one line: {floor:.1f} s",
        cpu_seconds(PROGRAM.format(make=MAKE[name])),
        unit="s",
        target=at_most(TARGETS[name]),
    )


def cpu_seconds(program: str) -> float:
    """User and system time of a process with an empty cache, the better of two."""
    return min(_once(program) for _ in range(2))


def _once(program: str) -> float:
    with tempfile.TemporaryDirectory() as cache:
        before = os.times()
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", program]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
