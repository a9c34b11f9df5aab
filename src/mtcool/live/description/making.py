"""From the description of a network to the agents of one host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import mtcool
from mtcool.agents import FieldAgent
from mtcool.algorithms.making import make_network
from mtcool.experiments.files import spec
from mtcool.experiments.files.named import aggregator_of, learner_of, record_of
from mtcool.graphs import Graph
from mtcool.learn import Model
from mtcool.live.description import tables
from mtcool.live.description.reading import Description, index_of
from mtcool.live.driving import Driver, GradientDriver, TableDriver
from mtcool.network import Network
from mtcool.streams.kinds import kind_of
from mtcool.types import Label


def drivers_of(description: Description) -> Callable[[Label], Driver]:
    """How to make a fresh agent by its name; it goes on when it is given what it has kept.

    An agent of the first description is cut out of its network. One that comes later is new, and
    has no neighbours until it meets them.
    """
    table = description.file.algorithm
    if table is None:
        return functools.partial(_table_driver, description, model_of(description))
    return functools.partial(_gradient_driver, description, table, network_of(description))


def _table_driver(description: Description, model: Model, name: Label) -> Driver:
    if name in description.home:
        return TableDriver(model.agent(name))
    only = Model(Graph.from_edges([], labels=[name]), task=model.task, share=model.share)
    only.expect_features(len(description.features))
    return TableDriver(only.agent(name))


def _gradient_driver(
    description: Description, table: tables.Algorithm, network: Network, name: Label
) -> Driver:
    kind = None if table.loss is None else kind_of(table.loss)
    alone = _alone(table, name) if kind is not None and not description.private else None
    agent: Any
    if network.settings.field is not None and (
        description.file.revision or not _has(network, name)
    ):
        index = index_of(name)
        return GradientDriver(FieldAgent(name, index, network.settings), kind, alone)
    agent = network.agent(name)
    if isinstance(agent, FieldAgent):
        agent.order(index_of(name), {other: index_of(other) for other in agent.neighbours})
    return GradientDriver(agent.with_noise() if description.private else agent, kind, alone)


def _has(network: Network, name: Label) -> bool:
    return name in network.graph.labels


def model_of(description: Description) -> Model:
    """The whole network as one model for tables."""
    learn = description.file.learn
    if learn is None:
        raise ValueError("network must learn from tables, got an algorithm")
    model = Model(description.graph, task=learn.task, share=learn.share)
    model.expect_features(len(learn.features))
    return model


def network_of(description: Description) -> Network:
    """The whole network as one block, as a simulation would have it."""
    table = description.file.algorithm
    if table is None:
        raise ValueError("network must have an algorithm, got one that learns from tables")
    return _network(description, table, description.graph)


def _network(description: Description, table: tables.Algorithm, graph: Graph) -> Network:
    one = spec.Algorithm(
        name="live",
        algorithm=table.algorithm,
        learner=table.learner,
        learner_parameters=table.learner_parameters,
        experts=table.experts,
        aggregator=table.aggregator,
        aggregator_parameters=table.aggregator_parameters,
        law=table.law,
    )
    record = record_of(one)
    settings: dict[str, Any] = {
        "learner": learner_of(one),
        "weights": table.weights,
        "rates": table.rates,
        "lipschitz": table.lipschitz,
        "radius": table.radius,
        "on_excess": "raise" if table.lipschitz == "adaptive" else "clip",
    }
    if description.file.privacy is not None:
        level = description.file.privacy
        settings["privacy"] = mtcool.Privacy(
            level.epsilon,
            level.horizon,
            delta=level.delta if table.law == "gaussian" else None,
            aggregator=aggregator_of(one),
            noise=level.noise,
        )
    elif table.algorithm == "mt_co2ol" and table.weights == "uniform":
        settings["messages"] = mtcool.Messages()  # agents whose graph may change
    return make_network(record, graph, table.dim, **settings)


def _alone(table: tables.Algorithm, name: Label) -> Any:  # noqa: ANN401 (a CliqueAgent)
    """An agent of the same name and units that has no neighbours."""
    by_itself = mtcool.i_ftrl(
        Graph.from_edges([], labels=[name]),
        table.dim,
        lipschitz=table.lipschitz,
        radius=table.radius,
        on_excess="raise" if table.lipschitz == "adaptive" else "clip",
    )
    return by_itself.agent(name)
