"""From a point of an experiment and a replicate to graph, stream and networks."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import mtcool
from mtcool import graphs, streams
from mtcool.algorithms.making import make_network, make_settings
from mtcool.experiments.files import spec
from mtcool.experiments.files.named import learner_of, loss_kind, record_of
from mtcool.experiments.files.outside import is_outside
from mtcool.experiments.running.private import noise_for, privacy_of
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Integers


class Replicate(NamedTuple):
    """What the networks of a replicate are made for."""

    point: spec.Point
    graph: mtcool.Graph
    activations: Integers
    """Number of activations of each agent."""
    seed: np.random.SeedSequence
    """Seed for the levels and the noise of private networks."""


def build_graph(table: spec.Graph, seed: np.random.Generator) -> mtcool.Graph:
    """The graph that a table of the file describes.

    Examples
    --------
    >>> build_graph(spec.Stars(sizes=[3, 4]), np.random.default_rng(0))
    Graph(7 agents, 5 edges)
    """
    match table:
        case spec.ErdosRenyi():
            return graphs.erdos_renyi(table.agents, table.p, seed)
        case spec.Regular():
            return graphs.regular(table.agents, table.degree, seed)
        case spec.Ring():
            if 2 * table.reach >= table.agents:
                raise ValueError(f"reach must be below agents / 2, got {table.reach}")
            return graphs.circulant(table.agents, 2 * table.reach)
        case spec.Cliques():
            return graphs.cliques(table.sizes)
        case spec.Stars():
            return graphs.stars(table.sizes)
        case spec.Grid():
            return graphs.grid(table.rows, table.columns)
    raise ValueError(f"graph must be read before it is used, got {table.path!r}")


def build_stream(
    point: spec.Point, graph: mtcool.Graph, seed: np.random.SeedSequence
) -> mtcool.Stream:
    """Tasks, activations and losses, each from a generator of its own.

    So a sweep over one of them leaves the draws of the others alone. Linear losses have no tasks
    but directions, which are drawn with them.
    """
    for_tasks, for_agents, for_losses = map(np.random.default_rng, seed.spawn(3))
    agents = _activations(point, graph.size, for_agents)
    table, stream = point.tasks, point.stream
    if stream.loss == "linear":
        if not isinstance(table, spec.Gaussian):
            raise ValueError("tasks.kind must be gaussian for linear losses, got variance")
        return streams.linear_stream(
            graph,
            table.dim,
            point.rounds,
            for_losses,
            stream.drift,
            table.smoothness,
            agents=agents,
        )
    if isinstance(table, spec.Gaussian):
        tasks = streams.gaussian_tasks(graph, table.dim, table.smoothness, for_tasks)
    else:
        tasks = streams.tasks_with_variance(graph, table.dim, table.sigma, for_tasks)
    data = _data_of_own_loss(stream, table.dim) if is_outside(stream.loss) else stream.loss
    settings: Any = {"noise": stream.noise, "agents": agents}
    if data == "quadratic":
        made = streams.quadratic_stream(graph, tasks, point.rounds, for_losses, **settings)
    else:
        settings["kind"] = data
        made = streams.regression_stream(graph, tasks, point.rounds, for_losses, **settings)
    if is_outside(stream.loss):
        losses = streams.Losses(loss_kind(stream), made.losses.rows)
        made = streams.Stream(made.agents, losses, made.comparator, made.labels)
    if stream.comparator == "hindsight":
        radius = max(algorithm.radius for algorithm in point.algorithm)
        best = streams.best_in_hindsight(made, radius)
        made = streams.Stream(made.agents, made.losses, best, made.labels)
    return made


def _data_of_own_loss(stream: spec.Stream, dim: int) -> str:
    """The loss of the package whose rows a loss from outside is given."""
    columns = streams.width(loss_kind(stream), dim)
    if columns not in (dim, dim + 1):
        raise ValueError(
            f"stream.loss must have rows of {dim} numbers, a point, or of {dim + 1}, features and "
            f"a target, got {stream.loss!r} with {columns}"
        )
    data = stream.data or ("quadratic" if columns == dim else "squared")
    if (data == "quadratic") != (columns == dim):
        raise ValueError(
            f"stream.data must {'be' if columns == dim else 'not be'} quadratic for rows of "
            f"{columns} numbers, got {data!r}"
        )
    return data


def build_network(replicate: Replicate, algorithm: spec.Algorithm) -> mtcool.Network:
    """A fresh network that clips gradients to L; the same replicate has the same noise."""
    record, settings = record_of(algorithm), _settings(replicate, algorithm)
    if record.private:
        settings["seed"] = noise_for(replicate.seed, algorithm.name)
    return make_network(record, replicate.graph, replicate.point.tasks.dim, **settings)


def build_settings(replicate: Replicate, algorithm: spec.Algorithm) -> Settings:
    """The settings of that network, without the network."""
    settings = _settings(replicate, algorithm)
    return make_settings(
        record_of(algorithm), replicate.graph, replicate.point.tasks.dim, **settings
    )


def _settings(replicate: Replicate, algorithm: spec.Algorithm) -> dict[str, Any]:
    point, graph, activations, seed = replicate
    settings: dict[str, Any] = {
        "learner": learner_of(algorithm),
        "weights": algorithm.weights,
        "rates": algorithm.rates,
        "lipschitz": algorithm.lipschitz,
        "radius": algorithm.radius,
        "on_excess": "raise" if algorithm.lipschitz == "adaptive" else "clip",
    }
    if algorithm.rates == "estimated":
        q = probabilities(point, graph.size)
        settings |= {"q_min": float(q.min()), "horizon": point.rounds}
    if algorithm.rates == "stochastic" or algorithm.weights == "proportional":
        settings["q"] = probabilities(point, graph.size)
    if record_of(algorithm).private:
        settings["privacy"] = privacy_of(point, algorithm, activations, seed)
    return settings


def probabilities(point: spec.Point, agents: int) -> Floats:
    """The activation probabilities q of stochastic activations."""
    law = point.stream.activations
    if not isinstance(law, spec.Stochastic):
        raise ValueError(
            "stream.activations.kind must be stochastic for rates or weights that need q, "
            f"got {type(law).__struct_config__.tag}"
        )
    weights = np.power(np.arange(1.0, agents + 1.0), -law.skew)
    return np.asarray(weights / weights.sum(), np.float64)


def _activations(point: spec.Point, agents: int, rng: np.random.Generator) -> NDArray[np.int64]:
    match point.stream.activations:
        case spec.RoundRobin():
            return streams.round_robin(point.rounds, agents)
        case spec.Bursts(length=length):
            return streams.bursts(point.rounds, agents, length, rng)
    return streams.stochastic(point.rounds, probabilities(point, agents), rng)
