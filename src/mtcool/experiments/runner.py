"""Run experiments to the end, from wherever an earlier run stopped, and write the result folder."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from mtcool.experiments import spec
from mtcool.experiments.build import read_graph
from mtcool.experiments.cells import Job
from mtcool.experiments.engines import Engine, run_jobs
from mtcool.experiments.results import PointResults, Results
from mtcool.experiments.store import Store
from mtcool.simulation.progress import progress_bar


@dataclass(frozen=True)
class Task:
    """An experiment and how many of its replicates to run."""

    experiment: spec.Experiment
    replicates: int
    source: str
    """The text of the file, to go with the results."""


def jobs_of(task: Task) -> list[list[Job]]:
    """The cells of an experiment: for every point, one for each replicate."""
    files = {
        point.graph.path: read_graph(Path(point.graph.path))
        for point in task.experiment.points
        if isinstance(point.graph, spec.GraphFile)
    }
    return [
        [
            Job(point, task.experiment.head.seed, k, files.get(getattr(point.graph, "path", "")))
            for k in range(task.replicates)
        ]
        for point in task.experiment.points
    ]


def run_tasks(
    tasks: Sequence[Task], folder: Path, engine: Engine, *, progress: bool
) -> list[Results]:
    """Run what is not on disk yet; every cell is stored when it is finished."""
    store = Store(folder / "cells")
    jobs = [jobs_of(task) for task in tasks]
    keys = {job.key: job for by_point in jobs for point in by_point for job in point}
    missing = {key: job for key, job in keys.items() if store.get(key) is None}
    if missing:
        compile_kernels(list(missing.values()), engine, progress=progress)
    with progress_bar("cells", len(keys), progress) as advance:
        advance(len(keys) - len(missing))
        for job, cell in run_jobs(list(missing.values()), engine):
            store.put(job.key, cell)
            advance(1)
    return [_gather(task, by_point, store) for task, by_point in zip(tasks, jobs, strict=True)]


def compile_kernels(jobs: Sequence[Job], engine: Engine, *, progress: bool) -> None:
    """One round of every combination of learner and loss, the slowest to compile first.

    On a fresh machine the workers then compile different ones side by side, where in the run
    itself all of them would compile the same. Later it takes no time.
    """
    distinct: dict[tuple[Any, ...], Job] = {}
    for job in jobs:
        for algorithm in job.point.algorithm:
            alone = algorithm.algorithm == "st_ftrl", algorithm.algorithm == "i_ftrl"
            key = *alone, algorithm.learner, algorithm.rates == "estimated", job.point.stream.loss
            point = msgspec.structs.replace(job.point, rounds=1, algorithm=[algorithm])
            distinct.setdefault(key, Job(point, job.seed, job.replicate, job.graph))
    slowest = sorted(distinct, key=lambda key: "MTFTRL" not in key)
    with progress_bar("compile", len(distinct), progress) as advance:
        for _ in run_jobs([distinct[key] for key in slowest], engine):
            advance(1)


def _gather(task: Task, jobs: list[list[Job]], store: Store) -> Results:
    points = []
    for values, point in zip(task.experiment.values, jobs, strict=True):
        cells = [cell for job in point if (cell := store.get(job.key)) is not None]
        points.append(PointResults.of(values, cells))
    return Results(task.experiment, task.replicates, points)


def fresh(folder: Path) -> None:
    """Make a folder for tables and figures, without those of an earlier run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
