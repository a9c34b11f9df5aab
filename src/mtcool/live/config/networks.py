"""From the description of a network with an algorithm to its agents."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

from msgspec.structs import asdict

import mtcool
from mtcool import memory
from mtcool.agents import FieldAgent
from mtcool.algorithms.making import make_network
from mtcool.config import schema
from mtcool.config.algorithms import aggregator_of, record_of, settings_of
from mtcool.graphs import Graph
from mtcool.live.agents import Driver
from mtcool.live.agents.gradients import GradientDriver
from mtcool.live.config import tables
from mtcool.live.config.part import by_host
from mtcool.live.config.reading import Description, index_of
from mtcool.network import Network
from mtcool.streams.kinds import kind_of
from mtcool.streams.losses import Kind
from mtcool.types import Label

NUMBER = 8  # bytes


def gradient_drivers(description: Description) -> Callable[[Label], Driver]:
    """How to make a fresh agent by its name (`drivers_of`)."""
    table = _algorithm_of(description)
    if _changes(description, table):
        make = functools.partial(_network, description, table)
        networks = by_host(description, make, 2)
        return functools.partial(_changing_driver, description, table, networks)
    return functools.partial(_gradient_driver, description, table, network_of(description))


def _changing_driver(
    description: Description,
    table: tables.AlgorithmTable,
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
    description: Description, table: tables.AlgorithmTable, network: Network, name: Label
) -> Driver:
    agent: Any = network.agent(name)
    if description.private:
        agent = agent.with_noise()
    return GradientDriver(agent, *_judged(description, table, name))


def _judged(
    description: Description, table: tables.AlgorithmTable, name: Label
) -> tuple[Kind | None, Any]:
    """The loss of an agent that is given features, and an agent that learns alone from them."""
    if table.loss is None:
        return None, None
    return kind_of(table.loss), None if description.private else _alone(table, name)


def _changes(description: Description, table: tables.AlgorithmTable) -> bool:
    """Whether the graph may change: agents know nothing of others but what neighbours say.

    Agents in the field, whose neighbours come and go, must know how long gradients may be.
    """
    uniform = table.algorithm == "mt_co2ol" and table.weights == "uniform"
    return uniform and table.lipschitz != "adaptive" and not description.private


def network_of(description: Description) -> Network:
    """The whole network as one block, as a simulation would have it."""
    return _network(description, _algorithm_of(description), description.graph)


def _algorithm_of(description: Description) -> tables.AlgorithmTable:
    table = description.file.algorithm
    if table is None:
        raise ValueError("network must have an algorithm, got one that learns from tables")
    return table


def _network(description: Description, table: tables.AlgorithmTable, graph: Graph) -> Network:
    own = {"dim", "loss"}
    shared = {key: value for key, value in asdict(table).items() if key not in own}
    one = schema.AlgorithmSpec(name="live", **shared)
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


def _alone(table: tables.AlgorithmTable, name: Label) -> Any:  # noqa: ANN401 (a CliqueAgent)
    """An agent of the same name and units that has no neighbours."""
    by_itself = mtcool.i_ftrl(
        Graph.from_edges([], labels=[name]),
        table.dim,
        lipschitz=table.lipschitz,
        radius=table.radius,
        on_excess="raise" if table.lipschitz == "adaptive" else "clip",
    )
    return by_itself.agent(name)
