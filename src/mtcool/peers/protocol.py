"""The protocol of Section 2 of the paper: five steps, whoever the peers are.

`play_round` is the whole of it. `fetch` and `send` are chosen by the type of `peers`; the algorithm
does not know whether they live in this process or elsewhere. Here are the two kinds that do:

- `CliquePeers`: every agent keeps a model of each neighbour's task (MT-CO2OL, i-FTRL, pairwise);
- `SingleTaskPeers`: every agent keeps one point for a task common to all (ST-FTRL).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.kernels import dispatched, inline
from mtcool.learners import predict_row, update_row
from mtcool.learners.learner import Floats, Integers
from mtcool.streams.losses import subgradient, value

Indices = NDArray[np.uint32]

# A gradient of norm exactly `lipschitz` must pass however its norm was rounded.
SLACK = 1.0 + 1e-9


@inline
def play_round(
    peers: Any, losses: Any, t: int, agent: int, x: Floats, gradient: Floats
) -> tuple[float, bool]:
    """Round t of the protocol; returns the loss paid and whether the gradient was accepted."""
    # 1. `agent` is activated
    predict(peers, agent, x)  # 2. it fetches its neighbours' models, 3. and predicts
    paid = value(losses, t, x)  # 4. it pays, and observes a subgradient
    subgradient(losses, t, x, gradient)
    accepted = send(peers, agent, gradient, losses, t)  # 5. its neighbours learn of it
    return paid, accepted


@inline
def predict(peers: Any, agent: int, x: Floats) -> None:
    """Steps 2 and 3: fetch the neighbours' models of my task, predict with their average."""
    models, weights = fetch(peers, agent)
    for k in range(x.shape[0]):
        mean = 0.0
        for j in range(weights.shape[0]):
            mean += weights[j] * models[j, k]
        x[k] = peers.units.radius * mean


@dispatched
def fetch(peers: Any, agent: int) -> tuple[Floats, Floats]:
    """Step 2: the models of the agent's task that its peers hold, (m, d), and their weights."""
    raise TypeError(f"{type(peers).__name__} are not peers")


@dispatched
def send(peers: Any, agent: int, gradient: Floats, losses: Any, t: int) -> bool:
    """Step 5: let the peers learn from the agent's subgradient, or from the loss of round t itself.

    Returns False, with nothing changed, if a gradient is longer than `lipschitz` or not finite and
    clipping was not asked for. The content of `gradient` is lost.
    """
    raise TypeError(f"{type(peers).__name__} are not peers")


class Units(NamedTuple):
    """Learners run in the paper's units: gradients divided by `lipschitz`, points by `radius`."""

    radius: float
    lipschitz: float
    clip: bool
    """Shorten gradients longer than `lipschitz` instead of refusing them."""


@inline
def to_units(gradient: Floats, units: Units) -> bool:
    """Divide by `lipschitz` in place, clipping if asked; False if the gradient must be refused."""
    square = 0.0
    for k in range(gradient.shape[0]):
        square += gradient[k] * gradient[k]
    norm = np.sqrt(square)
    scale = 1.0 / units.lipschitz
    if not norm <= units.lipschitz * SLACK:  # also true of a NaN
        if not (units.clip and norm < np.inf):
            return False
        scale = 1.0 / norm
    for k in range(gradient.shape[0]):
        gradient[k] *= scale
    return True


class CliquePeers(NamedTuple):
    """Agents in this process that run a learner on the virtual clique of their neighbourhood.

    Entry e in ptr[i]:ptr[i + 1] says that agent i listens with `weight[e]` to clique `clique[e]`,
    where its own task is `row[e]`. Unsigned: a loop need not ask whether an index is negative.
    """

    ptr: Integers
    clique: Indices
    row: Indices
    weight: Floats
    state: Any
    """State of the learner for all cliques."""
    units: Units
    models: Floats
    """Room for the models that one agent fetches, (largest number of entries, d)."""


@fetch.register
def _(peers: CliquePeers, agent: int) -> tuple[Floats, Floats]:
    first, last = peers.ptr[agent], peers.ptr[agent + 1]
    fetch_rows(peers.state, peers.clique[first:last], peers.row[first:last], peers.models)
    return peers.models[: last - first], peers.weight[first:last]


@inline
def fetch_rows(state: Any, cliques: Indices, rows: Indices, models: Floats) -> None:
    """Write the model of each row, one below the other."""
    for e in range(rows.shape[0]):
        # int: learners are compiled once, for 64-bit indices, whoever calls them
        predict_row(state, int(cliques[e]), int(rows[e]), models[e])


@send.register
def _(peers: CliquePeers, agent: int, gradient: Floats, losses: Any, t: int) -> bool:
    if not to_units(gradient, peers.units):
        return False
    learn(peers, peers.ptr[agent], peers.ptr[agent + 1], gradient)
    return True


@inline
def learn(peers: CliquePeers, first: int, last: int, gradient: Floats) -> None:
    """The cliques of the entries first:last learn from a gradient, in units."""
    cliques, rows = peers.clique[first:last], peers.row[first:last]
    weights = peers.weight[first:last]
    for e in range(rows.shape[0]):
        update_row(peers.state, int(cliques[e]), int(rows[e]), weights[e], gradient)


class SingleTaskPeers(NamedTuple):
    """Agents in this process that share one task: ST-FTRL.

    An agent predicts with its own point. When agent i is active, every j in its neighbourhood
    learns from the same loss *at j's own point*, so the loss itself travels.
    """

    ptr: Integers
    idx: NDArray[np.int32]
    """Closed neighbourhood of agent i: idx[ptr[i]:ptr[i + 1]]."""
    state: Any
    """State of the learner, one clique of one row for each agent."""
    units: Units
    gradients: Floats
    """Room for the gradients at the neighbours' points, (largest neighbourhood, d)."""
    weight: Floats
    """The weight of one's own point: one."""
    point: Floats
    """Room for a neighbour's point, (d,)."""


@fetch.register
def _(peers: SingleTaskPeers, agent: int) -> tuple[Floats, Floats]:
    predict_row(peers.state, agent, agent, peers.gradients[0])
    return peers.gradients[:1], peers.weight


@send.register
def _(peers: SingleTaskPeers, agent: int, gradient: Floats, losses: Any, t: int) -> bool:
    first, last = peers.ptr[agent], peers.ptr[agent + 1]
    for e in range(first, last):
        j = int(peers.idx[e])
        predict_row(peers.state, j, j, peers.point)
        for k in range(gradient.shape[0]):
            peers.point[k] *= peers.units.radius
        subgradient(losses, t, peers.point, peers.gradients[e - first])
        if not to_units(peers.gradients[e - first], peers.units):
            return False
    for e in range(first, last):
        j = int(peers.idx[e])
        update_row(peers.state, j, j, 1.0, peers.gradients[e - first])
    return True
