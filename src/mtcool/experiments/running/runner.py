"""Run experiments to the end, from wherever an earlier run stopped, and write the result folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import mtcool
from mtcool import memory
from mtcool.changes import Schedule, read_changes
from mtcool.config import schema
from mtcool.config.algorithms import aggregator_of, learner_of, record_of
from mtcool.config.graphs import build_graph, graph_from_file
from mtcool.config.outside import is_outside
from mtcool.experiments.files import spec
from mtcool.experiments.files.in_the_field import changes_network, field_of
from mtcool.experiments.files.named import outside_names
from mtcool.experiments.output import check_writable
from mtcool.experiments.report.results import PointResults, Results
from mtcool.experiments.running.build import Replicate, build_network, build_stream
from mtcool.experiments.running.cells import Job
from mtcool.experiments.running.course import build_course
from mtcool.experiments.running.engines import Engine, run_jobs
from mtcool.experiments.running.store import ResultsFolder
from mtcool.learners import MTFTRL
from mtcool.simulation.progress import Advance, progress_bar
from mtcool.streams.checking import ROUNDS, check_loss
from mtcool.streams.synthetic import check_stream

# Memory of a cell and of each run in it, in bytes, and of each number that it keeps of an agent.
CELL, RUN, NUMBER = 3_000, 3_000, 8


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
        """The rounds that the file asks for, if this run has fewer: no claim is judged then."""
        return self.quick.rounds if self.quick and self.rounds < self.quick.rounds else None


def jobs_of(task: Task, advance: Advance = lambda steps: None) -> list[list[Job]]:
    """The cells of an experiment: for every point, one for each replicate."""
    points, seed = task.experiment.points, task.experiment.head.seed
    graphs = {
        point.graph.path: graph_from_file(point.graph)
        for point in points
        if isinstance(point.graph, schema.GraphFile)
    }
    changes = {
        point.network.path: _read_changes(point.network.path)
        for point in points
        if isinstance(point.network, spec.ChangesFile)
    }
    firsts = [
        Job(
            point,
            seed,
            0,
            graphs.get(getattr(point.graph, "path", "")),
            str(task.folder.resolve()) if any(outside_names(point)) else "",
            changes.get(getattr(point.network, "path", "")),
        )
        for point in points
    ]
    for first, values in zip(firsts, task.experiment.values, strict=True):
        _try(first, values)
        advance(1)
    return [
        [msgspec.structs.replace(first, replicate=k) for k in range(task.replicates)]
        for first in firsts
    ]


def _read_changes(path: str) -> Schedule:
    try:
        return read_changes(path)
    except ValueError as error:
        raise ValueError(f"network.path = {path!r}: {error}") from error


def check_memory(task: Task, workers: int) -> None:
    """Refuse numbers that would not fit, before anything is allocated for them."""
    points = task.experiment.points
    each = sum(
        CELL + RUN * len(point.algorithm) + NUMBER * _agents(point) * (point.tasks.dim + 2)
        for point in points
    )
    if each <= (memory.available() or each):  # else a graph is too large, and is named as such
        memory.require("replicates", task.replicates, task.replicates * each)
    workers = max(1, min(workers, len(points) * task.replicates))
    for point in points:
        check_stream(point.rounds, point.tasks.dim, workers)


def _agents(point: spec.Point) -> float:
    """Number of agents that a cell makes; a graph from a file is made once and counts as none."""
    match point.graph:
        case schema.CliquesGraph(sizes) | schema.Stars(sizes):
            agents = sum(sizes)
        case schema.Grid(rows, columns):
            agents = rows * columns
        case schema.GraphFile():
            agents = 0
        case table:
            agents = table.agents
    match point.network:
        case spec.Churn(departures, _, arrivals):
            coming = departures * agents if arrivals is None else arrivals
            return agents + coming * point.rounds
    return agents


def _try(first: Job, values: dict[str, str]) -> None:
    """Build what the first replicate needs, so that what cannot be built is refused at once."""
    place = ", ".join(f"{name} = {value}" for name, value in values.items())
    point, child = first.point, np.random.SeedSequence(first.seed)
    try:
        part, rng = "graph: ", np.random.default_rng(child)
        graph = first.graph or build_graph(point.graph, rng)
        part = "network: " if first.changes else "network."
        course = build_course(point.network, graph, 1, rng, first.changes)
        part, short = "", msgspec.structs.replace(point, rounds=1)
        _check_own_loss(point, course.union, child)
        stream = build_stream(short, course.union, child, course)
        activations = np.bincount(stream.agents, minlength=course.union.size)
        names = course.union.labels
        made_for = Replicate(short, course.start, activations, child, names, child)
        for algorithm in point.algorithm:
            part = f"{algorithm.name}: "
            build_network(made_for, algorithm)
    except ValueError as error:
        raise ValueError(f"{place}: {part}{error}" if place else f"{part}{error}") from None
    except (Exception, SystemExit) as error:
        if not any(outside_names(point)):
            raise
        told = f"{part}{type(error).__name__}: {error}"  # in a module of the user's
        raise ValueError(f"{place}: {told}" if place else told) from error


def _check_own_loss(point: spec.Point, graph: mtcool.Graph, seed: np.random.SeedSequence) -> None:
    """Refuse a loss from outside that is not convex, or whose subgradients are none."""
    if is_outside(point.stream.loss):
        stream = msgspec.structs.replace(point.stream, comparator=None)  # it takes time
        few = msgspec.structs.replace(point, rounds=min(point.rounds, ROUNDS), stream=stream)
        radius = max(one.radius for one in point.algorithm)
        check_loss(build_stream(few, graph, seed).losses, radius)


def run_tasks(
    tasks: Sequence[Task],
    folder: Path,
    engine: Engine,
    *,
    progress: bool,
    finished: Callable[[list[Results]], None] = lambda results: None,
) -> list[Results]:
    """Run what is not on disk yet; every cell is stored when it is finished.

    The first experiment has all workers until it is finished. While others are left to run,
    `finished` is called with the results of the first, the first two, and so on, when they are
    there.
    """
    names = [task.experiment.head.name for task in tasks]
    for place in (folder, folder / "cells", *(folder / name for name in names)):
        check_writable(place)
    for task in tasks:
        check_memory(task, engine.workers)
    with progress_bar("check", sum(len(t.experiment.points) for t in tasks), progress) as advance:
        jobs = [jobs_of(task, advance) for task in tasks]
    store = ResultsFolder(folder / "cells")
    keys = [{job.key: job for point in by_point for job in point} for by_point in jobs]
    cells = {key: job for of_task in keys for key, job in of_task.items()}
    missing = {key: job for key, job in cells.items() if store.get(job) is None}
    left = [len(of_task.keys() & missing.keys()) for of_task in keys]
    results: list[Results] = []

    def gather() -> None:
        """Take the results of the next experiments, if all their cells are there."""
        before = len(results)
        while len(results) < len(tasks) and not left[len(results)]:
            results.append(_gather(tasks[len(results)], jobs[len(results)], store))
        if before < len(results) < len(tasks):
            finished(results)

    first = [job for key, job in missing.items() if key in keys[0]]
    rest = [job for key, job in missing.items() if key not in keys[0]]
    for part in [part for part in (first, rest) if part] or [[]]:
        gather()
        total = len(keys[0] if part is first else cells)
        if part:
            compile_kernels(part, engine, progress=progress)
        with progress_bar("cells", total, progress, done=total - len(part)) as advance:
            for job, cell in run_jobs(part, engine):
                store.put(job, cell)
                advance(1)
                for k, of_task in enumerate(keys):
                    left[k] -= job.key in of_task
                if part is rest:  # the progress of the first part ends first
                    gather()
    gather()
    return results


def compile_kernels(jobs: Sequence[Job], engine: Engine, *, progress: bool) -> None:
    """One round of every combination of learner, aggregator and loss, the slowest to compile first.

    On a fresh machine the workers then compile different ones side by side, where in the run
    itself all of them would compile the same. Later they only load what was compiled.
    """
    distinct: dict[tuple[Any, ...], Job] = {}
    for job in jobs:
        for algorithm in job.point.algorithm:
            record, learner = record_of(algorithm), type(learner_of(algorithm))
            wrapped = algorithm.rates in ("estimated", "adaptive") and algorithm.rates
            around = wrapped, algorithm.lipschitz == "adaptive"
            noise = record.private and type(aggregator_of(algorithm))
            line = job.point.tasks.dim == 1  # which has a solver of its own
            field = field_of(job.point, algorithm) is not None, changes_network(job.point)
            key = record.peers, learner, around, noise, job.point.stream.loss, line, field
            point = msgspec.structs.replace(job.point, rounds=1, algorithm=[algorithm])
            if changes_network(point):  # all edges vanish in the second round, so something happens
                vanishing = spec.Blinking(vanish=1.0, appear=1.0)
                point = msgspec.structs.replace(point, rounds=2, network=vanishing)
            distinct.setdefault(key, msgspec.structs.replace(job, point=point))
    slowest = sorted(distinct, key=lambda key: MTFTRL not in key)
    with progress_bar("prepare", len(distinct), progress) as advance:
        for _ in run_jobs([distinct[key] for key in slowest], engine):
            advance(1)


def _gather(task: Task, jobs: list[list[Job]], store: ResultsFolder) -> Results:
    points = []
    for values, point in zip(task.experiment.values, jobs, strict=True):
        cells = [store.get(job) for job in point]
        if None in cells:
            raise OSError(f"cells were taken from {store.folder} during the run")
        points.append(PointResults.of(values, [cell for cell in cells if cell is not None]))
    return Results(task.experiment, task.replicates, points, [point[0] for point in jobs])
