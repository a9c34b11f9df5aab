"""Peers that share one task, ST-FTRL: each keeps one point, and the loss itself travels."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.learners.learner import predict_row, update_row
from mtcool.peers.protocol import Units, fetch, observe, send, to_units
from mtcool.streams.losses import Kind, subgradient
from mtcool.types import Floats, Integers


class SingleTaskPeers(NamedTuple):
    """Agents in this process that share one task.

    An agent predicts with its own point. When agent i is active, every j in its neighbourhood
    learns from the same loss *at j's own point*.
    """

    ptr: Integers
    idx: NDArray[np.int32]
    """Closed neighbourhood of agent i: idx[ptr[i]:ptr[i + 1]]."""
    state: Any
    """State of the learner, one clique of one row for each agent."""
    units: Units
    gradients: Floats
    """Scratch for the gradients at the neighbours' points, (largest neighbourhood, d)."""
    weight: Floats
    """The weight of one's own point: one."""
    point: Floats
    """Scratch for the point of one agent, (1, d)."""


@fetch.register
def _(peers: SingleTaskPeers, agent: int) -> tuple[Floats, Floats]:
    predict_row(peers.state, agent, agent, peers.point[0])
    return peers.point, peers.weight


@observe.register
def _(peers: SingleTaskPeers, agent: int, kind: Kind, row: Floats, x: Floats) -> int:
    first, last = peers.ptr[agent], peers.ptr[agent + 1]
    point = peers.point[0]
    for e in range(first, last):
        j = int(peers.idx[e])
        predict_row(peers.state, j, j, point)
        for k in range(point.shape[0]):
            point[k] *= peers.units.radius
        subgradient(kind, row, point, peers.gradients[e - first])
    return int(last - first)


@send.register
def _(peers: SingleTaskPeers, agent: int, gradients: Floats) -> bool:
    first = peers.ptr[agent]
    for e in range(gradients.shape[0]):
        if not to_units(gradients[e], peers.units):
            return False
    for e in range(gradients.shape[0]):
        j = int(peers.idx[first + e])
        update_row(peers.state, j, j, 1.0, gradients[e])
    return True
