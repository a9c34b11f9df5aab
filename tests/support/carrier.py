"""Agents on a changing network in one process, with messages between them that are late or lost."""

import numpy as np

from mtcool.agents import FieldAgent, decode, encode
from mtcool.agents.cutting.settings import joint_settings, settings_of
from support.post import LOST, UnderWay, Waits


class Carrier:
    """Carries the messages of agents, which take as long and are lost as their settings say.

    What arrives in which round is drawn as in a network that holds all agents in one block, so
    that both play the same rounds, to the bit. Every message travels as bytes. `agents` are all of
    a network, at a moment when nothing is under way.
    """

    def __init__(self, agents):
        given = list(agents)
        self.agents = {agent.name: agent for agent in given}
        """All agents by name, also those that have left."""
        self.clock = 0
        """Rounds played so far."""
        self._settings = joint_settings(given)
        self._waits = Waits(given[0].rules, given[0].field)
        self._messages, self._labels = UnderWay(), UnderWay()

    @property
    def under_way(self):
        """How many messages and labels are still to come."""
        return len(self._messages) + len(self._labels)

    # --- rounds ----------------------------------------------------------------------------------

    def update(self, name, gradient):
        """Play a round whose label is there at once; returns the prediction."""
        agent = self.agents[name]
        agent.in_units(gradient)  # refused before anything happens
        activation, x = self._begin(agent)
        self._learn(agent, activation, gradient)
        self._end()
        return x

    def round(self, name, gradient):
        """Play a round as `simulate` does, whose label may be late; `gradient` is a function."""
        agent = self.agents[name]
        activation, x = self._begin(agent)
        told = np.array(gradient(x))
        agent.in_units(told)
        wait = self._waits.of_label(agent, activation.number)
        if wait == 0:
            self._learn(agent, activation, told)
        else:
            self._labels.put(self.clock + wait, (agent, activation, told))
        self._end()
        return x

    def _begin(self, agent):
        """Steps 1 to 3; an answer that is late is under way."""
        activation, answers = agent.activate(), {}
        for name, request in activation.requests.items():
            other = self.agents[name]
            answer = other.receive(carried(request))
            content = encode(answer)
            wait = self._waits.of_row(agent, other, activation.number, len(content))
            if wait == 0:
                answers[name] = answer
            elif wait != LOST:
                self._messages.put(self.clock + wait, (agent.name, content))
        return activation, activation.predict(answers)

    def _learn(self, agent, activation, gradient):
        """Step 5: gradients arrive at once, later, or never."""
        for name, message in activation.learn(gradient).items():
            other, content = self.agents[name], encode(message)
            wait = self._waits.of_gradient(agent, other, activation.number, len(content))
            if wait == 0:
                other.receive(decode(content))
            elif wait != LOST:
                self._messages.put(self.clock + wait, (name, content))

    def _end(self):
        """Deliver what is due: first labels, then messages, in the order they were sent."""
        for agent, activation, gradient in self._labels.until(self.clock):
            self._learn(agent, activation, gradient)
        for name, content in self._messages.until(self.clock):
            self.agents[name].receive(decode(content))
        self.clock += 1

    # --- changes ---------------------------------------------------------------------------------

    def connect(self, one, two):
        """Let an edge appear between two agents, as `Network.connect` does."""
        ends = self.agents[one], self.agents[two]
        said = [ends[0].connect(two, ends[1].index), ends[1].connect(one, ends[0].index)]
        for announcements in said:  # rows come first
            self._announce(announcements)

    def disconnect(self, one, two):
        """Let the edge between two agents vanish, as `Network.disconnect` does."""
        ends = self.agents[one], self.agents[two]
        said = [ends[0].disconnect(two), ends[1].disconnect(one)]
        for announcements in said:
            self._announce(announcements)

    def join(self, name, neighbours=()):
        """Let an agent in, new or again, as `Network.join` does."""
        others = sorted((self.agents[other] for other in neighbours), key=lambda one: one.index)
        agent = self.agents.get(name)
        if agent is None:
            index = 1 + max(known.index for known in self.agents.values())
            agent = FieldAgent(name, index, settings_of(self._settings, index))
        said = [agent.join({other.name: other.index for other in others})]
        self.agents[name] = agent
        said += [other.connect(name, agent.index) for other in others]
        for announcements in said:
            self._announce(announcements)

    def leave(self, name):
        """Let an agent leave, as `Network.leave` does; it may join again."""
        agent = self.agents[name]
        others = [self.agents[other] for other in agent.neighbours]
        agent.leave()
        for other in reversed(others):  # as a network in one block does
            self._announce(other.disconnect(name))

    def _announce(self, announcements):
        for to, message in announcements.items():
            self.agents[to].receive(carried(message))


def carried(message):
    """A message as it arrives."""
    return decode(encode(message))
