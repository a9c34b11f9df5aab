"""One agent of ST-FTRL: it keeps one point, and learns from its neighbours' losses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mtcool.agents.agent import learn_row, read_row, scale
from mtcool.agents.messages import LossShared, Message, Rows, label_of
from mtcool.peers.exchange import refuse
from mtcool.peers.protocol import Units
from mtcool.peers.settings import Settings
from mtcool.streams.kinds import kind_of, name_of
from mtcool.streams.loss import Loss
from mtcool.types import Floats, Label, State


class SingleTaskAgent:
    """An agent of ST-FTRL."""

    def __init__(
        self, name: Label, settings: Settings, neighbours: tuple[Label, ...], state: State
    ) -> None:
        self.name, self.settings, self.neighbours, self.state = name, settings, neighbours, state
        self.units = Units(settings.radius, settings.lipschitz, settings.on_excess == "clip")

    def activate(self) -> SingleTaskActivation:
        """Begin a round."""
        return SingleTaskActivation(self)

    def point(self) -> Floats:
        """The agent's own point."""
        x = np.empty(self.settings.dim)
        read_row(self.state, 0, 0, x)
        x *= self.units.radius
        return x

    def receive(self, message: Message) -> None:
        """Learn from the loss of a neighbour."""
        sender = label_of(message.sender)
        if sender not in self.neighbours:
            raise ValueError(f"sender must be a neighbour of agent {self.name!r}, got {sender!r}")
        if not isinstance(message, LossShared):
            raise ValueError(f"message must be a loss, got {message!r}")
        self.take(Loss(kind_of(message.kind, message.parameters), message.row))

    def take(self, loss: Loss) -> None:
        """Learn from a loss at the agent's own point."""
        given = loss.subgradient(self.point())
        g = given.copy()
        if not scale(g, self.units):
            refuse(given, self.settings)
        learn_row(self.state, 0, 0, 1.0, g)


class SingleTaskActivation:
    """A round of a `SingleTaskAgent`."""

    def __init__(self, agent: SingleTaskAgent) -> None:
        self._agent = agent
        self.requests: Mapping[Label, Message] = {}

    def predict(self, answers: Mapping[Label, Rows]) -> Floats:
        """The agent's own point; nobody is asked."""
        return self._agent.point()

    def learn(self, loss: Loss) -> dict[Label, Message]:
        """Learn from the loss; returns it for all neighbours, who learn at their own points."""
        agent = self._agent
        if not isinstance(loss, Loss):
            raise ValueError(f"loss must be a Loss, which can be sent, got {loss!r}")
        message = LossShared(agent.name, name_of(loss.kind), list(loss.kind), loss.row)
        kind_of(message.kind, message.parameters)  # a kind that neighbours know
        agent.take(loss)
        return dict.fromkeys(agent.neighbours, message)
