"""Private agents in one process, with messages between them that are late or lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mtcool.agents.field.post import LOST, UnderWay, Waits
from mtcool.agents.messages import Rows, decode, encode, sender_of
from mtcool.agents.private import PrivateActivation, PrivateAgent
from mtcool.field import Delays
from mtcool.field.draws import seed_number
from mtcool.field.settings import FieldSettings
from mtcool.peers.field.making import rules_of
from mtcool.seeds import Seed
from mtcool.types import Floats, Given, Label


@dataclass(frozen=True)
class Place:
    """An agent, and where it stands among all, on which draws depend."""

    name: Label
    index: int


class Letter(NamedTuple):
    """What is under way: sums for an agent, or rows that it asked a neighbour for in a round."""

    receiver: Label
    content: bytes
    number: int | None = None
    """Of the round, if these are rows."""


class PrivateCarrier:
    """Carries the messages of private agents, which may be late or lost.

    A newer sum replaces an older one: one that is late does no harm, and one that is lost is made
    up for by the next. An agent uses the newest rows of each neighbour that have arrived, and rows
    of zeros before any has. Privacy levels are as ever, because everything is computed from what
    was published. Every message travels as bytes.

    Parameters
    ----------
    agents
        All agents of a private network, `net.agents().values()`.
    delays
        How late sums (`gradients`), answers (`rows`) and labels are, and which share is lost.
    seed
        Of what is left to chance.

    Examples
    --------
    >>> import mtcool
    >>> net = mtcool.dpmt_co2ol(mtcool.graphs.star(4), 1, mtcool.Privacy(1.0, 15), seed=0)
    >>> carrier = PrivateCarrier(net.agents().values(), mtcool.Delays(gradients=2, lost=0.1))
    >>> x = carrier.update(0, [0.5])
    >>> carrier.under_way, carrier.agents[0].account().released
    (3, 1)
    """

    def __init__(
        self, agents: Iterable[PrivateAgent], delays: Delays | None = None, seed: Seed = 0
    ) -> None:
        given = list(agents)
        if not given or not all(isinstance(agent, PrivateAgent) for agent in given):
            raise ValueError(f"agents must be private agents, got {given!r}")
        late = Delays() if delays is None else delays
        if not isinstance(late, Delays):
            raise ValueError(f"delays must be an mtcool.Delays, got {delays!r}")
        self.agents = {agent.name: agent for agent in given}
        """All agents by name."""
        self.clock = 0
        """Rounds played so far."""
        for agent in given:
            for link in agent.links:
                if link.neighbour not in self.agents:
                    raise ValueError(
                        f"agents must be all of a network, got none called {link.neighbour!r}"
                    )
        field = FieldSettings(delays=late, seed=int(seed_number(seed)))
        self._waits = Waits(rules_of(field, given[0].settings.dim), field)
        self._places = {agent.name: Place(agent.name, k) for k, agent in enumerate(given)}
        self._begun = dict.fromkeys(self.agents, 0)
        self._rows: dict[tuple[Label, Label], tuple[int, Rows]] = {}
        self._messages: UnderWay[Letter] = UnderWay()
        self._labels: UnderWay[tuple[PrivateAgent, PrivateActivation, int, Floats]] = UnderWay()
        self._waiting = dict.fromkeys(self.agents, 0)

    @property
    def under_way(self) -> int:
        """How many messages and labels are still to come.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.dpmt_co2ol(mtcool.graphs.star(4), 1, mtcool.Privacy(1.0, 15), seed=0)
        >>> PrivateCarrier(net.agents().values()).under_way
        0
        """
        return len(self._messages) + len(self._labels)

    def update(self, name: Label, gradient: ArrayLike) -> Floats:
        """Play a round whose label is there at once; returns the prediction.

        Parameters
        ----------
        name
            The active agent.
        gradient
            What it learns from.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.dpmt_co2ol(mtcool.graphs.star(4), 1, mtcool.Privacy(1.0, 15), seed=0)
        >>> carrier = PrivateCarrier(net.agents().values())
        >>> bool(carrier.update(0, [0.5]) == net.predict(0))
        True
        """
        agent = self._known(name)
        told = agent.checked(gradient, self._waiting[name])  # refused before anything happens
        activation, number, x = self._begin(agent)
        self._learn(agent, activation, number, told)
        self._end()
        return x

    def round(self, name: Label, gradient: Callable[[Floats], ArrayLike]) -> Floats:
        """Play a round whose label may be late; returns the prediction.

        Parameters
        ----------
        name
            The active agent.
        gradient
            Tells what it learns from, given its prediction.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.dpmt_co2ol(mtcool.graphs.star(4), 1, mtcool.Privacy(1.0, 15), seed=0)
        >>> carrier = PrivateCarrier(net.agents().values(), mtcool.Delays(labels=2))
        >>> for _ in range(4):
        ...     x = carrier.round(0, lambda x: x - 0.5)
        >>> carrier.agents[0].account().released
        2
        """
        agent = self._known(name)
        agent.checked(np.zeros(agent.settings.dim), self._waiting[name])
        activation, number, x = self._begin(agent)
        told = agent.checked(gradient(x), self._waiting[name])
        wait = self._waits.of_label(self._places[name], number)
        if wait == 0:
            self._learn(agent, activation, number, told)
        else:
            self._waiting[name] += 1
            self._labels.put(self.clock + wait, (agent, activation, number, told))
        self._end()
        return x

    def _begin(self, agent: PrivateAgent) -> tuple[PrivateActivation, int, Floats]:
        """Steps 1 to 3; an answer that is late is under way."""
        activation, number = agent.activate(), self._begun[agent.name]
        self._begun[agent.name] += 1
        for name, request in activation.requests.items():
            answer: Given = self.agents[name].receive(decode(encode(request)))
            content = encode(answer)
            ends = self._places[agent.name], self._places[name]
            wait = self._waits.of_row(*ends, number, len(content))
            if wait == 0:
                self._deliver(Letter(agent.name, content, number))
            elif wait != LOST:
                self._messages.put(self.clock + wait, Letter(agent.name, content, number))
        answers = {name: self._newest(agent, name) for name in activation.requests}
        return activation, number, activation.predict(answers)

    def _newest(self, agent: PrivateAgent, name: Label) -> Rows:
        """The newest rows of a neighbour that have arrived; zeros before any has."""
        if (agent.name, name) in self._rows:
            return self._rows[agent.name, name][1]
        dim, sender = agent.settings.dim, self.agents[name].sender
        return Rows(sender, np.zeros(dim), np.zeros(agent.numbers_of(name) * dim))

    def _learn(
        self, agent: PrivateAgent, activation: PrivateActivation, number: int, gradient: Floats
    ) -> None:
        """Step 5: sums arrive at once, later, or never."""
        for name, message in activation.learn(gradient).items():
            content, ends = encode(message), (self._places[agent.name], self._places[name])
            wait = self._waits.of_gradient(*ends, number, len(content))
            if wait == 0:
                self._deliver(Letter(name, content))
            elif wait != LOST:
                self._messages.put(self.clock + wait, Letter(name, content))

    def _end(self) -> None:
        """Deliver what is due: first labels, then messages, in the order they were sent."""
        for agent, activation, number, gradient in self._labels.until(self.clock):
            self._waiting[agent.name] -= 1
            self._learn(agent, activation, number, gradient)
        for letter in self._messages.until(self.clock):
            self._deliver(letter)
        self.clock += 1

    def _deliver(self, letter: Letter) -> None:
        message: Given = decode(letter.content)
        if letter.number is None:
            self.agents[letter.receiver].receive(message)
            return
        edge = letter.receiver, sender_of(message)
        if edge not in self._rows or self._rows[edge][0] < letter.number:
            self._rows[edge] = letter.number, message

    def _known(self, name: Label) -> PrivateAgent:
        if name not in self.agents:
            raise ValueError(f"agent must be one of {list(self.agents)!r}, got {name!r}")
        return self.agents[name]
