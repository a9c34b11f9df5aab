"""Peers that keep their losses to themselves: DPMT-CO2OL (Algorithm `alg:DOPE_learning`).

Step 2 of the protocol also fetches the row of every expert, step 5 sends noisy sums:

- the leaf of an activation is the clipped gradient and its products with the clipped expert rows;
- the agent's aggregator turns its leaves into noisy sums (`privacy/aggregator.py`);
- all its neighbours, *and the agent's own clique*, learn from those sums and from nothing else.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.kernels import inline, kernel
from mtcool.learners import predict_row
from mtcool.learners.dp_mt_ftrl import DPMTFTRLState, put_row, tell_row
from mtcool.learners.learner import Floats, Integers
from mtcool.learners.mt_ftrl import expert_rows, refresh, reweigh
from mtcool.privacy.aggregator import decode, encode
from mtcool.privacy.release import clip, clipped_product, release, truncate
from mtcool.protocol import Units, fetch, send


class PrivateState(NamedTuple):
    """What private agents remember."""

    learner: DPMTFTRLState
    aggregator: Any
    """Sums of every agent, secret and published; of the type that the aggregator makes."""


class Desk(NamedTuple):
    """Room for one release; what it holds is overwritten by the next."""

    rows: Floats
    """Expert rows of one neighbour, (most experts, d)."""
    leaf: Floats
    value: Floats
    """Value of the node: secret."""
    noisy: Floats
    """What was released."""
    draws: Floats
    """Noise for the releases to come, from `cursor` on."""
    cursor: Integers


class PrivatePeers(NamedTuple):
    """Agents in this process that learn from noisy sums; entries as in `CliquePeers`."""

    ptr: Integers
    clique: NDArray[np.uint32]
    row: NDArray[np.uint32]
    weight: Floats
    state: PrivateState
    units: Units
    models: Floats
    """Room for the models that one agent fetches, (largest number of entries, d)."""
    horizon: Integers
    """Activations that each agent may have."""
    grid: float
    """Leaves are rounded toward zero to multiples of this; 0 for none."""
    work: Desk


@fetch.register
def _(peers: PrivatePeers, agent: int) -> tuple[Floats, Floats]:
    first, last = peers.ptr[agent], peers.ptr[agent + 1]
    cliques, rows = peers.clique[first:last], peers.row[first:last]
    for e in range(rows.shape[0]):
        predict_row(peers.state.learner, int(cliques[e]), int(rows[e]), peers.models[e])
    return peers.models[: rows.shape[0]], peers.weight[first:last]


@send.register
def _(peers: PrivatePeers, agent: int, gradient: Floats, losses: Any, t: int) -> bool:
    aggregator, desk = peers.state.aggregator, peers.work
    if aggregator.activations[agent] >= peers.horizon[agent]:
        return False
    if not clip(gradient, peers.units.lipschitz):
        return False
    make_leaf(peers, agent, gradient)
    width, first = aggregator.width[agent], desk.cursor[0]
    value, noisy = desk.value[:width], desk.noisy[:width]
    encode(aggregator, agent, desk.leaf[:width], value)
    release(value, desk.draws[first : first + width], peers.grid, noisy)
    decode(aggregator, agent, value, noisy)
    desk.cursor[0] += width
    publish(peers, agent)
    return True


@inline
def make_leaf(peers: PrivatePeers, agent: int, gradient: Floats) -> None:
    """The gradient, in the unit ball, and its weighted products with the clipped expert rows."""
    learner, leaf = peers.state.learner, peers.work.leaf
    dim = gradient.shape[0]
    for k in range(dim):
        leaf[k] = gradient[k]
    place = dim
    for e in range(peers.ptr[agent], peers.ptr[agent + 1]):
        row = int(peers.row[e])
        count = learner.first[row + 1] - learner.first[row]
        if count == 0:
            continue
        rows = peers.work.rows[:count]
        expert_rows(learner.base, int(peers.clique[e]), row, rows)
        for k in range(count):
            leaf[place + k] = peers.weight[e] * clipped_product(rows[k], gradient)
        place += count
    truncate(leaf[:place], peers.grid)


@inline
def publish(peers: PrivatePeers, agent: int) -> None:
    """Send the agent's published sums to its neighbours and to its own clique."""
    learner, aggregator = peers.state.learner, peers.state.aggregator
    start, dim = aggregator.start[agent], peers.models.shape[1]
    total = aggregator.published[start : start + dim]
    place = start + dim
    for e in range(peers.ptr[agent], peers.ptr[agent + 1]):
        row = int(peers.row[e])
        count = learner.first[row + 1] - learner.first[row]
        products = aggregator.published[place : place + count]
        tell_row(learner, int(peers.clique[e]), row, peers.weight[e], total, products)
        place += count


@kernel
def publish_pure_noise(peers: PrivatePeers) -> None:
    """Before the first activation: every agent publishes sums that hold nothing but noise."""
    learner, aggregator = peers.state.learner, peers.state.aggregator
    base, dim = learner.base, peers.models.shape[1]
    for agent in range(peers.ptr.shape[0] - 1):
        start = aggregator.start[agent]
        total = aggregator.published[start : start + dim]
        place = start + dim
        for e in range(peers.ptr[agent], peers.ptr[agent + 1]):
            row = int(peers.row[e])
            count = learner.first[row + 1] - learner.first[row]
            products = aggregator.published[place : place + count]
            put_row(learner, int(peers.clique[e]), row, peers.weight[e], total, products)
            place += count
    for clique in range(base.n.shape[0]):
        base.n[clique] = 0  # nobody was active
        if base.start[clique + 1] > base.start[clique]:
            refresh(base, clique)
            reweigh(base, clique)
