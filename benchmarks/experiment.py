"""Figure 2 of the paper as `mtcool paper` runs it: overhead, and efficiency of two workers.

The cells are those of the paper's figure: N = 30, p = .9, T = 150 000, three algorithms with KT,
ten values of lambda. A cell makes graph, tasks, stream and networks, runs, counts messages and is
stored. The floor is the time inside the compiled loop alone, for the same cells in the same
process. For the efficiency the peer is the same work in one process.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from benchmarks.result import Result, at_least, at_most
from mtcool.experiments.running.cells import Job, run_cell
from mtcool.experiments.running.engines import Local, run_jobs
from mtcool.experiments.running.runner import jobs_of
from mtcool.experiments.running.store import ResultsFolder
from mtcool.experiments.running.suite import paper_tasks


def run(quick: bool) -> list[Result]:
    """Overhead and efficiency."""
    jobs = [point[k] for k in range(1 if quick else 8) for point in jobs_of(paper_tasks()[0])]
    list(run_jobs(jobs[:2], Local(2)))  # start the workers, let them load their kernels
    kernels, measured = _in_one_process(jobs)
    alone, together = (min(_time(jobs, workers) for _ in range(3)) for workers in (1, 2))
    runs = sum(len(job.point.algorithm) for job in jobs)
    full = 1440 / runs * together
    return [
        Result(
            f"Figure 2, {runs} of its 1,440 runs: time over the bare kernels",
            f"{measured:.1f} s in one process, {kernels:.1f} s of it in the compiled loop",
            measured / kernels,
            target=at_most(1.3),
        ),
        Result(
            "Figure 2: parallel efficiency of two workers",
            f"{alone:.1f} s with one, {together:.1f} s with two; all of Figure 2: {full:.0f} s",
            alone / (2.0 * together),
            target=at_least(0.85),
        ),
    ]


def _time(jobs: Sequence[Job], workers: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        store = ResultsFolder(Path(folder))
        began = time.perf_counter()
        for job, cell in run_jobs(jobs, Local(workers)):
            store.put(job, cell)
        return time.perf_counter() - began


def _in_one_process(jobs: Sequence[Job]) -> tuple[float, float]:
    """Seconds inside the compiled loop, and in all."""
    inside = 0.0
    module = sys.modules["mtcool.simulation.simulate"]  # the package has a function of this name
    play = module.play

    def timed(*arguments: object) -> int:
        nonlocal inside
        began = time.perf_counter()
        stop: int = play(*arguments)
        inside += time.perf_counter() - began
        return stop

    run_cell(jobs[0])
    with mock.patch.object(module, "play", timed):
        alone = _time(jobs, 1)
    return inside, alone
