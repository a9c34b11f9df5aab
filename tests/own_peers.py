"""An algorithm from outside with peers of its own kind: neighbours take part in every step.

Each agent keeps one point and predicts with it. When it is active, it and its neighbours move
against its gradient, all by the same small step.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.agents import Gradient, Traffic, cut, encode, join, traffic
from mtcool.agents.cutting import Joined
from mtcool.agents.kernels import scale
from mtcool.algorithms import Algorithm
from mtcool.axes import state_arrays
from mtcool.graphs import own_weights
from mtcool.learners import FTRL
from mtcool.peers.exchange import plain_exchange, refuse
from mtcool.peers.protocol import Units, fetch, observe, send, to_units
from mtcool.streams.losses import subgradient

STEP = 0.125


class Points(NamedTuple):
    x: NDArray[np.float64]


class MovingPeers(NamedTuple):
    ptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    state: Points
    units: Units
    gradients: NDArray[np.float64]
    weight: NDArray[np.float64]


class UncountedPeers(NamedTuple):
    """The same, but nobody has said what travels between them."""

    ptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    state: Points
    units: Units
    gradients: NDArray[np.float64]
    weight: NDArray[np.float64]


def _fetch(peers, agent):
    return peers.state.x[agent : agent + 1], peers.weight


def _observe(peers, agent, kind, row, x):
    subgradient(kind, row, x, peers.gradients[0])
    return 1


def _send(peers, agent, gradients):
    if not to_units(gradients[0], peers.units):
        return False
    for e in range(peers.ptr[agent], peers.ptr[agent + 1]):
        point = peers.state.x[peers.idx[e]]
        for k in range(point.shape[0]):
            point[k] -= STEP * gradients[0, k]
    return True


for kind in (MovingPeers, UncountedPeers):
    fetch.register(kind, _fetch)
    observe.register(kind, _observe)
    send.register(kind, _send)


def _parts(settings, graph):
    return (
        graph.ptr,
        graph.idx,
        Points(np.zeros((graph.size, settings.dim))),
        settings.units,
        np.zeros((1, settings.dim)),
        np.ones(1),
    )


def moving_peers(settings, graph, weights):
    return MovingPeers(*_parts(settings, graph))


def uncounted_peers(settings, graph, weights):
    return UncountedPeers(*_parts(settings, graph))


class MovingAgent:
    """One of them; it is also its own activation, since it asks nobody."""

    def __init__(self, name, settings, others, x):
        self.name, self.settings, self.others, self.x = name, settings, others, x
        self.units = settings.units
        self.requests, self.activations = {}, 0

    def activate(self):
        return self

    def predict(self, answers):
        return self.settings.radius * self.x

    def learn(self, gradient):
        g = gradient.copy()
        if not scale(g, self.units):
            refuse(gradient, self.settings)
        self.activations += 1
        message = Gradient(self.name, float(self.activations), g)
        self.receive(message)
        return dict.fromkeys(self.others, message)

    def receive(self, message):
        self.x -= STEP * message.gradient


@cut.register
def _(peers: MovingPeers, settings, graph, exchange, agents):
    for i in agents:
        others = tuple(graph.labels[int(j)] for j in graph.neighbours(i) if int(j) != i)
        yield MovingAgent(graph.labels[i], settings, others, peers.state.x[i].copy())


@join.register
def _(first: MovingAgent, graph, agents):
    points = Points(np.array([agent.x for agent in agents]))
    return Joined(first.settings, own_weights(graph).data, dict(state_arrays(points)))


@traffic.register
def _(peers: MovingPeers, settings, graph, losses):
    others = graph.neighbourhood_sizes - 1
    message = len(encode(Gradient(0, 1.0, np.zeros(settings.dim))))  # names of one byte
    return Traffic(others, others * message)


MOVING = Algorithm("moving", "moving", FTRL(), moving_peers, plain_exchange, own_weights=True)
UNCOUNTED = Algorithm(
    "uncounted", "uncounted", FTRL(), uncounted_peers, plain_exchange, own_weights=True
)
