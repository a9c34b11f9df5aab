"""A cell: all algorithms of a point on one replicate. Cells are run, stored and resumed whole."""

import functools
import hashlib
import math
import platform
from importlib.metadata import version
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import mtcool
from mtcool.changes import Schedule
from mtcool.config import schema
from mtcool.config.algorithms import record_of
from mtcool.config.graphs import build_graph
from mtcool.config.outside import look_in
from mtcool.experiments.files import named, spec
from mtcool.experiments.running.build import Replicate, build_network, build_stream
from mtcool.experiments.running.course import Course, build_course
from mtcool.experiments.running.instance import Instance
from mtcool.kernels import digest_of, package_files
from mtcool.types import Floats, Integers

NUMERICAL = ("numpy", "scipy", "numba", "llvmlite", "networkx")

MOST_AGENTS = 200  # of networks whose agents are recorded one by one
AGENT_TIMES = 16


# Edits there keep cells: nothing of it makes their numbers.
ABOVE = {"audit", "cli", "experiments", "integrations", "learn", "live", "testing"}


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One algorithm on one replicate."""

    algorithm: str
    regret: list[float]
    """Multitask regret at the times of the cell."""
    loss: float
    """Total loss paid."""
    worst: float
    """Largest regret of an agent at the end."""
    messages: int | None
    """None where nobody knows what travels (`mtcool.agents.traffic`)."""
    message_bytes: int | None
    clipped: int
    """How many gradients were longer than L and shortened."""
    longest_gradient: float
    """No gradient at a point of the algorithm's ball is longer; without L, the longest received."""
    agents: list[list[float]] = []
    """Regret of every agent at the times of `agent_marks`; empty for very many agents."""
    messages_at: list[int] = []
    """Messages up to the times of the cell; these and the next are empty where nobody knows."""
    bytes_at: list[int] = []
    agent_messages: list[list[int]] = []
    """Messages that every agent's activations have caused, at the times of `agents`."""
    agent_bytes: list[list[int]] = []


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All algorithms on the same graph, tasks and stream."""

    sigma: float
    """Mean local deviation of the tasks."""
    times: list[int]
    runs: list[Run]
    instance: Instance
    """What the algorithms were given, so that a report builds nothing again."""
    agent_times: list[int] = []
    """Times at which the agents are recorded."""
    activations: list[list[int]] = []
    """Activations of every agent at these times, the same for all algorithms."""

    def fits(self, job: "Job") -> bool:
        """Whether these can be the numbers of `job`; the file may be damaged."""
        names = [run.algorithm for run in self.runs]
        return (
            names == [algorithm.name for algorithm in job.point.algorithm]
            and self.times == marks(job.point.rounds).tolist()
            and all(len(run.regret) == len(self.times) for run in self.runs)
            and self.instance.fits(job.point)
            and all(len(run.agents) == len(self.agent_times) for run in self.runs)
            and len(self.activations) == len(self.agent_times)
        )


class Job(msgspec.Struct, frozen=True):
    """What a worker needs to run a cell."""

    point: spec.Point
    seed: int
    replicate: int
    graph: mtcool.Graph | None = None
    """A graph from a file, read once: workers may live on other machines."""
    folder: str = ""
    """Where modules that the file names are looked for, besides the usual places."""
    changes: Schedule | None = None
    """Changes of the graph from a file, read once as well."""

    @property
    def key(self) -> str:
        """Name of the cell: it changes with what could change its numbers, the code included."""
        point, graph, happens = self.point, None, None
        if self.graph is not None:  # its content counts, not where it was read from
            point = msgspec.structs.replace(point, graph=schema.GraphFile(path=""))
            graph = [self.graph.ptr.tobytes(), self.graph.idx.tobytes()]
        if self.changes is not None:
            point = msgspec.structs.replace(point, network=spec.ChangesFile(path=""))
            names = () if self.graph is None else self.graph.labels
            happens = [str(list(names)), *map(repr, self.changes)]
        known = [self.code, point, self.seed, self.replicate, graph, happens]
        # As Python writes it: JSON has one word for infinity, NaN and nothing.
        content = repr(msgspec.to_builtins(known))
        return hashlib.sha256(content.encode()).hexdigest()[:32]

    @property
    def code(self) -> list[str]:
        """Names for the code that makes the cell: ours, and that of modules from outside."""
        return [code_digest(), *named.code_digest(self.point)]

    def seeds(self) -> list[np.random.SeedSequence]:
        """Seeds for graph, stream and privacy of the replicate, the same at every point."""
        return np.random.SeedSequence(self.seed, spawn_key=(self.replicate,)).spawn(3)

    def field_seeds(self) -> list[np.random.SeedSequence]:
        """Seeds for the changes of the graph, and for what messages and delays leave to chance."""
        return np.random.SeedSequence(self.seed, spawn_key=(self.replicate, 3)).spawn(2)

    def run(self) -> Cell:
        """Run the cell."""
        return run_cell(self)

    def read(self, content: bytes) -> Cell | None:
        """The cell from a file, or None if its numbers cannot be those of this job."""
        cell = msgspec.json.decode(content, type=Cell)
        return cell if cell.fits(self) else None


@functools.cache
def code_digest() -> str:
    """A name for the code that makes a cell: our sources, and the versions of what they call."""
    files = package_files().items()
    below = {name: text for name, text in files if name.split("/")[0] not in ABOVE}
    own = package_files("experiments/files") | package_files("experiments/running")
    digest = hashlib.sha256(digest_of(below | own).encode())
    for package in NUMERICAL:
        digest.update(f"{package} {version(package)} ".encode())
    digest.update(platform.python_version().encode())
    return digest.hexdigest()


def marks(rounds: int) -> NDArray[np.int64]:
    """Times at which the regret is recorded: dense on a linear and on a logarithmic axis.

    Examples
    --------
    >>> marks(4)
    array([1, 2, 3, 4])
    """
    even, early = np.linspace(0, rounds, 51)[1:], np.geomspace(1, rounds, 40)
    return np.unique(np.concatenate((even, early)).round().astype(np.int64).clip(1))


def agent_marks(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the few times at which every agent is recorded, the last one among them.

    Examples
    --------
    >>> marks(150_000)[agent_marks(marks(150_000))][[0, 8, 15]]
    array([     1,  42000, 150000])
    """
    count = min(len(times), AGENT_TIMES)
    return np.linspace(0, len(times) - 1, count).round().astype(np.int64)


def build_instance(job: Job) -> tuple[Course, mtcool.Stream]:
    """Graph, with what happens to it, and stream of the replicate."""
    if job.folder:
        look_in(job.folder)
    point, (for_graph, for_stream, _) = job.point, job.seeds()
    rng = np.random.default_rng(job.field_seeds()[0])
    # One thread: linear algebra on several adds in another order, and workers have one each.
    with threadpool_limits(1):
        graph = job.graph or build_graph(point.graph, np.random.default_rng(for_graph))
        course = build_course(point.network, graph, point.rounds, rng, job.changes)
        return course, build_stream(point, course.union, for_stream, course)


def run_cell(job: Job) -> Cell:
    """Run every algorithm of the point on replicate `job.replicate`.

    Replicate k draws from the k-th child of the seed, whatever the point: points of a sweep are
    compared on the same random numbers.
    """
    course, stream = build_instance(job)
    times, kept = marks(job.point.rounds), Instance.of(course.start, stream)
    few = agent_marks(times) if course.union.size <= MOST_AGENTS else times[:0]
    seeds, names = (job.seeds()[2], job.field_seeds()[1]), course.union.labels
    replicate = Replicate(job.point, course.start, kept.activations, seeds[0], names, seeds[1])
    activations: list[list[int]] = []
    runs = []
    for one in job.point.algorithm:
        network = build_network(replicate, one)
        happens = None if record_of(one).alone else course.schedule
        trace = mtcool.simulate(
            network, stream, changes=happens, times=times, per_agent=len(few) > 0
        )
        longest = _longest(network, stream)
        runs.append(_recorded(job, one, longest, trace, few))
        activations = trace.agent_activations[few].tolist() if len(few) > 0 else []
    sigma = mtcool.streams.mean_local_deviation(course.union, _known(stream.comparator))
    return Cell(
        sigma=sigma,
        times=times.tolist(),
        runs=runs,
        instance=kept,
        agent_times=times[few].tolist(),
        activations=activations,
    )


def _recorded(
    job: Job,
    algorithm: schema.AlgorithmSpec,
    longest: float,
    trace: mtcool.Trace,
    few: NDArray[np.int64],
) -> Run:
    agents = _known(trace.agent_regret)
    run = Run(
        algorithm=algorithm.name,
        regret=_known(trace.regret).tolist(),
        loss=float(trace.loss[-1]),
        worst=float((agents[-1] if agents.ndim == 2 else agents).max()),
        messages=_last(trace.messages),
        message_bytes=_last(trace.message_bytes),
        clipped=int(trace.clipped[-1]),
        longest_gradient=longest,
        agents=agents[few].tolist() if len(few) > 0 else [],
        messages_at=_listed(trace.messages),
        bytes_at=_listed(trace.message_bytes),
        agent_messages=_listed(trace.agent_messages, few),
        agent_bytes=_listed(trace.agent_bytes, few),
    )
    if not all(map(math.isfinite, (*run.regret, run.loss, run.worst))):
        raise ValueError(
            f"algorithm {algorithm.name!r} must have a finite regret, got {run.regret[-1]} in "
            f"replicate {job.replicate}"
        )
    return run


def _longest(network: mtcool.Network, stream: mtcool.Stream) -> float:
    """No gradient on the ball is longer; of a network that measures them, the longest received."""
    if network.settings.adaptive:
        return float(network.peers.state.longest.max())
    return stream.lipschitz(network.settings.radius)


def _last(counts: NDArray[np.int64] | None) -> int | None:
    return None if counts is None else int(counts[-1])


def _listed(counts: Integers | None, few: Integers | None = None) -> list[Any]:
    """Counts at all times, or at a few of them; nothing where nobody knows."""
    if counts is None or (few is not None and len(few) == 0):
        return []
    found: list[Any] = (counts if few is None else counts[few]).tolist()
    return found


def _known(values: Floats | None) -> Floats:
    """Regrets, which a trace has because streams of experiments have a comparator."""
    if values is None:
        raise ValueError("stream must have a comparator, got None")
    return values
