"""What the theory promises and forbids for a point of an experiment, next to what was measured.

Bounds need the graph and the tasks themselves, so they are computed for one replicate, the first.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import mtcool
from mtcool import graphs, streams, theory
from mtcool.experiments.files import spec
from mtcool.experiments.report.results import PointResults
from mtcool.experiments.run.build import build_graph, build_stream, probabilities
from mtcool.experiments.run.cells import Job

TIME_LIMIT = 5.0  # seconds for each graph parameter; an interval stands for what takes longer
IN_EXPECTATION = ", in expectation"  # of statements about the mean over activations


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
    """One algorithm on one replicate: measured regret between floor and ceiling."""

    algorithm: str
    measured: float
    ceiling: float | None
    """The theorem's bound, or None if there is none for this algorithm or these tasks."""
    statement: str
    """Where the ceiling comes from, or why there is none."""
    floor: float | None
    """What no algorithm can avoid on some sequence: easier ones may stay below it."""

    @property
    def ratio(self) -> float | None:
        """Measured regret over the ceiling."""
        return None if self.ceiling is None else self.measured / self.ceiling


@dataclass(frozen=True)
class PointPromises:
    """A point of an experiment."""

    values: dict[str, str]
    facts: GraphFacts
    rows: list[Promise]


def promises(job: Job, results: PointResults) -> PointPromises:
    """Bounds and measured regret of the first replicate of a point."""
    for_graph, for_stream, _ = job.seeds()
    graph = job.graph or build_graph(job.point.graph, np.random.default_rng(for_graph))
    stream = build_stream(job.point, graph, for_stream)
    rows = list(_rows(job.point, graph, stream, results))
    return PointPromises(results.values, facts_of(graph), rows)


def _rows(
    point: spec.Point, graph: mtcool.Graph, stream: mtcool.Stream, results: PointResults
) -> Iterator[Promise]:
    tasks = np.asarray(stream.comparator)
    for algorithm, run in zip(point.algorithm, results.cells[0].runs, strict=True):
        ceiling, statement = _ceiling(point, algorithm, graph, stream, run.clipped)
        yield Promise(
            algorithm=algorithm.name,
            measured=run.regret[-1],
            ceiling=ceiling,
            statement=statement,
            floor=_floor(algorithm, graph, tasks, len(stream)),
        )


def _ceiling(
    point: spec.Point,
    algorithm: spec.Algorithm,
    graph: mtcool.Graph,
    stream: mtcool.Stream,
    clipped: bool,
) -> tuple[float | None, str]:
    """The bound that holds for this algorithm, if its assumptions do."""
    tasks = np.asarray(stream.comparator)
    if clipped:
        return None, "none: gradients were longer than L"
    confined = algorithm.learner not in ("KT", "MTFTRLKT")
    longest = float(np.linalg.norm(tasks, axis=1).max())
    if confined and longest > algorithm.radius * (1.0 + 1e-9):
        return None, "none: tasks lie outside the ball"
    bound = _bound(point, algorithm, graph, tasks, stream)
    if bound is None:
        return None, "none: no bound for it here"
    hedge = theory.upper.COVERED in bound.assumptions
    if hedge and float(streams.local_variances(graph, tasks).max()) > algorithm.radius**2:
        return None, "none: a local variance is above 1"
    mean = IN_EXPECTATION if theory.upper.KNOWN_Q in bound.assumptions else ""
    return bound.value, bound.statement + mean


def _bound(
    point: spec.Point,
    algorithm: spec.Algorithm,
    graph: mtcool.Graph,
    tasks: np.ndarray,
    stream: mtcool.Stream,
) -> theory.Bound | None:
    units = {"radius": algorithm.radius, "lipschitz": algorithm.lipschitz}
    counts = np.bincount(stream.agents, minlength=graph.size)
    q = None
    if algorithm.weights == "proportional" or algorithm.rates != "adversarial":
        q = probabilities(point, graph.size)
    kind, learner = algorithm.algorithm, algorithm.learner
    if kind == "i_ftrl" and learner in (None, "FTRL"):
        return theory.independent(counts, **units)
    if kind == "i_ftrl" and learner == "KT":
        own = graphs.own_weights(graph)
        return theory.kt(graph, tasks, counts, weights=own, **units)
    if kind != "mt_co2ol":
        return None
    if learner == "MTFTRLKT" and algorithm.rates == "adversarial":
        return theory.kt(graph, tasks, counts, weights=algorithm.weights, q=q, **units)
    if learner not in (None, "MTFTRL") or algorithm.experts != "paper":
        return None
    rounds = len(stream)
    if algorithm.rates == "stochastic":
        weights = algorithm.weights
        return theory.stochastic(graph, tasks, _known(q), rounds, weights=weights, **units)
    if algorithm.rates == "estimated":
        weights = algorithm.weights
        return theory.unknown_q(graph, tasks, _known(q), rounds, weights=weights, **units)
    return theory.any_graph(graph, tasks, counts, weights=algorithm.weights, q=q, **units)


def _known(q: np.ndarray | None) -> np.ndarray:
    assert q is not None
    return q


def _floor(algorithm: spec.Algorithm, graph: mtcool.Graph, tasks: np.ndarray, rounds: int) -> float:
    variance = float(tasks.var(axis=0, ddof=1).sum()) if graph.size > 1 else 0.0
    units = {"radius": algorithm.radius, "lipschitz": algorithm.lipschitz}
    scaled = variance / algorithm.radius**2
    return theory.any_algorithm(graph, scaled, rounds, time_limit=TIME_LIMIT, **units).value


def facts_of(graph: mtcool.Graph) -> GraphFacts:
    """The parameters of a graph; those that take too long are intervals.

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
