"""Private agents in one process, with messages between them that are late or lost."""

from typing import Any, NamedTuple

import numpy as np

from mtcool.agents import Rows, decode, encode
from mtcool.agents.messages import sender_of
from mtcool.field import Delays
from mtcool.field.draws import seed_number
from mtcool.field.settings import FieldSettings
from mtcool.peers.field.making import rules_of
from support.post import LOST, UnderWay, Waits


class Place(NamedTuple):
    """An agent, and where it stands among all, on which draws depend."""

    name: Any
    index: int


class Letter(NamedTuple):
    """What is under way: sums for an agent, or rows that it asked a neighbour for in a round."""

    receiver: Any
    content: bytes
    number: int | None = None
    """Of the round, if these are rows."""


class PrivateCarrier:
    """Carries the messages of private agents, which may be late or lost.

    A newer sum replaces an older one: one that is late does no harm, and one that is lost is made
    up for by the next. An agent uses the newest rows of each neighbour that have arrived, and rows
    of zeros before any has. Every message travels as bytes. `delays` say how late sums
    (`gradients`), answers (`rows`) and labels are, and which share is lost.
    """

    def __init__(self, agents, delays=None, seed=0):
        given = list(agents)
        self.agents = {agent.name: agent for agent in given}
        """All agents by name."""
        self.clock = 0
        """Rounds played so far."""
        field = FieldSettings(delays=delays or Delays(), seed=int(seed_number(seed)))
        self._waits = Waits(rules_of(field, given[0].settings.dim), field)
        self._places = {agent.name: Place(agent.name, k) for k, agent in enumerate(given)}
        self._begun = dict.fromkeys(self.agents, 0)
        self._rows = {}
        self._messages, self._labels = UnderWay(), UnderWay()
        self._waiting = dict.fromkeys(self.agents, 0)

    @property
    def under_way(self):
        """How many messages and labels are still to come."""
        return len(self._messages) + len(self._labels)

    def update(self, name, gradient):
        """Play a round whose label is there at once; returns the prediction."""
        agent = self.agents[name]
        told = agent.checked(gradient, self._waiting[name])  # refused before anything happens
        activation, number, x = self._begin(agent)
        self._learn(agent, activation, number, told)
        self._end()
        return x

    def round(self, name, gradient):
        """Play a round whose label may be late; `gradient` is a function of the prediction."""
        agent = self.agents[name]
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

    def _begin(self, agent):
        """Steps 1 to 3; an answer that is late is under way."""
        activation, number = agent.activate(), self._begun[agent.name]
        self._begun[agent.name] += 1
        for name, request in activation.requests.items():
            content = encode(self.agents[name].receive(decode(encode(request))))
            ends = self._places[agent.name], self._places[name]
            wait = self._waits.of_row(*ends, number, len(content))
            if wait == 0:
                self._deliver(Letter(agent.name, content, number))
            elif wait != LOST:
                self._messages.put(self.clock + wait, Letter(agent.name, content, number))
        answers = {name: self._newest(agent, name) for name in activation.requests}
        return activation, number, activation.predict(answers)

    def _newest(self, agent, name):
        """The newest rows of a neighbour that have arrived; zeros before any has."""
        if (agent.name, name) in self._rows:
            return self._rows[agent.name, name][1]
        dim, sender = agent.settings.dim, self.agents[name].sender
        return Rows(sender, np.zeros(dim), np.zeros(agent.numbers_of(name) * dim))

    def _learn(self, agent, activation, number, gradient):
        """Step 5: sums arrive at once, later, or never."""
        for name, message in activation.learn(gradient).items():
            content, ends = encode(message), (self._places[agent.name], self._places[name])
            wait = self._waits.of_gradient(*ends, number, len(content))
            if wait == 0:
                self._deliver(Letter(name, content))
            elif wait != LOST:
                self._messages.put(self.clock + wait, Letter(name, content))

    def _end(self):
        """Deliver what is due: first labels, then messages, in the order they were sent."""
        for agent, activation, number, gradient in self._labels.until(self.clock):
            self._waiting[agent.name] -= 1
            self._learn(agent, activation, number, gradient)
        for letter in self._messages.until(self.clock):
            self._deliver(letter)
        self.clock += 1

    def _deliver(self, letter):
        message = decode(letter.content)
        if letter.number is None:
            self.agents[letter.receiver].receive(message)
            return
        edge = letter.receiver, sender_of(message)
        if edge not in self._rows or self._rows[edge][0] < letter.number:
            self._rows[edge] = letter.number, message
