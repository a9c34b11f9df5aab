"""Agents in the field in one process, with messages between them that are late or lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from mtcool.agents.cutting.settings import joint_settings, settings_of
from mtcool.agents.field.activation import FieldActivation
from mtcool.agents.field.agent import FieldAgent
from mtcool.agents.field.post import LOST, UnderWay, Waits
from mtcool.agents.messages import FieldRow, Message, decode, encode
from mtcool.peers.field.exchange import names_of
from mtcool.types import Floats, Given, Label


class Carrier:
    """Carries the messages of agents, which take as long and are lost as their settings say.

    What arrives in which round is drawn as in a network that holds all agents in one block, so
    that both play the same rounds, to the bit. Every message travels as bytes.

    Parameters
    ----------
    agents
        All agents of a network in the field, at a moment when nothing is under way. An agent that
        had left by then is not known: one of its name would be new.

    Examples
    --------
    >>> import mtcool
    >>> delays = mtcool.Delays(gradients=1, rows=2)
    >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, rates="adaptive", delays=delays)
    >>> carrier = Carrier(net.agents().values())
    >>> for agent in (0, 3, 0):
    ...     x = carrier.update(agent, [0.5])
    ...     net.update(agent, [0.5])
    >>> carrier.update(3, [0.5]) == net.predict(3)
    array([ True])
    """

    def __init__(self, agents: Iterable[FieldAgent]) -> None:
        given = list(agents)
        if not given or not all(isinstance(agent, FieldAgent) for agent in given):
            raise ValueError(f"agents must be agents in the field, got {given!r}")
        self.agents = {agent.name: agent for agent in given}
        """All agents by name, also those that have left."""
        self.clock = 0
        """Rounds played so far."""
        self._settings = joint_settings(given)
        self._waits = Waits(given[0].rules, given[0].field)
        self._messages: UnderWay[tuple[Label, bytes]] = UnderWay()
        self._labels: UnderWay[tuple[FieldAgent, FieldActivation, ArrayLike]] = UnderWay()
        for agent in given:
            for name in agent.neighbours.keys() - self.agents.keys():
                raise ValueError(f"agents must be all of a network, got none called {name!r}")

    @property
    def under_way(self) -> int:
        """How many messages and labels are still to come.

        Examples
        --------
        >>> import mtcool
        >>> late = mtcool.Delays(gradients=5)
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, rates="adaptive", delays=late)
        >>> carrier = Carrier(net.agents().values())
        >>> x = carrier.update(0, [0.5])
        >>> carrier.under_way
        3
        """
        return len(self._messages) + len(self._labels)

    # --- rounds ----------------------------------------------------------------------------------

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
        >>> two = mtcool.Messages(partners=2)
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, rates="adaptive", messages=two)
        >>> Carrier(net.agents().values()).update(0, [0.5])
        array([0.])
        """
        agent = self._present(name)
        agent.in_units(gradient)  # refused before anything happens
        activation, x = self._begin(agent)
        self._learn(agent, activation, gradient)
        self._end()
        return x

    def round(self, name: Label, gradient: Callable[[Floats], ArrayLike]) -> Floats:
        """Play a round as `simulate` does, whose label may be late; returns the prediction.

        Parameters
        ----------
        name
            The active agent.
        gradient
            Tells what it learns from, given its prediction.

        Examples
        --------
        >>> import mtcool
        >>> late = mtcool.Delays(labels=2)
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, rates="adaptive", delays=late)
        >>> carrier = Carrier(net.agents().values())
        >>> [float(carrier.round(0, lambda x: [-0.5])[0].round(2)) for _ in range(4)]
        [0.0, 0.0, 0.0, 0.45]
        """
        agent = self._present(name)
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

    def _begin(self, agent: FieldAgent) -> tuple[FieldActivation, Floats]:
        """Steps 1 to 3; an answer that is late is under way."""
        activation, answers = agent.activate(), dict[Label, FieldRow]()
        for name, request in activation.requests.items():
            other = self.agents[name]
            answer: Given = other.receive(carried(request))
            content = encode(answer)
            wait = self._waits.of_row(agent, other, activation.number, len(content))
            if wait == 0:
                answers[name] = answer
            elif wait != LOST:
                self._messages.put(self.clock + wait, (agent.name, content))
        return activation, activation.predict(answers)

    def _learn(self, agent: FieldAgent, activation: FieldActivation, gradient: ArrayLike) -> None:
        """Step 5: gradients arrive at once, later, or never."""
        for name, message in activation.learn(gradient).items():
            other, content = self.agents[name], encode(message)
            wait = self._waits.of_gradient(agent, other, activation.number, len(content))
            if wait == 0:
                other.receive(decode(content))
            elif wait != LOST:
                self._messages.put(self.clock + wait, (name, content))

    def _end(self) -> None:
        """Deliver what is due: first labels, then messages, in the order they were sent."""
        for agent, activation, gradient in self._labels.until(self.clock):
            self._learn(agent, activation, gradient)
        for name, content in self._messages.until(self.clock):
            self.agents[name].receive(decode(content))
        self.clock += 1

    # --- changes ---------------------------------------------------------------------------------

    def connect(self, one: Label, two: Label) -> None:
        """Let an edge appear between two agents, as `Network.connect` does.

        Parameters
        ----------
        one, two
            Names of two agents that are there and not connected.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, messages=mtcool.Messages())
        >>> carrier = Carrier(net.agents().values())
        >>> carrier.connect(2, 3)
        >>> list(carrier.agents[2].neighbours)
        [0, 3]
        """
        ends = self._present(one), self._present(two)
        said = [ends[0].connect(two, ends[1].index), ends[1].connect(one, ends[0].index)]
        for announcements in said:  # rows come first
            self._announce(announcements)

    def disconnect(self, one: Label, two: Label) -> None:
        """Let the edge between two agents vanish, as `Network.disconnect` does.

        Parameters
        ----------
        one, two
            Names of two agents that are connected.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, messages=mtcool.Messages())
        >>> carrier = Carrier(net.agents().values())
        >>> carrier.disconnect(0, 3)
        >>> list(carrier.agents[0].neighbours)
        [1, 2]
        """
        ends = self._present(one), self._present(two)
        said = [ends[0].disconnect(two), ends[1].disconnect(one)]
        for announcements in said:
            self._announce(announcements)

    def join(self, name: Label, neighbours: Iterable[Label] = ()) -> None:
        """Let an agent in, new or again, as `Network.join` does.

        Parameters
        ----------
        name
            Of no agent that is there.
        neighbours
            Names of agents that are there.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, messages=mtcool.Messages())
        >>> carrier = Carrier(net.agents().values())
        >>> carrier.join("new", [0, 3])
        >>> carrier.agents["new"].index
        4
        """
        named = names_of(neighbours)
        others = sorted((self._present(other) for other in named), key=lambda other: other.index)
        if len(set(named)) < len(named):
            raise ValueError(f"neighbours must be different, got {named!r}")
        agent = self._known(name)
        if agent is None:
            index = 1 + max(known.index for known in self.agents.values())
            agent = FieldAgent(name, index, settings_of(self._settings, index))
        said = [agent.join({other.name: other.index for other in others})]
        self.agents[name] = agent
        said += [other.connect(name, agent.index) for other in others]
        for announcements in said:
            self._announce(announcements)

    def leave(self, name: Label) -> None:
        """Let an agent leave, as `Network.leave` does.

        Parameters
        ----------
        name
            The agent; it may join again.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, messages=mtcool.Messages())
        >>> carrier = Carrier(net.agents().values())
        >>> carrier.leave(0)
        >>> list(carrier.agents[3].neighbours)
        []
        """
        agent = self._present(name)
        if sum(one.present for one in self.agents.values()) == 1:
            raise ValueError(f"agent must not be the last one to leave, got {name!r}")
        others = [self.agents[other] for other in agent.neighbours]
        agent.leave()
        for other in reversed(others):  # as a network in one block does
            self._announce(other.disconnect(name))

    def _announce(self, announcements: Mapping[Label, Message]) -> None:
        for to, message in announcements.items():
            self.agents[to].receive(carried(message))

    def _present(self, name: Label) -> FieldAgent:
        agent = self._known(name)
        if agent is None or not agent.present:
            raise ValueError(f"agent must be in the network, got {name!r}, which is not there now")
        return agent

    def _known(self, name: Label) -> FieldAgent | None:
        try:
            return self.agents.get(name)
        except TypeError:
            raise ValueError(f"agent must have a name that can be a key, got {name!r}") from None


def carried(message: Message) -> Message:
    """A message as it arrives."""
    return decode(encode(message))
