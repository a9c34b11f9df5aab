"""From the description of a network that learns from tables to its agents."""

from __future__ import annotations

import functools
from collections.abc import Callable

from mtcool import memory
from mtcool.graphs import Graph
from mtcool.learn import Model
from mtcool.live.agents import Driver
from mtcool.live.agents.tables import TableDriver
from mtcool.live.config.part import by_host
from mtcool.live.config.reading import Description
from mtcool.types import Label

NUMBER = 8  # bytes


def table_drivers(description: Description) -> Callable[[Label], Driver]:
    """How to make a fresh agent by its name (`drivers_of`)."""
    models = by_host(description, functools.partial(_model, description), 1)
    return functools.partial(_table_driver, description, models)


def _table_driver(
    description: Description, models: Callable[[Label], Model], name: Label
) -> Driver:
    model = models(name)
    if name in description.home and not description.file.revision:
        return TableDriver(model.agent(name))
    only = Model(Graph.from_edges([], labels=[name]), task=model.task, share=model.share)
    only.expect_features(len(description.features))
    return TableDriver(only.agent(name))


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
