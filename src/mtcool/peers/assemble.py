"""Which agent listens to which clique: the peers of each named algorithm."""

from typing import TypeAlias

import numpy as np

from mtcool.graphs import Graph
from mtcool.kernels import kernel
from mtcool.learners import Cliques, Learner
from mtcool.learners.dp_mt_ftrl import make_private_state
from mtcool.learners.two_phase import TwoPhase
from mtcool.peers.cliques import CliquePeers
from mtcool.peers.entries import Entries, freeze
from mtcool.peers.private import PrivatePeers, PrivateState, ReleaseScratch
from mtcool.peers.settings import Settings
from mtcool.peers.single_task import SingleTaskPeers
from mtcool.privacy.aggregators.aggregator import Blocks
from mtcool.privacy.calibration import Channels, make_channels
from mtcool.privacy.release import GRID
from mtcool.privacy.sanitiser import CAPACITY
from mtcool.types import Floats, Indices, Integers

Peers: TypeAlias = CliquePeers | PrivatePeers | SingleTaskPeers


def clique_peers(settings: Settings, graph: Graph, weights: Floats) -> CliquePeers:
    """Agents that keep a model of each neighbour's task, in the cliques of their algorithm.

    Parameters
    ----------
    settings, graph, weights
        What a network gives to the `peers` of its record.

    Examples
    --------
    >>> import mtcool
    >>> mtcool.algorithms.algorithm("i_ftrl").peers is clique_peers
    True
    """
    entries, cliques = _entries(settings, graph, weights)
    learner: Learner = settings.clique_learner
    if settings.rates == "estimated":
        by_row = np.empty_like(entries.weight)
        by_row[entries.row] = entries.weight
        freeze(by_row)
        learner = TwoPhase(learner, by_row, settings.first_phase(graph.size))
    return CliquePeers(
        *entries,
        state=learner.make_state(cliques, settings.dim),
        units=settings.units,
        models=np.zeros((entries.most, settings.dim)),
        gradients=np.zeros((1, settings.dim)),
    )


def _entries(settings: Settings, graph: Graph, weight: Floats) -> tuple[Entries, Cliques]:
    ptr, clique = graph.ptr, settings.algorithm.cliques(graph)
    count = int(clique.max()) + 1
    kept = weight > 0.0
    if not kept.all():  # a zero weight removes the row from the clique
        ptr = np.concatenate(([0], np.cumsum(kept)))[ptr]
        clique, weight = clique[kept], weight[kept]
    start, row = _rows(clique, count)
    freeze(ptr, clique, row, weight, start)
    entries = Entries(ptr, clique, row, weight)
    bound = np.zeros(count)
    np.maximum.at(bound, clique, weight)
    rate = bound
    if settings.rates == "stochastic" and settings.q is not None:
        rate = _stochastic_rate(np.array(settings.q), *entries, bound)
    return entries, Cliques(start, rate, bound)


def private_peers(settings: Settings, graph: Graph, weights: Floats) -> PrivatePeers:
    """Agents that learn from noisy sums."""
    entries, cliques = _entries(settings, graph, weights)
    privacy, learner = settings.published
    state = make_private_state(learner, cliques, settings.dim)
    channels = _channels(settings, entries, cliques)
    horizon = np.array(privacy.horizon, np.int64)
    blocks = Blocks(channels.width, horizon)
    widest = int(channels.width.max())
    products = np.diff(state.first)[entries.row]
    freeze(horizon, products)
    return PrivatePeers(
        *entries,
        state=PrivateState(state, privacy.aggregator.make_state(blocks, privacy.law)),
        units=settings.units,
        models=np.zeros((entries.most, settings.dim)),
        gradients=np.zeros((1, settings.dim)),
        products=products,
        horizon=horizon,
        grid=GRID if privacy.noise == "exact" else 0.0,
        work=ReleaseScratch(
            rows=np.zeros((int(channels.products.max()), settings.dim)),
            leaf=np.zeros(widest),
            value=np.zeros(widest),
            noisy=np.zeros(widest),
            draws=np.zeros(max(CAPACITY, widest)),
            cursor=np.zeros(2, np.int64),
        ),
    )


def channels_for(settings: Settings, graph: Graph, weights: Floats) -> Channels:
    """What the agents' leaves hold, without a state for them."""
    return _channels(settings, *_entries(settings, graph, weights))


def _channels(settings: Settings, entries: Entries, cliques: Cliques) -> Channels:
    sizes, (_, learner) = np.diff(cliques.start), settings.published
    experts = learner.numbers(sizes)
    return make_channels(settings.dim, entries.ptr, entries.clique, entries.weight, experts, sizes)


def _stochastic_rate(
    q: Floats, ptr: Integers, clique: Indices, row: Indices, weight: Floats, bound: Floats
) -> Floats:
    """sqrt(sum_i (q_i / Q_j) w_ij^2) over the rows of clique j (Theorem `thm:sto`)."""
    by_entry = np.repeat(q, np.diff(ptr))
    mass = np.bincount(clique, weights=by_entry, minlength=len(bound))
    variance = np.bincount(clique, weights=by_entry * weight**2, minlength=len(bound))
    # A clique whose agents are never active according to q keeps the adversarial rate.
    known = mass > 0.0
    return np.sqrt(np.divide(variance, mass, out=bound**2, where=known))


def single_task_peers(settings: Settings, graph: Graph, weights: Floats) -> SingleTaskPeers:
    """Agents that share one task: the graph tells who hears whom, and weights play no part."""
    cliques = Cliques(np.arange(graph.size + 1), np.ones(graph.size), np.ones(graph.size))
    freeze(cliques.start)
    return SingleTaskPeers(
        ptr=graph.ptr,
        idx=graph.idx,
        state=settings.clique_learner.make_state(cliques, settings.dim),
        units=settings.units,
        gradients=np.zeros((int(graph.neighbourhood_sizes.max()), settings.dim)),
        weight=np.ones(1),
        point=np.zeros((1, settings.dim)),
    )


def _rows(clique: Indices, count: int) -> tuple[Integers, Indices]:
    """First row of every clique, and the row of every entry: rows ascend by agent in a clique."""
    if len(clique) >= 2**31:
        raise ValueError(f"graph must have fewer than 2**31 entries, got {len(clique)}")
    start = np.concatenate(([0], np.cumsum(np.bincount(clique, minlength=count))))
    row = np.empty(len(clique), np.uint32)
    _number_rows(clique, start[:-1].copy(), row)
    return start, row


@kernel
def _number_rows(clique: Indices, following: Integers, row: Indices) -> None:
    for e in range(clique.shape[0]):
        row[e] = following[clique[e]]
        following[clique[e]] += 1
