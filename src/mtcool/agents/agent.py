"""One agent by itself: its own state, messages in, messages out, and nothing else.

An agent has no clock, no socket, no thread and no randomness but the noise it is given. Whoever
carries the messages (a test, a simulated network with faults, or a real one) plays a round so:

    activation = agent.activate()                         # 1.
    answers = {to: others[to].receive(request) for to, request in activation.requests.items()}
    x = activation.predict(answers)                       # 2. and 3.
    for to, message in activation.learn(gradient).items():  # 4. and 5.
        others[to].receive(message)

The same learner functions run as in a network of many agents, so both give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.agents.messages import Gradient, Message, RowRequest, Rows, label_of
from mtcool.kernels import kernel
from mtcool.learners.learner import predict_row, update_row
from mtcool.peers.exchange import refuse
from mtcool.peers.protocol import SLACK, Units, average, to_units
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Label, State

Feedback = TypeVar("Feedback", contravariant=True)
"""A gradient; for ST-FTRL the loss itself."""


class Activation(Protocol[Feedback]):
    """One round of one agent; several may be under way."""

    @property
    def requests(self) -> Mapping[Label, Message]:
        """Step 2: what to ask, and whom."""

    def predict(self, answers: Mapping[Label, Rows]) -> Floats:
        """Step 3: the prediction, from the answers of all that were asked."""

    def learn(self, gradient: Feedback, /) -> dict[Label, Message]:
        """Step 5: learn from the gradient at the prediction; returns what to tell, and whom."""


class Agent(Protocol):
    """What whoever carries the messages needs to know of an agent, of whatever kind."""

    name: Label
    settings: Settings

    def activate(self) -> Activation[Any]:
        """Begin a round."""

    def receive(self, message: Message) -> Message | None:
        """Take a message; a request is answered."""


class Clique(NamedTuple):
    """A virtual clique that an agent keeps: whose tasks it models, and where."""

    number: int
    """Its place among the cliques of the agent."""
    rows: Mapping[Label, int]
    """Row of every agent whose task it models."""


class Link(NamedTuple):
    """A clique that an agent listens to."""

    neighbour: Label
    """Whom it listens to: the agent itself, or a neighbour."""
    keepers: tuple[Label, ...]
    """The other agents that keep the clique."""
    weight: float
    own: Clique | None
    """The clique, if the agent keeps it itself: then it asks nobody."""


class CliqueAgent:
    """An agent of MT-CO2OL, of i-FTRL, or of the pairwise approach."""

    def __init__(
        self,
        name: Label,
        settings: Settings,
        links: tuple[Link, ...],
        cliques: tuple[Clique, ...],
        state: State,
    ) -> None:
        self.name, self.settings, self.links, self.cliques = name, settings, links, cliques
        self.state = state
        self.units = Units(settings.radius, settings.lipschitz, settings.on_excess == "clip")
        self.weights = np.array([link.weight for link in links])

    def activate(self) -> CliqueActivation:
        """Begin a round."""
        return CliqueActivation(self)

    def row(self, clique: Clique, asker: Label) -> Floats:
        """The model of an agent's task."""
        model = np.empty(self.settings.dim)
        read_row(self.state, clique.number, clique.rows[asker], model)
        return model

    def receive(self, message: Message) -> Message | None:
        """Take a message; a request is answered."""
        sender = label_of(message.sender)
        clique = next((one for one in self.cliques if sender in one.rows), None)
        if clique is None:
            raise ValueError(f"sender must be a listener of agent {self.name!r}, got {sender!r}")
        if isinstance(message, RowRequest):
            return Rows(self.name, self.row(clique, sender), np.empty(0))
        if not isinstance(message, Gradient):
            raise ValueError(f"message must be a request or a gradient, got {message!r}")
        gradient = validation.vector("gradient", message.gradient, self.settings.dim)
        weight = validation.positive("weight", message.weight)
        if not math.hypot(*gradient) <= SLACK:
            raise ValueError(f"gradient must have norm at most 1, got norm {math.hypot(*gradient)}")
        learn_row(self.state, clique.number, clique.rows[sender], weight, gradient)
        return None


class CliqueActivation:
    """A round of a `CliqueAgent`."""

    def __init__(self, agent: CliqueAgent) -> None:
        self._agent = agent
        request = RowRequest(agent.name)
        self.requests = {link.keepers[0]: request for link in agent.links if link.own is None}

    def predict(self, answers: Mapping[Label, Rows]) -> Floats:
        """Average all models of the agent's task, its own included."""
        agent, x = self._agent, np.empty(self._agent.settings.dim)
        models = [
            agent.row(link.own, agent.name)
            if link.own is not None
            else _model(answers, link.keepers[0], agent.settings.dim)
            for link in agent.links
        ]
        combine(np.array(models), agent.weights, agent.units.radius, x)
        return x

    def learn(self, gradient: ArrayLike) -> dict[Label, Message]:
        """Let the agent's own cliques learn; returns the gradient for the keepers of the others."""
        agent = self._agent
        given = validation.vector("gradient", gradient, agent.settings.dim)
        g = given.copy()
        if not scale(g, agent.units):
            refuse(given, agent.settings)
        messages: dict[Label, Message] = {}
        for link in agent.links:
            if link.own is not None:
                row = link.own.rows[agent.name]
                learn_row(agent.state, link.own.number, row, link.weight, g)
            for keeper in link.keepers:
                messages[keeper] = Gradient(agent.name, link.weight, g)
        return messages


def _model(answers: Mapping[Label, Rows], name: Label, dim: int) -> Floats:
    if name not in answers:
        raise ValueError(f"answers must have one of agent {name!r}, got {list(answers)!r}")
    return validation.vector(f"model of agent {name!r}", answers[name].model, dim)


@kernel
def read_row(state: State, clique: int, row: int, out: Floats) -> None:
    """`predict_row`, for callers in Python."""
    predict_row(state, clique, row, out)


@kernel
def learn_row(state: State, clique: int, row: int, weight: float, gradient: Floats) -> None:
    """`update_row`, for callers in Python."""
    update_row(state, clique, row, weight, gradient)


@kernel
def combine(models: Floats, weights: Floats, radius: float, x: Floats) -> None:
    """`average`, for callers in Python."""
    average(models, weights, radius, x)


@kernel
def scale(gradient: Floats, units: Units) -> bool:
    """`to_units`, for callers in Python."""
    return to_units(gradient, units)
