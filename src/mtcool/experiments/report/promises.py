"""What the theory promises and forbids for a point of an experiment, next to what was measured.

A bound needs the graph and the tasks themselves. One that holds for every run is computed for the
first replicate and compared with its regret. One that holds in expectation is computed for every
replicate, and its mean is compared with the mean regret: a single run may exceed it.
"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np

import mtcool
from mtcool import graphs, theory
from mtcool.config import schema
from mtcool.config.algorithms import learner_of, record_of
from mtcool.experiments.files.in_the_field import changes_network
from mtcool.experiments.report.results import PointResults
from mtcool.experiments.running.build import Replicate, build_settings, probabilities
from mtcool.experiments.running.cells import Cell, Job, Run
from mtcool.learners import KT, MTFTRLKT
from mtcool.peers.algorithm import Question
from mtcool.theory.known import LINEAR
from mtcool.types import Floats

TIME_LIMIT = 5.0  # seconds for each graph parameter; an interval stands for what takes longer
IN_EXPECTATION = ", in expectation"  # of statements about the mean over the replicates
UNCONFINED = (KT, MTFTRLKT)  # learners whose predictions may leave the ball


@dataclass(frozen=True)
class GraphFacts:
    """The parameters of a graph that the bounds speak of."""

    agents: int
    edges: int
    smallest_neighbourhood: int
    largest_neighbourhood: int
    independence: str
    twice_independence: str
    domination: str


@dataclass(frozen=True)
class Promise:
    """One algorithm at one point: measured regret between floor and ceiling."""

    algorithm: str
    measured: float
    """Regret of the first replicate; the mean of all if the ceiling holds in expectation."""
    ceiling: float | None
    """The theorem's bound, or None if there is none for this algorithm or these tasks."""
    statement: str
    """Where the ceiling comes from, or why there is none."""
    floor: float | None
    """What no algorithm can avoid on some sequence: easier ones may stay below it."""
    trivial: float = math.inf
    """What learners in the ball cannot exceed, whatever they learn."""

    @property
    def ratio(self) -> float | None:
        """Measured regret over the ceiling."""
        return None if self.ceiling is None else self.measured / self.ceiling

    @property
    def says_nothing(self) -> bool:
        """Whether the ceiling is above what can be exceeded at all."""
        return self.ceiling is not None and self.ceiling > self.trivial * (1.0 + 1e-9)


@dataclass(frozen=True)
class PointPromises:
    """A point of an experiment."""

    values: dict[str, str]
    facts: GraphFacts
    rows: list[Promise]


class KnownReplicate(NamedTuple):
    """One replicate of a point, as its cell keeps it."""

    replicate: Replicate
    tasks: Floats
    """The comparator."""

    @classmethod
    def of(cls, job: Job, cell: Cell) -> "KnownReplicate":
        """What the networks of a cell were made for; nothing is drawn again."""
        instance, (_, _, for_noise) = cell.instance, job.seeds()
        graph = job.graph or instance.graph
        made_for = Replicate(job.point, graph, instance.activations, for_noise)
        return cls(made_for, instance.tasks(job.point.tasks.dim))

    @property
    def graph(self) -> mtcool.Graph:
        """The graph of the replicate, in the first round."""
        return self.replicate.graph


class Ceiling(NamedTuple):
    """The bound that holds for a run, or the reason why there is none."""

    bound: theory.Bound | None
    words: str


def promises(job: Job, results: PointResults) -> PointPromises:
    """Bounds and measured regret of the point whose first replicate is `job`."""
    first, algorithms = KnownReplicate.of(job, results.cells[0]), job.point.algorithm
    found = [
        [_ceiling(first, one, run)]
        for one, run in zip(algorithms, results.cells[0].runs, strict=True)
    ]
    on_average = [k for k, (one,) in enumerate(found) if one.bound and one.bound.in_expectation]
    if on_average:
        for later, cell in enumerate(results.cells[1:], start=job.replicate + 1):
            other = KnownReplicate.of(msgspec.structs.replace(job, replicate=later), cell)
            for k in on_average:
                found[k].append(_ceiling(other, algorithms[k], cell.runs[k]))
    rows = [
        _promise(first, one, ceilings, results, k)
        for k, (one, ceilings) in enumerate(zip(algorithms, found, strict=True))
    ]
    return PointPromises(results.values, facts_of(first.graph), rows)


def _promise(
    first: KnownReplicate,
    algorithm: schema.AlgorithmSpec,
    ceilings: list[Ceiling],
    results: PointResults,
    k: int,
) -> Promise:
    """Row k, from as many replicates as there are ceilings."""
    bounds = [one.bound for one in ceilings if one.bound is not None]
    where = " in some replicates" if bounds else ""
    missing = [one.words + where for one in ceilings if one.bound is None]
    return Promise(
        algorithm=algorithm.name,
        measured=float(results.final[: len(ceilings), k].mean()),
        ceiling=None if missing else float(np.mean([bound.value for bound in bounds])),
        statement=missing[0] if missing else ceilings[0].words,
        floor=_floor(algorithm, first, _given(algorithm, results.cells[0].runs[k])),
        trivial=float(np.mean([bound.trivial for bound in bounds])) if bounds else math.inf,
    )


def _too_long(algorithm: schema.AlgorithmSpec, run: Run) -> bool:
    """Whether gradients were longer than L, or, of a private run, could be.

    Noise decides where a private run predicts, and its bound is a mean over all noise.
    """
    steep = run.longest_gradient > _given(algorithm, run) * (1.0 + 1e-9)
    return run.clipped > 0 or (record_of(algorithm).private and steep)


def _given(algorithm: schema.AlgorithmSpec, run: Run) -> float:
    """L, or the longest gradient of a run without one."""
    return run.longest_gradient if algorithm.lipschitz == "adaptive" else algorithm.lipschitz


def _ceiling(kept: KnownReplicate, algorithm: schema.AlgorithmSpec, run: Run) -> Ceiling:
    """The bound of the algorithm's record, if its assumptions hold."""
    if _too_long(algorithm, run):
        return Ceiling(None, "none: gradients were longer than L")
    longest = float(np.linalg.norm(kept.tasks, axis=1).max())
    confined = not isinstance(learner_of(algorithm), UNCONFINED)
    if confined and longest > algorithm.radius * (1.0 + 1e-9):
        return Ceiling(None, "none: tasks lie outside the ball")
    bound = bound_of(question_of(kept, algorithm), run)
    if bound is None:
        return Ceiling(None, "none: no bound for it here")
    if LINEAR in bound.assumptions and kept.replicate.point.stream.loss != "linear":
        return Ceiling(None, "none: losses are not linear")
    if not bound.covers_tasks:
        return Ceiling(None, f"none: a local variance is above {bound.admitted:g}")
    return Ceiling(bound, bound.name + (IN_EXPECTATION if bound.in_expectation else ""))


def bound_of(question: Question, run: Run) -> theory.Bound | None:
    """The bound of the algorithm's record; without L it comes in units of the longest gradient."""
    bound = question.settings.algorithm.bound(question)
    if bound is None or not question.settings.adaptive:
        return bound
    return bound.times(run.longest_gradient)


def question_of(kept: KnownReplicate, algorithm: schema.AlgorithmSpec) -> Question:
    """What the algorithm's record is asked about the whole run."""
    point, graph = kept.replicate.point, kept.replicate.graph_for(algorithm)
    settings, q = build_settings(kept.replicate, algorithm), None
    if algorithm.weights == "proportional" or algorithm.rates != "adversarial":
        q = probabilities(point, graph.size)
    activations = kept.replicate.activations
    return Question(graph, settings, algorithm.weights, q, kept.tasks, activations)


def _floor(algorithm: schema.AlgorithmSpec, kept: KnownReplicate, lipschitz: float) -> float | None:
    graph, tasks, rounds = kept.graph, kept.tasks, kept.replicate.point.rounds
    if changes_network(kept.replicate.point):  # it speaks of one graph, and of all activations
        return None
    if lipschitz == 0.0:  # flat losses
        return 0.0
    variance = float(tasks.var(axis=0, ddof=1).sum()) if graph.size > 1 else 0.0
    units = {"radius": algorithm.radius, "lipschitz": lipschitz}
    scaled = variance / algorithm.radius**2
    return theory.any_algorithm(graph, scaled, rounds, time_limit=TIME_LIMIT, **units).value


def facts_of(graph: mtcool.Graph) -> GraphFacts:
    """The parameters of a graph; those that take too long are intervals.

    Examples
    --------
    >>> facts_of(mtcool.graphs.ring(9)).domination
    '3'
    """
    return _facts(graph.ptr.tobytes(), graph.idx.tobytes())


@functools.lru_cache(maxsize=256)
def _facts(ptr: bytes, idx: bytes) -> GraphFacts:
    """Points of a sweep share their graph, and its parameters take time."""
    graph = mtcool.Graph(np.frombuffer(ptr, np.int64), np.frombuffer(idx, np.int32))
    return GraphFacts(
        agents=graph.size,
        edges=graph.edge_count,
        smallest_neighbourhood=graphs.smallest_neighbourhood(graph),
        largest_neighbourhood=graphs.largest_neighbourhood(graph),
        independence=str(graphs.independence_number(graph, time_limit=TIME_LIMIT)),
        twice_independence=str(graphs.k_independence_number(graph, 2, time_limit=TIME_LIMIT)),
        domination=str(graphs.domination_number(graph, time_limit=TIME_LIMIT)),
    )
