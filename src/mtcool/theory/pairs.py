"""The approach that fails (`sec:fail`): one learner for every pair of neighbours, and oneself."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import GraphLike, as_graph
from mtcool.graphs.entries import one_for_each_pair
from mtcool.graphs.weights import WeightsLike
from mtcool.theory.bound import IN_EXPECTATION, Bound
from mtcool.theory.setting import cliques_of, trivial, unit
from mtcool.theory.upper import COVERED, IN_THE_BALL, KNOWN_Q


def pairwise(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    *,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """The pairwise approach with adversarial rates: `thm:mt-ftrl` for every pair.

    The sum of 2 w_ii sqrt(T_i) over the agents, where FTRL learns alone, and of
    `6 max(w_ij, w_ji) (sqrt(1 + |U_i - U_j|^2 / 2) + ln 2) sqrt(T_i + T_j)` over the edges. If only
    one end of an edge has a weight on it, that end learns alone there.

    Parameters
    ----------
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import edgeless, ring
    >>> pairwise(edgeless(2), [[0.0], [1.0]], [4, 9]).value
    10.0
    >>> round(pairwise(ring(3), [[0.0]] * 3, [10, 10, 10]).value, 1)
    51.8
    """
    cliques = cliques_of(graph, tasks, counts, weights, radius, q, listens=one_for_each_pair)
    pace = cliques.largest * np.sqrt(cliques.updates) * unit(radius, lipschitz)
    single = cliques.size == 1.0
    return Bound.of(
        "sec:fail",
        ("pairwise with MTFTRL, the paper's experts, and adversarial rates", COVERED, IN_THE_BALL),
        variance=float(cliques.variance.max()),
        admitted=1.0,
        trivial=trivial(counts, radius, lipschitz),
        alone=2.0 * float(pace[single].sum()),
        similarity=6.0 * float((pace * cliques.similarity)[~single].sum()),
        experts=6.0 * math.log(2.0) * float(pace[~single].sum()),
    )


def pairwise_stochastic(
    graph: GraphLike,
    tasks: ArrayLike,
    q: ArrayLike,
    rounds: int,
    *,
    weights: WeightsLike = "uniform",
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """The pairwise approach with stochastic rates, in expectation: `thm:sto` for every pair.

    The sum of 2 w_ii sqrt(q_i T) over the agents and of
    `6 sqrt(q_i w_ij^2 + q_j w_ji^2) sqrt(1 + |U_i - U_j|^2 / 2) sqrt(T)` over the edges. With equal
    q it is at least 2 sqrt(N T), the bound of learning alone, whatever the weights.

    Parameters
    ----------
    graph, tasks, q, rounds, weights, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import edgeless
    >>> pairwise_stochastic(edgeless(4), [[0.0]] * 4, [0.25] * 4, 100).value
    40.0
    """
    network, rounds = as_graph(graph), validation.count("rounds", rounds)
    silent = np.zeros(network.size)
    cliques = cliques_of(network, tasks, silent, weights, radius, q, listens=one_for_each_pair)
    pace = np.sqrt(cliques.spread * rounds) * unit(radius, lipschitz)
    single = cliques.size == 1.0
    return Bound.of(
        "sec:fail, stochastic rates",
        (
            "pairwise with MTFTRL, the paper's experts, and stochastic rates",
            KNOWN_Q,
            IN_EXPECTATION,
            COVERED,
            IN_THE_BALL,
        ),
        variance=float(cliques.variance.max()),
        admitted=1.0,
        trivial=trivial(rounds, radius, lipschitz),
        alone=2.0 * float(pace[single].sum()),
        similarity=6.0 * float((pace * cliques.similarity)[~single].sum()),
    )
