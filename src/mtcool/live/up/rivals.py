"""Learners to compare a network with, fed with the same rows in the same order as they finish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import mtcool
from mtcool.graphs import Graph
from mtcool.learn import Model
from mtcool.live.config import Description
from mtcool.live.scoring import price_of
from mtcool.live.streams import Row
from mtcool.streams import Loss
from mtcool.streams.kinds import kind_of
from mtcool.types import Label

EVERYBODY = "everybody"


class Rival:
    """One model for all agents ("pooled"), or one for each of them ("alone")."""

    def __init__(self, network: Description, *, pooled: bool) -> None:
        self._pooled = pooled
        labels = [EVERYBODY] if pooled else list(network.graph.labels)
        self._price = price_of(network)
        learn, table = network.file.learn, network.file.algorithm
        self._model: Model | None = None
        if learn is not None:
            self._model = Model(Graph.from_edges([], labels=labels), task=learn.task)
            self._model.expect_features(len(learn.features))
            return
        assert table is not None  # one of the two is given
        self._kind = None if table.loss is None else kind_of(table.loss)
        self._table = table
        self._agents = self._fresh(labels)

    def _fresh(self, labels: Sequence[Label]) -> dict[Label, Any]:
        table = self._table
        by_itself = mtcool.i_ftrl(
            Graph.from_edges([], labels=labels),
            table.dim,
            lipschitz=table.lipschitz,
            radius=table.radius,
            on_excess="raise" if table.lipschitz == "adaptive" else "clip",
        )
        return {label: by_itself.agent(label) for label in labels}

    def join(self, network: Description) -> None:
        """Be ready for agents that have joined the network; those that left may come back."""
        if self._pooled:
            return
        assert self._model is None  # tables say themselves what they pay alone
        new = [label for label in network.graph.labels if label not in self._agents]
        if new:
            self._agents |= self._fresh(new)

    def pay(self, row: Row) -> float | None:
        """Predict the row and learn from it; returns the loss."""
        agent = EVERYBODY if self._pooled else row.agent
        if self._model is not None:
            assert row.features is not None  # tables have features
            assert row.target is not None
            assert self._price is not None
            features = np.array(row.features)
            value = float(self._model.predict_one(agent, features))
            self._model.learn_one(agent, features, row.target)
            return self._price(value, row.target)
        loss = self._loss(row)
        turn = self._agents[agent].activate()
        paid, gradient = loss(turn.predict({}))
        turn.learn(gradient)
        return paid

    def _loss(self, row: Row) -> Loss:
        if row.loss is not None:
            kind, numbers = row.loss
            return Loss(kind_of(kind), np.array(numbers))
        assert self._kind is not None  # rows with targets need a loss
        return Loss(self._kind, np.array([*(row.features or ()), row.target]))
