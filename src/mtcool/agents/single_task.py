"""One agent of ST-FTRL: it keeps one point, and learns from its neighbours' losses."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from mtcool.agents.agent import OneShot
from mtcool.agents.kernels import learn_row, read_row, scale
from mtcool.agents.messages import LossShared, Message, Rows, brief, sender_of
from mtcool.agents.received import Position, checked_number
from mtcool.axes import restore, state_arrays
from mtcool.graphs.labels import plain_name
from mtcool.learners import Cliques
from mtcool.peers.exchange import refuse
from mtcool.peers.settings import Settings
from mtcool.streams.kinds import kind_of, name_of
from mtcool.streams.loss import Loss
from mtcool.types import AnyArray, Floats, Label

ALONE = Cliques(np.arange(2), np.ones(1), np.ones(1))
"""The one clique, of one row, that an agent keeps."""
ALONE.start.setflags(write=False)


class SingleTaskAgent:
    """An agent of ST-FTRL.

    Examples
    --------
    >>> import mtcool
    >>> agent = mtcool.st_ftrl(mtcool.graphs.star(4), dim=1).agent(3)
    >>> loss = mtcool.streams.Loss(mtcool.streams.Quadratic(), [0.5])
    >>> messages = agent.activate().learn(loss)
    >>> messages[0].kind
    'quadratic'
    """

    def __init__(
        self,
        name: Label,
        settings: Settings,
        neighbours: tuple[Label, ...],
        arrays: Mapping[str, AnyArray] | None = None,
        heard: Mapping[Label, Position] | None = None,
        activations: int = 0,
    ) -> None:
        self.name, self.settings, self.neighbours = name, settings, neighbours
        self.sender = plain_name(name, "sent")
        self.heard, self.activations = dict(heard or {}), activations
        self.units = settings.units
        self.state = settings.clique_learner.make_state(ALONE, settings.dim)
        if arrays is not None:
            restore(self.state, arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, as in `CliqueAgent`.
        arrays = {name: array.copy() for name, array in state_arrays(self.state)}
        given = (self.name, self.settings, self.neighbours)
        return SingleTaskAgent, (*given, arrays, copy.deepcopy(self.heard), self.activations)

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
        """Learn from the loss of a neighbour; one that was taken before is ignored.

        Parameters
        ----------
        message
            The loss of a neighbour.
        """
        sender = sender_of(message)
        if sender not in self.neighbours:
            raise ValueError(f"sender must be a neighbour of agent {self.name!r}, got {sender!r}")
        if not isinstance(message, LossShared):
            raise ValueError(f"message must be a loss, got {brief(message)}")
        number, position = checked_number(message.number), self.heard.get(sender, Position())
        if position.has(number):  # at today's point its gradient could be refused
            return
        gradient = self.gradient_of(Loss(kind_of(message.kind, message.parameters), message.row))
        self.heard[sender] = position
        position.take(number)
        learn_row(self.state, 0, 0, 1.0, gradient)

    def gradient_of(self, loss: Loss) -> Floats:
        """The gradient at the agent's own point, in units of `lipschitz`.

        Parameters
        ----------
        loss
            A loss of its own, or of a neighbour.
        """
        given = loss.subgradient(self.point())
        g = given.copy()
        if not scale(g, self.units):
            refuse(given, self.settings)
        return g


class SingleTaskActivation(OneShot):
    """A round of a `SingleTaskAgent`."""

    def __init__(self, agent: SingleTaskAgent) -> None:
        super().__init__(agent)
        self._agent = agent
        self.requests: Mapping[Label, Message] = {}

    def predict(self, answers: Mapping[Label, Rows]) -> Floats:
        """The agent's own point; nobody is asked."""
        return self._agent.point()

    def learn(self, loss: Loss) -> dict[Label, Message]:
        """Learn from the loss; returns it for all neighbours, who learn at their own points."""
        self.check_open()
        agent = self._agent
        if not isinstance(loss, Loss):
            raise ValueError(f"loss must be a Loss, which can be sent, got {loss!r}")
        kind, parameters = name_of(loss.kind), list(loss.kind)
        kind_of(kind, parameters)  # a kind that neighbours know
        gradient = agent.gradient_of(loss)
        self.close()
        agent.activations += 1
        learn_row(agent.state, 0, 0, 1.0, gradient)
        message = LossShared(agent.sender, float(agent.activations), kind, parameters, loss.row)
        return dict.fromkeys(agent.neighbours, message)
