"""Which agent listens to which clique: the peers of each named algorithm."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtcool.graphs import Graph
from mtcool.kernels import kernel
from mtcool.learners import Cliques, Learner
from mtcool.learners.learner import Floats, Integers
from mtcool.learners.two_phase import TwoPhase
from mtcool.protocol import CliquePeers, SingleTaskPeers, Units
from mtcool.setup import Setup

Indices = NDArray[np.uint32]


def assemble(setup: Setup, graph: Graph, weights: Floats) -> CliquePeers | SingleTaskPeers:
    """Fresh peers for an algorithm; `weights` has one entry for each entry of the graph."""
    if setup.algorithm == "st_ftrl":
        return _single_task(setup, graph)
    clique = _pairs(graph) if setup.algorithm == "pairwise" else graph.idx.view(np.uint32)
    return _cliques(setup, graph.ptr, clique, weights)


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


def _cliques(setup: Setup, ptr: Integers, clique: Indices, weight: Floats) -> CliquePeers:
    agents, count = len(ptr) - 1, int(clique.max()) + 1
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
    learner: Learner = setup.learner
    if setup.rates == "estimated":
        by_row = np.empty_like(weight)
        by_row[row] = weight
        _freeze(by_row)
        learner = TwoPhase(learner, by_row, setup.first_phase(agents))
    return CliquePeers(
        ptr=ptr,
        clique=clique,
        row=row,
        weight=weight,
        state=learner.make_state(Cliques(start, rate, bound), setup.dim),
        units=_units(setup),
        models=np.zeros((int(np.diff(ptr).max()), setup.dim)),
    )


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
