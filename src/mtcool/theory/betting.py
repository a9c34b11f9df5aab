"""Bounds for KT, whose magnitude is the wealth of a gambler (`th:basebound`)."""

from __future__ import annotations

import math

import numpy as np
import scipy  # its submodules when they are first used: some are slow to import
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import GraphLike, as_graph
from mtcool.graphs.weights import WeightsLike
from mtcool.theory.bound import IN_EXPECTATION, Bound
from mtcool.theory.setting import CliqueSums, activations, cliques_of, rows_of, unit
from mtcool.theory.upper import KNOWN_Q
from mtcool.types import Floats

SHORT = "gradients of norm at most lipschitz"
DEVIATIONS = np.linspace(-6.0, 9.0, 31)  # of a binomial law, where its quantiles are looked up


def kt(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    *,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """MT-CO2OL with KT (`th:basebound`), by its proof without the universal constant.

    For each clique, with `v = |U|_A`: the coin's unit times 1 + max_s (v s - F_T(s)), where F_T is
    the Krichevsky-Trofimov potential, plus v times the regret of the direction,
    max w sqrt(T / N) (1/2 + 2 N / (N + 1)) (the paper's 2 in the bracket holds up to N = 3).

    Parameters
    ----------
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import edgeless
    >>> kt(edgeless(2), [[0.0], [0.0]], [100, 100]).value
    2.0
    """
    cliques = cliques_of(graph, tasks, counts, weights, radius, q, inside=False)
    magnitude = sum(
        coin * (1.0 + gain(norm, int(updates)))
        for coin, norm, updates in zip(coins(cliques), cliques.norm, cliques.updates, strict=True)
        if updates > 0
    )
    scale = unit(radius, lipschitz)
    return Bound.of(
        "th:basebound",
        ("MT-CO2OL with MTFTRLKT and adversarial rates", SHORT),
        magnitude=float(magnitude) * scale,
        direction=_direction(cliques, cliques.largest, cliques.updates) * scale,
    )


def kt_adaptive(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    *,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """MT-CO2OL with KT and beta_j^2 = b_j^2 + W_j, the squared weights that clique j received.

    As `kt`, but the regret of the direction is sqrt(b^2 + W) / (2 sqrt(N)) plus
    2 sqrt(N) / (N + 1) sqrt(W), where W is the sum of T_i w_ij^2 and b the largest weight.
    `docs/bounds.md` has the proof.

    Parameters
    ----------
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> rare = [1000, 10, 10, 10, 10, 10]  # mostly the centre is active, and its weights are small
    >>> ours, known = (f(star(6), [[0.5]] * 6, rare) for f in (kt_adaptive, kt))
    >>> ours.parts["magnitude"] == known.parts["magnitude"], ours.value < known.value
    (True, True)
    """
    network = as_graph(graph)
    known = kt(network, tasks, counts, weights=weights, q=q, radius=radius, lipschitz=lipschitz)
    cliques = cliques_of(network, tasks, counts, weights, radius, q, inside=False)
    law = None if q is None else validation.probabilities("q", q, network.size)
    rows = rows_of(network, weights, law)
    squares = rows.total(activations(network, counts)[rows.agent] * rows.weight**2)
    end = np.where(squares > 0.0, np.sqrt(cliques.largest**2 + squares), 0.0)
    roots, n = np.sqrt(cliques.size), cliques.size
    regret = end / (2.0 * roots) + 2.0 * roots / (n + 1.0) * np.sqrt(squares)
    return Bound.of(
        "th:basebound, adaptive rates",
        ("MT-CO2OL with MTFTRLKT and adaptive rates", SHORT),
        magnitude=known.parts["magnitude"],
        direction=float((cliques.norm * regret).sum()) * unit(radius, lipschitz),
    )


def kt_stochastic(
    graph: GraphLike,
    tasks: ArrayLike,
    q: ArrayLike,
    rounds: int,
    *,
    weights: WeightsLike = "proportional",
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """MT-CO2OL with KT and stochastic rates (remark after `th:basebound`), in expectation.

    As `kt`, but in the direction's regret sqrt(sum_i q_i w_ij^2) sqrt(T) stands for
    max w sqrt(T_j), which it never exceeds on average. The magnitude does not know of the rates:
    its term is the mean of that of `kt` over the number of updates, a binomial variable.
    `docs/bounds.md` has the proof.

    Parameters
    ----------
    graph, tasks, q, rounds, weights, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> bound = kt_stochastic(complete(4), [[0.5]] * 4, [0.25] * 4, 100)
    >>> round(bound.value / kt(complete(4), [[0.5]] * 4, [25] * 4).value, 9)
    1.0
    """
    network, rounds = as_graph(graph), validation.count("rounds", rounds)
    silent = np.zeros(network.size)
    cliques = cliques_of(network, tasks, silent, weights, radius, q, inside=False)
    magnitude = sum(
        coin * _mean_gain(norm, rounds, mass)
        for coin, norm, mass in zip(coins(cliques), cliques.norm, cliques.mass, strict=True)
    )
    scale = unit(radius, lipschitz)
    return Bound.of(
        "th:basebound, stochastic rates",
        ("MT-CO2OL with MTFTRLKT and stochastic rates", KNOWN_Q, IN_EXPECTATION, SHORT),
        magnitude=float(magnitude) * scale,
        direction=_direction(cliques, np.sqrt(cliques.spread), rounds) * scale,
    )


def coins(cliques: CliqueSums) -> Floats:
    """The unit of the coin's outcomes."""
    return np.where(cliques.size == 1.0, 1.0, np.sqrt(2.0 / cliques.size)) * cliques.largest


def _direction(cliques: CliqueSums, rate: Floats, updates: Floats | float) -> float:
    """Regret of the directions, each times |U|_A."""
    bracket = 0.5 + 2.0 * cliques.size / (cliques.size + 1.0)
    return float((cliques.norm * rate * np.sqrt(updates / cliques.size) * bracket).sum())


def _mean_gain(v: float, rounds: int, q: float) -> float:
    """Mean of 1 + max_s (v s - F_n(s)), or of 0 for n = 0, over binomial n.

    The gain grows with n, so its mean is at most the sum over the parts of a partition of the
    probability of the part times the gain at its end.
    """
    if q <= 0.0:
        return 0.0
    deviation = math.sqrt(rounds * q * (1.0 - q))
    ends = np.ceil(rounds * q + DEVIATIONS * deviation).clip(0.0, rounds)
    ends = np.unique(np.append(ends, rounds))
    shares = np.diff(scipy.special.bdtr(ends, rounds, q), prepend=0.0)
    gains = [gain(v, int(end)) for end in ends]
    return 1.0 - (1.0 - q) ** rounds + float(shares @ gains)


def gain(v: float, rounds: int) -> float:
    """max_s (v s - F_T(s)) over |s| <= T, for F_T(s) = 2^T G((T+1+s)/2) G((T+1-s)/2) / (pi T!)."""
    if rounds == 0 or v == 0.0:
        return 0.0

    def logarithm(s: float) -> float:
        up, down = (rounds + 1.0 + s) / 2.0, (rounds + 1.0 - s) / 2.0
        halves = math.lgamma(up) + math.lgamma(down) - math.lgamma(rounds + 1.0)
        return rounds * math.log(2.0) + halves - math.log(math.pi)

    # F_T grows with s, and nothing is to be gained beyond the s at which it passes v T.
    most, end = math.log(v * rounds + 2.0), float(rounds)
    if logarithm(end) > most:
        end = scipy.optimize.brentq(lambda s: logarithm(s) - most, 0.0, end)
    best = scipy.optimize.minimize_scalar(
        lambda s: math.exp(logarithm(s)) - v * s, bounds=(0.0, end), method="bounded"
    )
    # The search stops short of the ends, and has a tolerance.
    found = max(0.0, -float(best.fun), v * end - math.exp(logarithm(end)))
    return found * (1.0 + 1e-6)
