"""Small networks of an algorithm, and rounds for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mtcool.agents import Agent, Message, decode, encode
from mtcool.axes import state_arrays
from mtcool.graphs import Graph, erdos_renyi
from mtcool.network import Network
from mtcool.streams import Loss, Losses, Quadratic, Stream, quadratic
from mtcool.types import Floats, Given, Integers, Label

AGENTS = 7
LIPSCHITZ = 9.0  # no gradient of a loss below is longer


class PeersTrial(NamedTuple):
    """An algorithm to check."""

    make: Callable[..., Network]
    """Makes a network from a graph, a dimension and settings."""
    dim: int
    settings: dict[str, Any]

    def network(self, seed: int = 0) -> Network:
        """A fresh network on a random graph, with random weights if it takes any."""
        graph = erdos_renyi(AGENTS, 0.5, seed=seed)
        plain = self.make(graph, self.dim, **self.settings)
        given = {"lipschitz": LIPSCHITZ, "radius": 2.0, **self.settings}
        if not plain.settings.algorithm.own_weights:
            given.setdefault("weights", random_weights(graph, seed))
        return self.make(graph, self.dim, **given)

    def used(self, seed: int = 0) -> Network:
        """A network that has learned a little."""
        network = self.network(seed)
        settings, count = network.settings, 20
        if settings.rates == "estimated":
            count = 3 * settings.first_phase(AGENTS)  # well into the second phase
        for agent, loss in self.rounds(count, seed=1):
            tell(network, agent, loss)
        return network

    def stream(self, count: int, seed: int = 0) -> Stream:
        """Rounds of random agents, each with a goal of its own."""
        rng = np.random.default_rng(seed)
        goals = 0.3 * rng.standard_normal((AGENTS, self.dim))
        agents: Integers = rng.integers(AGENTS, size=count)
        losses: Losses = quadratic(goals[agents])
        return Stream(agents, losses)

    def rounds(self, count: int, seed: int = 0) -> Iterator[tuple[int, Loss]]:
        """The same rounds, one by one."""
        stream = self.stream(count, seed)
        for agent, row in zip(stream.agents.tolist(), stream.losses.rows, strict=True):
            yield agent, Loss(Quadratic(), row)


def random_weights(graph: Graph, seed: int) -> Floats:
    """Any weights, some of them zero, that sum to one over each neighbourhood."""
    rng = np.random.default_rng(seed)
    matrix = graph.matrix(np.ones(len(graph.idx))).toarray() * rng.uniform(size=(graph.size,) * 2)
    matrix[rng.uniform(size=matrix.shape) < 0.2] = 0.0
    matrix += 0.1 * np.eye(graph.size)
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def tell(network: Network, agent: Label, loss: Loss) -> Floats:
    """One round by `predict` and `update`; returns the prediction."""
    x = network.predict(agent)
    shared = network.settings.algorithm.shares_losses
    network.update(agent, loss.subgradient if shared else loss.subgradient(x))
    return x


def tell_gradient(network: Network, agent: Label, gradient: Given) -> object:
    """`update` with this gradient, wherever it is asked for."""
    update: Callable[..., object] = network.update
    shared = network.settings.algorithm.shares_losses
    return update(agent, (lambda x: gradient) if shared else gradient)


def all_predictions(network: Network) -> Floats:
    """The predictions of all agents."""
    return np.array([network.predict(label) for label in network.graph.labels])


def content(network: Network) -> dict[str, bytes]:
    """Everything that a network has learned, to the bit."""
    return {name: array.tobytes() for name, array in state_arrays(network.peers.state)}


class PlayedRound(NamedTuple):
    """What came of a round that agents played."""

    prediction: Floats
    messages: list[Message]


def play(agents: dict[Label, Agent], name: Label, loss: Loss) -> PlayedRound:
    """One round agent by agent; every message travels as bytes."""
    activation: Any = agents[name].activate()
    sent: list[Message] = []

    def carry(message: Message) -> Message:
        sent.append(message)
        return decode(encode(message))

    answers = {}
    for to, request in activation.requests.items():
        answer = agents[to].receive(carry(request))
        if answer is None:
            raise AssertionError(f"agent {to!r} did not answer {request!r}")
        answers[to] = carry(answer)
    x: Floats = activation.predict(answers)
    shared = agents[name].settings.algorithm.shares_losses
    for to, message in activation.learn(loss if shared else loss.subgradient(x)).items():
        answer = agents[to].receive(carry(message))
        if answer is not None:
            raise AssertionError(f"agent {to!r} answered {message!r} with {answer!r}")
    return PlayedRound(x, sent)
