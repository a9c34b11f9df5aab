"""One agent of MT-CO2OL, of i-FTRL, or of the pairwise approach: it keeps cliques of rows."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.agents.agent import Clique, Link, OneShot, answer_of
from mtcool.agents.kernels import combine, learn_row, read_row, scale
from mtcool.agents.messages import Gradient, Message, RowRequest, Rows, brief, sender_of
from mtcool.agents.received import Position, checked_number
from mtcool.axes import restore, state_arrays
from mtcool.graphs.labels import plain_name
from mtcool.learners import Cliques, Learner
from mtcool.learners.two_phase import TwoPhase
from mtcool.peers.exchange import refuse
from mtcool.peers.settings import Settings
from mtcool.types import AnyArray, Floats, Label


class CliqueAgent:
    """An agent of MT-CO2OL, of i-FTRL, or of the pairwise approach.

    Examples
    --------
    >>> import mtcool
    >>> agent = mtcool.i_ftrl(mtcool.graphs.star(4), dim=1).agent(3)
    >>> activation = agent.activate()
    >>> activation.predict({})
    array([0.])
    >>> activation.learn([0.5])  # alone, it tells nobody
    {}
    """

    def __init__(
        self,
        name: Label,
        settings: Settings,
        links: tuple[Link, ...],
        cliques: tuple[Clique, ...],
        first_phase: int = 0,
        arrays: Mapping[str, AnyArray] | None = None,
        heard: Mapping[Label, Position] | None = None,
        activations: int = 0,
    ) -> None:
        self.name, self.settings, self.links, self.cliques = name, settings, links, cliques
        self.sender = plain_name(name, "sent")
        self.first_phase = first_phase
        self.heard = dict(heard or {})
        """What was taken of each listener."""
        self.activations = activations
        """How many activations it has learned from: the number of its last message."""
        self.units = settings.units
        self.weights = np.array([link.weight for link in links])
        learner: Learner = settings.clique_learner
        if first_phase:
            weights = np.array([w for clique in cliques for w in clique.weights.values()])
            weights.setflags(write=False)
            learner = TwoPhase(learner, weights, first_phase)
        self.given = given_cliques(cliques)
        self.state = learner.make_state(self.given, settings.dim)
        if arrays is not None:
            restore(self.state, arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: NumPy's own copies would not be read-only where ours are, and
        # everything would be compiled anew for them.
        arrays = {name: array.copy() for name, array in state_arrays(self.state)}
        given = (self.name, self.settings, self.links, self.cliques, self.first_phase)
        return CliqueAgent, (*given, arrays, copy.deepcopy(self.heard), self.activations)

    def activate(self) -> CliqueActivation:
        """Begin a round."""
        return CliqueActivation(self)

    def row(self, clique: Clique, asker: Label) -> Floats:
        """The model of an agent's task.

        Parameters
        ----------
        clique
            One that it keeps.
        asker
            Whose task is meant.
        """
        model = np.empty(self.settings.dim)
        read_row(self.state, clique.number, clique.rows[asker], model)
        return model

    def receive(self, message: Message) -> Message | None:
        """Take a message; a request is answered. A gradient that was taken before is ignored.

        Parameters
        ----------
        message
            A request, or a gradient.
        """
        sender = sender_of(message)
        clique = next((one for one in self.cliques if sender in one.rows), None)
        if clique is None:
            raise ValueError(f"sender must be a listener of agent {self.name!r}, got {sender!r}")
        if isinstance(message, RowRequest):
            return Rows(self.sender, self.row(clique, sender), np.empty(0))
        if not isinstance(message, Gradient):
            raise ValueError(f"message must be a request or a gradient, got {brief(message)}")
        if sender == self.name:
            raise ValueError(f"sender must be another agent, got {sender!r}: it has learned this")
        number = checked_number(message.number)
        gradient = validation.vector("gradient", message.gradient, self.settings.dim)
        norm, limit = math.hypot(*gradient), self.units.limit
        if not norm <= limit:
            raise ValueError(f"gradient must have norm at most {limit:g}, got norm {norm}")
        if self.heard.setdefault(sender, Position()).take(number):
            weight = clique.weights[sender]
            learn_row(self.state, clique.number, clique.rows[sender], weight, gradient)
        return None


class CliqueActivation(OneShot):
    """A round of a `CliqueAgent`."""

    def __init__(self, agent: CliqueAgent) -> None:
        super().__init__(agent)
        self._agent = agent
        request = RowRequest(agent.sender)
        self.requests: Mapping[Label, Message] = {
            link.keepers[0]: request for link in agent.links if link.own is None
        }

    def predict(self, answers: Mapping[Label, Rows]) -> Floats:
        """Average all models of the agent's task, its own included."""
        agent, x = self._agent, np.empty(self._agent.settings.dim)
        models = [
            agent.row(link.own, agent.name)
            if link.own is not None
            else answer_of(answers, link.keepers[0], agent.settings.dim).model
            for link in agent.links
        ]
        combine(np.array(models), agent.weights, agent.units.radius, x)
        return x

    def learn(self, gradient: ArrayLike) -> dict[Label, Message]:
        """Let the agent's own cliques learn; returns the gradient for the keepers of the others."""
        self.check_open()
        agent = self._agent
        given = validation.vector("gradient", gradient, agent.settings.dim)
        g = given.copy()
        if not scale(g, agent.units):
            refuse(given, agent.settings)
        self.close()
        agent.activations += 1
        message = Gradient(agent.sender, float(agent.activations), g)
        messages: dict[Label, Message] = {}
        for link in agent.links:
            if link.own is not None:
                row = link.own.rows[agent.name]
                learn_row(agent.state, link.own.number, row, link.weight, g)
            messages.update(dict.fromkeys(link.keepers, message))
        return messages


def given_cliques(cliques: tuple[Clique, ...]) -> Cliques:
    """The cliques that an agent keeps, as a learner wants them."""
    start = np.cumsum([0, *(len(clique.rows) for clique in cliques)])
    start.setflags(write=False)
    bound = np.array([max(clique.weights.values(), default=0.0) for clique in cliques])
    return Cliques(start, bound, bound)
