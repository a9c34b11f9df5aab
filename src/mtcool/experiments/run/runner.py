"""Run experiments to the end, from wherever an earlier run stopped, and write the result folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import mtcool
from mtcool import memory
from mtcool.experiments.files import spec
from mtcool.experiments.files.outside import is_outside
from mtcool.experiments.output import check_writable
from mtcool.experiments.report.results import PointResults, Results
from mtcool.experiments.run.build import build_graph, build_network, build_stream, read_graph
from mtcool.experiments.run.cells import Job
from mtcool.experiments.run.engines import Engine, run_jobs
from mtcool.experiments.run.private import build_private
from mtcool.experiments.run.store import Store
from mtcool.simulation.progress import Advance, progress_bar
from mtcool.streams.synthetic import check_stream

# Memory of a cell and of each run in it, in bytes, where agents are few.
CELL, RUN = 2_000, 3_000


@dataclass(frozen=True)
class FullSize:
    """What the file asks for, where a quick look ran less."""

    replicates: int
    rounds: int
    """The most of any point."""


@dataclass(frozen=True)
class Task:
    """An experiment and how many of its replicates to run."""

    experiment: spec.Experiment
    replicates: int
    source: str
    """The text of the file, to go with the results."""
    quick: FullSize | None = None
    """Of a task that is smaller than its file: a quick look."""

    folder: Path = Path()
    """Where the file is: paths in it are relative to that."""

    @property
    def rounds(self) -> int:
        """The most rounds of any point."""
        return max(point.rounds for point in self.experiment.points)

    @property
    def needs(self) -> int | None:
        """The rounds of the file where those of a quick look are fewer, so that claims wait."""
        return self.quick.rounds if self.quick and self.rounds < self.quick.rounds else None


def jobs_of(task: Task, advance: Advance = lambda steps: None) -> list[list[Job]]:
    """The cells of an experiment: for every point, one for each replicate."""
    files = {
        point.graph.path: read_graph(Path(point.graph.path))
        for point in task.experiment.points
        if isinstance(point.graph, spec.GraphFile)
    }
    for point, values in zip(task.experiment.points, task.experiment.values, strict=True):
        _try(point, values, files.get(getattr(point.graph, "path", "")), task.experiment.head.seed)
        advance(1)
    return [
        [
            Job(
                point,
                task.experiment.head.seed,
                k,
                files.get(getattr(point.graph, "path", "")),
                str(task.folder.resolve()) if is_outside(point.stream) else "",
            )
            for k in range(task.replicates)
        ]
        for point in task.experiment.points
    ]


def check_memory(task: Task, workers: int) -> None:
    """Refuse numbers that would not fit, before anything is allocated for them."""
    points = task.experiment.points
    each = sum(CELL + RUN * len(point.algorithm) for point in points)
    memory.require("replicates", task.replicates, task.replicates * each)
    workers = max(1, min(workers, len(points) * task.replicates))
    for point in points:
        check_stream(point.rounds, point.tasks.dim, workers)


def _try(point: spec.Point, values: dict[str, str], graph: mtcool.Graph | None, seed: int) -> None:
    """Build what the first replicate needs, so that what cannot be built is refused at once."""
    place = ", ".join(f"{name} = {value}" for name, value in values.items())
    child = np.random.SeedSequence(seed)
    try:
        part = "graph: "
        graph = graph or build_graph(point.graph, np.random.default_rng(child))
        part, short = "", msgspec.structs.replace(point, rounds=1)
        stream = build_stream(short, graph, child)
        for algorithm in point.algorithm:
            part = f"{algorithm.name}: "
            if algorithm.private:
                build_private(short, algorithm, graph, stream, child)
            else:
                build_network(short, algorithm, graph)
    except ValueError as error:
        raise ValueError(f"{place}: {part}{error}" if place else f"{part}{error}") from None


def run_tasks(
    tasks: Sequence[Task], folder: Path, engine: Engine, *, progress: bool
) -> list[Results]:
    """Run what is not on disk yet; every cell is stored when it is finished."""
    names = [task.experiment.head.name for task in tasks]
    for place in (folder, folder / "cells", *(folder / name for name in names)):
        check_writable(place)
    for task in tasks:
        check_memory(task, engine.workers)
    with progress_bar("check", sum(len(t.experiment.points) for t in tasks), progress) as advance:
        jobs = [jobs_of(task, advance) for task in tasks]
    store = Store(folder / "cells")
    keys = {job.key: job for by_point in jobs for point in by_point for job in point}
    missing = [job for job in keys.values() if store.get(job) is None]
    if missing:
        compile_kernels(missing, engine, progress=progress)
    done = len(keys) - len(missing)
    with progress_bar("cells", len(keys), progress, done=done) as advance:
        for job, cell in run_jobs(missing, engine):
            store.put(job, cell)
            advance(1)
    return [_gather(task, by_point, store) for task, by_point in zip(tasks, jobs, strict=True)]


def compile_kernels(jobs: Sequence[Job], engine: Engine, *, progress: bool) -> None:
    """One round of every combination of learner, aggregator and loss, the slowest to compile first.

    On a fresh machine the workers then compile different ones side by side, where in the run
    itself all of them would compile the same. Later they only load what was compiled.
    """
    distinct: dict[tuple[Any, ...], Job] = {}
    for job in jobs:
        for algorithm in job.point.algorithm:
            kind = algorithm.algorithm
            learner = algorithm.learner or ("FTRL" if kind in ("i_ftrl", "st_ftrl") else "MTFTRL")
            two_phase = algorithm.rates == "estimated"
            noise = algorithm.private and algorithm.mechanism
            line = job.point.tasks.dim == 1  # which has a solver of its own
            key = kind == "st_ftrl", learner, two_phase, noise, job.point.stream.loss, line
            point = msgspec.structs.replace(job.point, rounds=1, algorithm=[algorithm])
            distinct.setdefault(key, Job(point, job.seed, job.replicate, job.graph, job.folder))
    slowest = sorted(distinct, key=lambda key: "MTFTRL" not in key)
    with progress_bar("prepare", len(distinct), progress) as advance:
        for _ in run_jobs([distinct[key] for key in slowest], engine):
            advance(1)


def _gather(task: Task, jobs: list[list[Job]], store: Store) -> Results:
    points = []
    for values, point in zip(task.experiment.values, jobs, strict=True):
        cells = [store.get(job) for job in point]
        if None in cells:
            raise OSError(f"cells were taken from {store.folder} during the run")
        points.append(PointResults.of(values, [cell for cell in cells if cell is not None]))
    return Results(task.experiment, task.replicates, points, [point[0] for point in jobs])
