"""From a point of an experiment and a replicate to graph, stream and networks."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

import mtcool
from mtcool import changes, graphs, streams
from mtcool.algorithms import Algorithm, algorithm
from mtcool.algorithms.making import make_network, make_settings
from mtcool.config import schema
from mtcool.config.algorithms import record_of, settings_of
from mtcool.config.outside import is_outside
from mtcool.experiments.files import spec
from mtcool.experiments.files.in_the_field import changes_network, field_of
from mtcool.experiments.files.named import loss_kind
from mtcool.experiments.running.course import Course
from mtcool.experiments.running.private import noise_for, privacy_of
from mtcool.field.settings import FieldSettings
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Integers, Label


class Replicate(NamedTuple):
    """What the networks of a replicate are made for."""

    point: spec.Point
    graph: mtcool.Graph
    """In the first round."""
    activations: Integers
    """Number of activations of each agent."""
    seed: np.random.SeedSequence
    """Seed for the levels and the noise of private networks."""
    names: Sequence[Label] | None = None
    """Of all agents that ever are; numbers if not given."""
    draws: np.random.SeedSequence | None = None
    """Seed for what messages and delays leave to chance."""

    def graph_for(self, one: schema.AlgorithmSpec) -> mtcool.Graph:
        """Who learns alone needs no edges, so agents that come and go are all there at once."""
        asked = changes_network(self.point) or field_of(self.point, one) is not None
        if not record_of(one).alone or not asked:
            return self.graph
        empty = graphs.edgeless(len(self.activations))
        return mtcool.Graph(empty.ptr, empty.idx, self.names)


def build_stream(
    point: spec.Point,
    graph: mtcool.Graph,
    seed: np.random.SeedSequence,
    course: Course | None = None,
) -> mtcool.Stream:
    """Tasks, activations and losses, each from a generator of its own.

    So a sweep over one of them leaves the draws of the others alone. Linear losses have no tasks
    but directions, which are drawn with them. For a network that changes the graph has all edges
    that ever are, and its course says who is there when.
    """
    for_tasks, for_agents, for_losses = map(np.random.default_rng, seed.spawn(3))
    agents = _activations(point, graph.size, for_agents, course)
    table, stream = point.tasks, point.stream
    if stream.loss == "linear":
        if not isinstance(table, spec.Gaussian):
            kind = type(table).__struct_config__.tag
            raise ValueError(f"tasks.kind must be gaussian for linear losses, got {kind}")
        return streams.linear_stream(
            graph,
            table.dim,
            point.rounds,
            for_losses,
            stream.drift,
            table.smoothness,
            agents=agents,
        )
    tasks = _tasks(table, graph, for_tasks)
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


def _tasks(table: spec.Tasks, graph: mtcool.Graph, rng: np.random.Generator) -> Floats:
    match table:
        case spec.Gaussian(dim, smoothness):
            return streams.gaussian_tasks(graph, dim, smoothness, rng)
        case spec.Variance(sigma, dim):
            return streams.tasks_with_variance(graph, dim, sigma, rng)
    around = {"spread": table.spread, "centre": table.centre}
    return streams.tasks_in_groups(graph, table.dim, table.gap, rng, **around)


def _data_of_own_loss(stream: spec.StreamSpec, dim: int) -> str:
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


def build_network(replicate: Replicate, one: schema.AlgorithmSpec) -> mtcool.Network:
    """A fresh network that clips gradients to L; the same replicate has the same noise."""
    (record, settings), field = _settings(replicate, one), field_of(replicate.point, one)
    if field is not None:
        # All algorithms ask the same questions of chance, and get the same answers.
        settings |= field._asdict() | {"seed": np.random.default_rng(replicate.draws)}
    if record.private:  # whose noise is no question of chance that others ask
        settings["seed"] = noise_for(replicate.seed, one.name)
    return make_network(record, replicate.graph_for(one), replicate.point.tasks.dim, **settings)


def build_settings(replicate: Replicate, one: schema.AlgorithmSpec) -> Settings:
    """The settings of that network, without the network."""
    (record, settings), field = _settings(replicate, one), field_of(replicate.point, one)
    if field is not None:
        settings["field"] = FieldSettings(*field)
    return make_settings(record, replicate.graph_for(one), replicate.point.tasks.dim, **settings)


def _settings(replicate: Replicate, one: schema.AlgorithmSpec) -> tuple[Algorithm, dict[str, Any]]:
    """The record of an algorithm, and what its networks are told."""
    point, record = replicate.point, record_of(one)
    settings = settings_of(one)
    if one.rates == "estimated":
        q = probabilities(point, replicate.graph.size)
        settings |= {"q_min": float(q.min()), "horizon": point.rounds}
    if one.rates == "stochastic" or one.weights == "proportional":
        settings["q"] = probabilities(point, replicate.graph.size)
    if record.private:
        settings["privacy"] = privacy_of(point, one, replicate.activations, replicate.seed)
    if record.alone and field_of(point, one) is not None:
        # Labels are late. Without edges MT-CO2OL is learning alone, and it knows how to wait.
        return algorithm("mt_co2ol"), settings | {"rates": "adaptive"}
    return record, settings


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


def _activations(
    point: spec.Point, agents: int, rng: np.random.Generator, course: Course | None
) -> NDArray[np.int64]:
    law = point.stream.activations
    if course is not None and (course.comes_and_goes or isinstance(point.network, spec.Churn)):
        if law != spec.Stochastic():
            raise ValueError(
                "stream.activations must be stochastic without skew where agents come and go, "
                f"got {msgspec.to_builtins(law)!r}"
            )
        schedule = course.schedule or changes.Schedule([])
        return changes.activations(course.start, schedule, point.rounds, seed=rng)
    match law:
        case spec.RoundRobin():
            return streams.round_robin(point.rounds, agents)
        case spec.Bursts(length=length):
            return streams.bursts(point.rounds, agents, length, rng)
    return streams.stochastic(point.rounds, probabilities(point, agents), rng)
