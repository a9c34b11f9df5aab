"""Rates from the weights that cliques have received, `rates="adaptive"`.

Nothing is known beforehand: neither activation probabilities, nor the horizon, nor weights. Proofs
are in `docs/bounds.md`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import GraphLike, as_graph
from mtcool.graphs.weights import WeightsLike
from mtcool.theory.bound import IN_EXPECTATION, Bound
from mtcool.theory.setting import CliqueSums, activations, cliques_of, rows_of, trivial, unit
from mtcool.theory.upper import COVERED, IN_THE_BALL, KNOWN_Q
from mtcool.types import Floats

MEASURED = "MT-CO2OL with MTFTRL, the paper's experts, and adaptive rates"


def adaptive(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    *,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """MT-CO2OL with beta_j^2 = b_j^2 + W_j, the squared weights that clique j has received.

    The sum over the cliques of `|U|_A^2 / (2 N p) sqrt(b^2 + W) + 2 N p / (N + 1) sqrt(W)`, for the
    expert, and sqrt(ln N) (sqrt(b^2 + W) + sqrt(W)), for Hedge, where p = sqrt(1 + xi (N - 1)) and
    xi is the smallest expert that is at least sigma_j^2. W is the sum of T_i w_ij^2, and b the
    largest weight, so this is never much more than `any_graph`.

    Parameters
    ----------
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> from mtcool.theory import any_graph
    >>> rare = [1000, 10, 10, 10, 10, 10]  # mostly one agent is active
    >>> ours, known = adaptive(ring(6), [[0.0]] * 6, rare), any_graph(ring(6), [[0.0]] * 6, rare)
    >>> ours.value < known.value
    True
    """
    network = as_graph(graph)
    cliques = cliques_of(network, tasks, counts, weights, radius, q)
    law = None if q is None else validation.probabilities("q", q, network.size)
    rows = rows_of(network, weights, law)
    received = rows.total(activations(network, counts)[rows.agent] * rows.weight**2)
    parts = _parts(cliques, received, unit(radius, lipschitz))
    return Bound.of(
        "adaptive rates",
        (MEASURED, COVERED, IN_THE_BALL),
        variance=float(cliques.variance.max()),
        admitted=1.0,
        trivial=trivial(counts, radius, lipschitz),
        **parts,
    )


def adaptive_stochastic(
    graph: GraphLike,
    tasks: ArrayLike,
    q: ArrayLike,
    rounds: int,
    *,
    weights: WeightsLike = "uniform",
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """The mean of `adaptive` over independent activations: W is at most T sum_i q_i w_ij^2.

    The bound of the theorem on stochastic activations (`thm:sto`), without knowing q.

    Parameters
    ----------
    graph, tasks, q, rounds, weights, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> from mtcool.theory import unknown_q
    >>> law = complete(4), [[0.0]] * 4, [0.25] * 4, 100
    >>> adaptive_stochastic(*law).value < unknown_q(*law).value
    True
    """
    network, rounds = as_graph(graph), validation.count("rounds", rounds)
    cliques = cliques_of(network, tasks, np.zeros(network.size), weights, radius, q)
    parts = _parts(cliques, rounds * cliques.spread, unit(radius, lipschitz))
    return Bound.of(
        "adaptive rates, stochastic activations",
        (MEASURED, KNOWN_Q, IN_EXPECTATION, COVERED, IN_THE_BALL),
        variance=float(cliques.variance.max()),
        admitted=1.0,
        trivial=trivial(rounds, radius, lipschitz),
        **parts,
    )


def _parts(cliques: CliqueSums, received: Floats, scale: float) -> dict[str, float]:
    """The terms of the bound, for cliques that received these sums of squared weights."""
    n = cliques.size
    expert = np.minimum(np.maximum(np.ceil(cliques.variance * n - 1e-9), 1.0), n) / n
    p = np.where(n > 1.0, np.sqrt(1.0 + expert * (n - 1.0)), 1.0)
    # A clique that received nothing has no regret.
    end = np.where(received > 0.0, np.sqrt(cliques.largest**2 + received), 0.0)
    steps = np.sqrt(received)
    one = cliques.norm**2 / (2.0 * n * p) * end + 2.0 * n * p / (n + 1.0) * steps
    hedge = np.sqrt(np.log(n)) * (end + steps)
    return {"similarity": float(one.sum()) * scale, "experts": float(hedge.sum()) * scale}
