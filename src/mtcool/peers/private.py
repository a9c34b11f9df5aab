"""Peers that keep their losses to themselves: DPMT-CO2OL (Algorithm `alg:DOPE_learning`).

Step 2 of the protocol also fetches the row of every expert, step 5 sends noisy sums:

- the leaf of an activation is the clipped gradient and its products with the clipped expert rows;
- the agent's aggregator turns its leaves into noisy sums (`privacy/aggregators/`);
- all its neighbours, *and the agent's own clique*, learn from those sums and from nothing else.

`look_up`, `make_leaf` and `tell` know nothing of the aggregator: compiled once, they serve all.
"""

from typing import NamedTuple

import numpy as np

from mtcool.kernels import inline, kernel, routine
from mtcool.learners.dp_mt_ftrl import DPMTFTRLState, tell_row
from mtcool.learners.mt_ftrl.clipped import expert_rows, solve_later, solve_waiting
from mtcool.peers.cliques import fetch_rows
from mtcool.peers.protocol import Units, fetch, observe, send
from mtcool.privacy.aggregators.aggregator import decode, encode
from mtcool.privacy.release import clip, clipped_number, clipped_product, release, truncate
from mtcool.streams.losses import Kind, subgradient
from mtcool.types import Floats, Indices, Integers, State


class PrivateState(NamedTuple):
    """What private agents remember."""

    learner: DPMTFTRLState
    aggregator: State
    """Sums of every agent, secret and published; of the type that the aggregator makes."""


class ReleaseScratch(NamedTuple):
    """Arrays for one release, overwritten by the next."""

    rows: Floats
    """Expert rows that the active agent fetched, neighbour by neighbour, (most products, d)."""
    leaf: Floats
    value: Floats
    """Value of the node: secret."""
    noisy: Floats
    """What was released."""
    draws: Floats
    """Noise for the releases to come, from `cursor[0]` to `cursor[1]`; nothing leaves without."""
    cursor: Integers


class PrivatePeers(NamedTuple):
    """Agents in this process that learn from noisy sums; entries as in `CliquePeers`."""

    ptr: Integers
    clique: Indices
    row: Indices
    weight: Floats
    state: PrivateState
    units: Units
    models: Floats
    """Scratch for the models that one agent fetches, (largest number of entries, d)."""
    gradients: Floats
    """Scratch for the gradient that it observes, (1, d)."""
    products: Integers
    """Number of expert rows that each entry fetches: none of a clique with a single expert."""
    horizon: Integers
    """Activations that each agent may have."""
    grid: float
    """Leaves are rounded toward zero to multiples of this; 0 for none."""
    work: ReleaseScratch


@fetch.register
def _(peers: PrivatePeers, agent: int) -> tuple[Floats, Floats]:
    first, last = peers.ptr[agent], peers.ptr[agent + 1]
    look_up(
        peers.state.learner,
        peers.clique[first:last],
        peers.row[first:last],
        peers.products[first:last],
        peers.models,
        peers.work.rows,
    )
    return peers.models[: last - first], peers.weight[first:last]


@routine
def look_up(
    learner: DPMTFTRLState,
    cliques: Indices,
    rows: Indices,
    products: Integers,
    models: Floats,
    experts: Floats,
) -> None:
    """Write what these cliques hold of these rows: their models, and the rows of their experts."""
    fetch_rows(learner, cliques, rows, models)
    place = 0
    for e in range(rows.shape[0]):
        count, clique = products[e], int(cliques[e])
        if count > 0:
            found = experts[place : place + count]
            expert_rows(learner.base.work, learner.base, clique, int(rows[e]), found)
        place += count


@observe.register
def _(peers: PrivatePeers, agent: int, kind: Kind, row: Floats, x: Floats) -> int:
    subgradient(kind, row, x, peers.gradients[0])
    return 1


@send.register
def _(peers: PrivatePeers, agent: int, gradients: Floats) -> bool:
    return publish(peers, agent, gradients[0])


@routine
def publish(peers: PrivatePeers, agent: int, gradient: Floats) -> bool:
    """Step 5: release the agent's next noisy sums, and tell them to all; False if refused."""
    aggregator = peers.state.aggregator
    if aggregator.activations[agent] >= peers.horizon[agent]:
        return False
    first, last = peers.ptr[agent], peers.ptr[agent + 1]
    weights, products = peers.weight[first:last], peers.products[first:last]
    if not publish_sums(
        aggregator, peers.work, peers.units, weights, products, peers.grid, agent, gradient
    ):
        return False
    tell(
        peers.state.learner,
        peers.clique[first:last],
        peers.row[first:last],
        weights,
        aggregator.published[aggregator.start[agent] : aggregator.start[agent + 1]],
    )
    return True


@inline
def publish_sums(
    aggregator: State,
    scratch: ReleaseScratch,
    units: Units,
    weights: Floats,
    products: Integers,
    grid: float,
    agent: int,
    gradient: Floats,
) -> bool:
    """Release the agent's next noisy sums, with the noise and the experts' rows in `scratch`.

    False, and nothing released, if the gradient cannot be clipped or noise is missing.
    """
    if not clip(gradient, units.lipschitz):
        return False
    width, first = aggregator.width[agent], scratch.cursor[0]
    if first + width > scratch.cursor[1]:
        return False
    stage(aggregator, scratch, weights, products, grid, agent, gradient)
    value, noisy = scratch.value[:width], scratch.noisy[:width]
    release(value, scratch.draws[first : first + width], grid, noisy)
    decode(aggregator, agent, value, noisy)
    scratch.cursor[0] += width
    return True


@inline
def stage(
    aggregator: State,
    scratch: ReleaseScratch,
    weights: Floats,
    products: Integers,
    grid: float,
    agent: int,
    gradient: Floats,
) -> None:
    """Write the value of the agent's next node into `scratch`, for a clipped gradient."""
    width = aggregator.width[agent]
    make_leaf(gradient, weights, products, scratch.rows, scratch.leaf[:width])
    truncate(scratch.leaf[:width], grid)
    encode(aggregator, agent, scratch.leaf[:width], scratch.value[:width])


@routine
def make_leaf(
    gradient: Floats, weights: Floats, products: Integers, experts: Floats, leaf: Floats
) -> None:
    """Write the gradient, in the unit ball, and its weighted products with clipped expert rows."""
    dim, first = gradient.shape[0], 0
    for k in range(dim):
        leaf[k] = gradient[k]
    for e in range(weights.shape[0]):
        last = first + products[e]
        if dim == 1:
            for k in range(first, last):
                leaf[1 + k] = weights[e] * (clipped_number(experts[k, 0]) * gradient[0])
        else:
            for k in range(first, last):
                leaf[dim + k] = weights[e] * clipped_product(experts[k], gradient)
        first = last


@routine
def tell(
    learner: DPMTFTRLState, cliques: Indices, rows: Indices, weights: Floats, published: Floats
) -> None:
    """Tell an agent's published sums to its neighbours' cliques and to its own."""
    base, place, waiting = learner.base, learner.base.gradients.shape[1], 0
    for e in range(rows.shape[0]):
        clique, row = int(cliques[e]), int(rows[e])
        count = learner.first[row + 1] - learner.first[row]
        products = published[place : place + count]
        if tell_row(learner, clique, row, weights[e], published, products):
            waiting = solve_later(base.work, base, clique, waiting)
        waiting = solve_waiting(base.work, base, waiting, e + 1 == rows.shape[0])
        place += count


def begin_publication(peers: PrivatePeers) -> None:
    """Let all agents learn what all publish before their first activations: pure noise."""
    learner, aggregator = peers.state.learner, peers.state.aggregator
    is_product = np.ones(len(aggregator.published), bool)
    is_product[aggregator.start[:-1, None] + np.arange(learner.base.gradients.shape[1])] = False
    totals = aggregator.published[~is_product].reshape(len(aggregator.width), -1)
    sums = peers.weight[:, None] * np.repeat(totals, np.diff(peers.ptr), axis=0)
    learner.base.gradients[peers.row] = sums
    first, length = learner.first[peers.row], np.diff(learner.first)[peers.row]
    place = np.repeat(first + length - np.cumsum(length), length) + np.arange(length.sum())
    learner.told[place] = aggregator.published[is_product]
    _, one = np.unique(peers.clique, return_index=True)
    chosen = peers.clique[one], peers.row[one], np.ones(len(one))
    for array in chosen:
        array.setflags(write=False)  # `tell` is compiled for read-only arrays
    _learn_pure_noise(learner, *chosen, peers.work.value)


@kernel
def _learn_pure_noise(
    learner: DPMTFTRLState, cliques: Indices, rows: Indices, weights: Floats, scratch: Floats
) -> None:
    """Tell one row of each clique again, as update 0: all is computed afresh from all rows."""
    base, dim = learner.base, learner.base.gradients.shape[1]
    for e in range(rows.shape[0]):
        first, last = learner.first[rows[e]], learner.first[rows[e] + 1]
        for k in range(dim):
            scratch[k] = base.gradients[rows[e], k]
        for k in range(last - first):
            scratch[dim + k] = learner.told[first + k]
        base.n[cliques[e]] = -1
        tell(learner, cliques[e : e + 1], rows[e : e + 1], weights[e : e + 1], scratch)
