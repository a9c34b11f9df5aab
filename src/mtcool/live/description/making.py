"""From the description of a network to the agents of one host."""

from __future__ import annotations

from typing import Any

import mtcool
from mtcool.algorithms.making import make_network
from mtcool.experiments.files import spec
from mtcool.experiments.files.named import aggregator_of, learner_of, record_of
from mtcool.graphs import Graph
from mtcool.learn import Model
from mtcool.live.description import tables
from mtcool.live.description.reading import Description
from mtcool.live.driving import Driver, GradientDriver, TableDriver
from mtcool.network import Network
from mtcool.streams.kinds import kind_of
from mtcool.types import Label


def drivers_of(description: Description, host: str) -> dict[Label, Driver]:
    """Fresh agents of a host, which go on when they are given what they have kept."""
    names = description.agents_of(host)
    if description.file.learn is not None:
        model = model_of(description)
        return {name: TableDriver(model.agent(name)) for name in names}
    table = description.file.algorithm
    assert table is not None  # one of the two is given
    network = network_of(description)
    kind = None if table.loss is None else kind_of(table.loss)
    drivers: dict[Label, Driver] = {}
    for name in names:
        agent: Any = network.agent(name)
        if description.private:
            agent = agent.with_noise()
        alone = None
        if kind is not None and not description.private:
            alone = _alone(table, name)
        drivers[name] = GradientDriver(agent, kind, alone)
    return drivers


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
