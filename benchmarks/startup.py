"""A cold Python process that imports mtcool and runs a small simulation with KT and with Hedge.

30 agents, 1 000 rounds each, with a filled compile cache: what a user waits for at every start.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from benchmarks.result import Result, at_most
from benchmarks.timing import Run, fastest

SIMULATION = """
import mtcool
graph = mtcool.graphs.erdos_renyi(30, 0.9, seed=0)
tasks = mtcool.streams.gaussian_tasks(graph, dim=1, smoothness=6.0, seed=1)
stream = mtcool.streams.quadratic_stream(graph, tasks, rounds=1000, seed=2)
for learner in (mtcool.learners.MTFTRLKT(), mtcool.learners.MTFTRL()):
    network = mtcool.mt_co2ol(graph, 1, learner=learner, lipschitz=2.0, on_excess="clip")
    mtcool.simulate(network, stream)
"""


def run(quick: bool) -> list[Result]:
    """Seconds from the start of the process to its end."""
    with tempfile.TemporaryDirectory() as cache:
        settings = {} if quick else {"NUMBA_CACHE_DIR": cache}
        _process(SIMULATION, settings)()  # fills the cache
        return [_with_filled_cache(settings, repetitions=2 if quick else 5)]


def _with_filled_cache(settings: Mapping[str, str], repetitions: int) -> Result:
    best = fastest(
        {
            "simulation": lambda: _process(SIMULATION, settings),
            "import": lambda: _process("from mtcool import mt_co2ol, simulate", settings),
            "dependencies": lambda: _process("import numba, scipy.sparse, networkx", settings),
        },
        repetitions,
    )
    return Result(
        "Start-up: process with a filled compile cache",
        f"{best['dependencies']:.2f} s to import numba, scipy.sparse and networkx alone, "
        f"{best['import']:.2f} s to import what it uses of mtcool",
        best["simulation"],
        unit="s",
        target=at_most(2.0),
    )


def _process(code: str, settings: Mapping[str, str]) -> Run:
    command = [sys.executable, "-c", code]
    return lambda: subprocess.run(command, env={**os.environ, **settings}, check=True)
