"""From the description of a network to the agents of one host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from msgspec.structs import asdict

import mtcool
from mtcool import memory
from mtcool.agents import FieldAgent
from mtcool.algorithms.making import make_network
from mtcool.config import schema
from mtcool.config.algorithms import aggregator_of, record_of, settings_of
from mtcool.graphs import Graph
from mtcool.learn import Model
from mtcool.live.description import tables
from mtcool.live.description.part import part_of, within
from mtcool.live.description.reading import Description, index_of
from mtcool.live.driving import Driver, GradientDriver, TableDriver
from mtcool.network import Network
from mtcool.streams.kinds import kind_of
from mtcool.streams.losses import Kind
from mtcool.types import Label

NUMBER = 8  # bytes
_Whole = TypeVar("_Whole", Model, Network)


def drivers_of(description: Description) -> Callable[[Label], Driver]:
    """How to make a fresh agent by its name; it goes on when it is given what it has kept.

    An agent of the first description is cut out of its network; where an agent depends on its
    neighbours alone, out of the part of the network that its host needs, so that a host of a large
    network begins as fast as one of a small one. An agent that comes later is new, and has no
    neighbours until it meets them. So have all agents of later descriptions: one that is read in a
    replay may know neighbours that an agent had not met yet when it joined.
    """
    table = description.file.algorithm
    if table is None:
        models = _by_host(description, functools.partial(_model, description), 1)
        return functools.partial(_table_driver, description, models)
    if _changes(description, table):
        make = functools.partial(_network, description, table)
        networks = _by_host(description, make, 2)
        return functools.partial(_changing_driver, description, table, networks)
    return functools.partial(_gradient_driver, description, table, network_of(description))


def _by_host(
    description: Description, make: Callable[[Graph], _Whole], steps: int
) -> Callable[[Label], _Whole]:
    """Makes what the agents of one host are cut out of: they, and who is so many edges away.

    One edge leads to their neighbours; the second to all who give these their weights. The last
    one is kept, because agents are made host by host.
    """
    graph, home = description.graph, description.home

    @functools.lru_cache(maxsize=1)
    def of_host(host: str) -> _Whole:
        own = np.array([graph.index(agent) for agent in description.agents_of(host)], np.int64)
        return make(part_of(graph, within(graph, own, steps)))

    anywhere = next(iter(description.places))
    return lambda agent: of_host(home.get(agent, anywhere))


def _table_driver(
    description: Description, models: Callable[[Label], Model], name: Label
) -> Driver:
    model = models(name)
    if name in description.home and not description.file.revision:
        return TableDriver(model.agent(name))
    only = Model(Graph.from_edges([], labels=[name]), task=model.task, share=model.share)
    only.expect_features(len(description.features))
    return TableDriver(only.agent(name))


def _changing_driver(
    description: Description,
    table: tables.Algorithm,
    networks: Callable[[Label], Network],
    name: Label,
) -> Driver:
    network, index = networks(name), index_of(name)
    if description.file.revision or name not in description.home:
        agent = FieldAgent(name, index, network.settings)
    else:
        agent = cast(FieldAgent, network.agent(name))
        agent.order(index, {other: index_of(other) for other in agent.neighbours})
    return GradientDriver(agent, *_judged(description, table, name))


def _gradient_driver(
    description: Description, table: tables.Algorithm, network: Network, name: Label
) -> Driver:
    agent: Any = network.agent(name)
    if description.private:
        agent = agent.with_noise()
    return GradientDriver(agent, *_judged(description, table, name))


def _judged(
    description: Description, table: tables.Algorithm, name: Label
) -> tuple[Kind | None, Any]:
    """The loss of an agent that is given features, and an agent that learns alone from them."""
    if table.loss is None:
        return None, None
    return kind_of(table.loss), None if description.private else _alone(table, name)


def _changes(description: Description, table: tables.Algorithm) -> bool:
    """Whether the graph may change: agents know nothing of others but what neighbours say.

    Agents in the field, whose neighbours come and go, must know how long gradients may be.
    """
    uniform = table.algorithm == "mt_co2ol" and table.weights == "uniform"
    return uniform and table.lipschitz != "adaptive" and not description.private


def model_of(description: Description) -> Model:
    """The whole network as one model for tables."""
    return _model(description, description.graph)


def _model(description: Description, graph: Graph) -> Model:
    learn = description.file.learn
    if learn is None:
        raise ValueError("network must learn from tables, got an algorithm")
    count = len(learn.features)
    memory.require("number of learn.features", count, NUMBER * graph.size * (count + 1) ** 2)
    model = Model(graph, task=learn.task, share=learn.share)
    model.expect_features(count)
    return model


def network_of(description: Description) -> Network:
    """The whole network as one block, as a simulation would have it."""
    table = description.file.algorithm
    if table is None:
        raise ValueError("network must have an algorithm, got one that learns from tables")
    return _network(description, table, description.graph)


def _network(description: Description, table: tables.Algorithm, graph: Graph) -> Network:
    own = {"dim", "loss"}
    shared = {key: value for key, value in asdict(table).items() if key not in own}
    one = schema.Algorithm(name="live", **shared)
    record, settings = record_of(one), settings_of(one)
    if description.file.privacy is not None:
        level = description.file.privacy
        settings["privacy"] = mtcool.Privacy(
            level.epsilon,
            level.horizon,
            delta=level.delta if table.law == "gaussian" else None,
            aggregator=aggregator_of(one),
            noise=level.noise,
        )
    elif _changes(description, table):
        settings["messages"] = mtcool.Messages()
    memory.require("algorithm.dim", table.dim, NUMBER * graph.size * table.dim)
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
