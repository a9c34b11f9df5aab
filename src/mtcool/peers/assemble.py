"""Which agent listens to which clique: the peers of each named algorithm."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtcool.graphs import Graph
from mtcool.kernels import kernel
from mtcool.learners import MTFTRL, Cliques, Learner
from mtcool.learners.dp_mt_ftrl import make_private_state
from mtcool.learners.learner import Floats, Integers
from mtcool.learners.two_phase import TwoPhase
from mtcool.peers.private import Desk, PrivatePeers, PrivateState
from mtcool.peers.protocol import CliquePeers, SingleTaskPeers, Units
from mtcool.peers.setup import Setup
from mtcool.privacy.aggregators.aggregator import Blocks
from mtcool.privacy.calibration import Channels, make_channels
from mtcool.privacy.release import GRID
from mtcool.privacy.sanitiser import CAPACITY

Indices = NDArray[np.uint32]


Peers: TypeAlias = CliquePeers | PrivatePeers | SingleTaskPeers


def assemble(setup: Setup, graph: Graph, weights: Floats) -> Peers:
    """Fresh peers for an algorithm; `weights` has one entry for each entry of the graph."""
    if setup.algorithm == "st_ftrl":
        return _single_task(setup, graph)
    clique = _pairs(graph) if setup.algorithm == "pairwise" else graph.idx.view(np.uint32)
    entries, cliques = _entries(setup, graph.ptr, clique, weights)
    if setup.algorithm == "dpmt_co2ol":
        return _private(setup, entries, cliques)
    return _cliques(setup, entries, cliques)


def _pairs(graph: Graph) -> Indices:
    """Clique of every entry (i, j) in the pairwise approach: one for each edge, and one for i = j.

    Agent i's own clique has number i, the edges follow in the order of their smaller end.
    """
    i = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    low, high = np.minimum(i, graph.idx), np.maximum(i, graph.idx)
    clique = low.astype(np.int64)
    edges = low != high
    _, number = np.unique(low[edges] * graph.size + high[edges], return_inverse=True)
    clique[edges] = graph.size + number
    return clique.astype(np.uint32)


class _Entries(NamedTuple):
    """Who listens to which row of which clique, as in `CliquePeers`."""

    ptr: Integers
    clique: Indices
    row: Indices
    weight: Floats

    @property
    def most(self) -> int:
        """Largest number of models that one agent fetches."""
        return int(np.diff(self.ptr).max())


def _entries(
    setup: Setup, ptr: Integers, clique: Indices, weight: Floats
) -> tuple[_Entries, Cliques]:
    count = int(clique.max()) + 1
    kept = weight > 0.0
    if not kept.all():  # a zero weight removes the row from the clique
        ptr = np.concatenate(([0], np.cumsum(kept)))[ptr]
        clique, weight = clique[kept], weight[kept]
    start, row = _rows(clique, count)
    _freeze(ptr, clique, row, weight, start)
    q = None if setup.q is None or setup.rates != "stochastic" else np.array(setup.q)
    bound = np.zeros(count)
    np.maximum.at(bound, clique, weight)
    rate = bound if q is None else _stochastic_rate(q, ptr, clique, weight, bound)
    return _Entries(ptr, clique, row, weight), Cliques(start, rate, bound)


def _cliques(setup: Setup, entries: _Entries, cliques: Cliques) -> CliquePeers:
    learner: Learner = setup.learner
    if setup.rates == "estimated":
        by_row = np.empty_like(entries.weight)
        by_row[entries.row] = entries.weight
        _freeze(by_row)
        learner = TwoPhase(learner, by_row, setup.first_phase(len(entries.ptr) - 1))
    return CliquePeers(
        *entries,
        state=learner.make_state(cliques, setup.dim),
        units=_units(setup),
        models=np.zeros((entries.most, setup.dim)),
    )


def _private(setup: Setup, entries: _Entries, cliques: Cliques) -> PrivatePeers:
    privacy, learner = setup.privacy, setup.learner
    if privacy is None or not isinstance(learner, MTFTRL):
        raise ValueError(f"privacy must be set for {setup.algorithm}, got {privacy!r}")
    state = make_private_state(learner, cliques, setup.dim)
    channels = _channels(setup, entries, cliques)
    horizon = np.array(privacy.horizon, np.int64)
    blocks = Blocks(channels.width, horizon)
    widest, rows = int(channels.width.max()), int(state.base.plan["experts"].max())
    _freeze(horizon)
    return PrivatePeers(
        *entries,
        state=PrivateState(state, privacy.aggregator.make_state(blocks, privacy.law)),
        units=_units(setup),
        models=np.zeros((entries.most, setup.dim)),
        horizon=horizon,
        grid=GRID if privacy.noise == "exact" else 0.0,
        work=Desk(
            rows=np.zeros((rows, setup.dim)),
            leaf=np.zeros(widest),
            value=np.zeros(widest),
            noisy=np.zeros(widest),
            draws=np.zeros(max(CAPACITY, widest)),
            cursor=np.zeros(2, np.int64),
        ),
    )


def channels_for(setup: Setup, graph: Graph, weights: Floats) -> Channels:
    """What the agents' leaves hold, without a state for them."""
    return _channels(setup, *_entries(setup, graph.ptr, graph.idx.view(np.uint32), weights))


def _channels(setup: Setup, entries: _Entries, cliques: Cliques) -> Channels:
    sizes = np.diff(cliques.start)
    if not isinstance(setup.learner, MTFTRL):
        raise ValueError(f"learner must be MTFTRL(...), got {setup.learner!r}")
    experts = setup.learner.numbers(sizes)
    return make_channels(setup.dim, entries.ptr, entries.clique, entries.weight, experts, sizes)


def _stochastic_rate(
    q: Floats, ptr: Integers, clique: Indices, weight: Floats, bound: Floats
) -> Floats:
    """sqrt(sum_i (q_i / Q_j) w_ij^2) over the rows of clique j (Theorem `thm:sto`)."""
    by_entry = np.repeat(q, np.diff(ptr))
    mass = np.bincount(clique, weights=by_entry, minlength=len(bound))
    variance = np.bincount(clique, weights=by_entry * weight**2, minlength=len(bound))
    # A clique whose agents are never active according to q keeps the adversarial rate.
    known = mass > 0.0
    return np.sqrt(np.divide(variance, mass, out=bound**2, where=known))


def _single_task(setup: Setup, graph: Graph) -> SingleTaskPeers:
    cliques = Cliques(np.arange(graph.size + 1), np.ones(graph.size), np.ones(graph.size))
    _freeze(cliques.start)
    return SingleTaskPeers(
        ptr=graph.ptr,
        idx=graph.idx,
        state=setup.learner.make_state(cliques, setup.dim),
        units=_units(setup),
        gradients=np.zeros((int(graph.neighbourhood_sizes.max()), setup.dim)),
        weight=np.ones(1),
        point=np.zeros(setup.dim),
    )


def _units(setup: Setup) -> Units:
    return Units(setup.radius, setup.lipschitz, setup.on_excess == "clip")


def _rows(clique: Indices, count: int) -> tuple[Integers, Indices]:
    """First row of every clique, and the row of every entry: rows ascend by agent in a clique."""
    if len(clique) >= 2**31:
        raise ValueError(f"graph must have fewer than 2**31 entries, got {len(clique)}")
    start = np.concatenate(([0], np.cumsum(np.bincount(clique, minlength=count))))
    row = np.empty(len(clique), np.uint32)
    _number_rows(clique, start[:-1].copy(), row)
    return start, row


@kernel
def _number_rows(clique: Any, following: Any, row: Any) -> None:
    for e in range(clique.shape[0]):
        row[e] = following[clique[e]]
        following[clique[e]] += 1


def _freeze(*arrays: NDArray[Any]) -> None:
    """Read-only, as the arrays of a graph are: numba then sees one type, whoever made them."""
    for array in arrays:
        array.setflags(write=False)
