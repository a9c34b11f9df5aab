"""Cliques that know the variance of their tasks: one expert, and nothing but gradients is sent.

Proofs are in `docs/bounds.md`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import GraphLike, as_graph
from mtcool.graphs.weights import WeightsLike
from mtcool.theory.bound import IN_EXPECTATION, Bound
from mtcool.theory.setting import CliqueRows, cliques_of, rows_of, trivial, unit
from mtcool.theory.upper import IN_THE_BALL
from mtcool.types import Floats

LINEAR = "linear losses"
NOISE = "tasks and activations that do not depend on the noise"
ADMITTED = "variances of the tasks at most that of the expert"


class _Single(NamedTuple):
    """The cliques of a network with one expert each, one entry for each."""

    size: Floats
    largest: Floats
    updates: Floats
    guess: Floats
    """The expert's variance, xi."""
    similarity: Floats
    """sqrt(1 + xi (N - 1))."""
    regret: Floats
    """Without noise."""
    rows: CliqueRows
    covers: dict[str, float]
    """Largest variance of the tasks, and the largest that is admitted."""


def known_variances(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    *,
    variance: float | None = None,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """MT-CO2OL with one expert in each clique, `MTFTRL(experts=[variance])`.

    The sum over the cliques of `max w sqrt(T_j) (|U|_A^2 / (2 N p) + 2 N p / (N + 1))`, where
    p = sqrt(1 + xi (N - 1)) and `|U|_A^2 <= N (1 + sigma_j^2 (N - 1))`: at most
    5/2 max w p sqrt(T_j).

    Parameters
    ----------
    variance
        The variance xi that every clique's expert assumes, in units of the ball, at least every
        sigma_j^2; without it, every clique knows its own.
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> known_variances(complete(3), [[1.0]] * 3, [12, 12, 12]).value
    12.0
    """
    single = _single(graph, tasks, counts, variance, weights, q, radius)
    return Bound.of(
        "thm:any-G, known variances",
        ("MT-CO2OL with one expert and adversarial rates", ADMITTED, IN_THE_BALL),
        **single.covers,
        trivial=trivial(counts, radius, lipschitz),
        regret=float(single.regret.sum()) * unit(radius, lipschitz),
    )


def private_known_variances(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    noise: ArrayLike,
    *,
    variance: float | None = None,
    grows: bool = False,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """DPMT-CO2OL with one expert in each clique (remark after `th:reg-DP_anyG`), in expectation.

    `known_variances` plus, for each clique, sqrt(d) times the smaller of sum_i w_ij s_i and
    (1 + (N - 1) sqrt(xi / N)) sqrt(sum_i w_ij^2 s_i^2).

    Parameters
    ----------
    noise
        s_i, the standard deviation of the noise in each coordinate of a published sum of gradients,
        in the units of the gradients: one number, or one for each agent. `tree_noise` has that of
        the completed binary tree, `mtcool.published_noise` that of every mechanism.
    grows
        Noise must have the same law at all times, as that of completed and of smooth trees has. If
        not, say so: for Gaussian noise whose variance never falls the first of the two terms
        holds, with the noise at the end.
    variance
        As in `known_variances`.
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> graph, tasks, counts = complete(4), [[1.0]] * 4, [1000] * 4
    >>> round(private_known_variances(graph, tasks, counts, 50.0).parts["gradient_noise"], 6)
    100.0
    """
    single = _single(graph, tasks, counts, variance, weights, q, radius)
    dim, each = np.shape(tasks)[1], _noise(noise, as_graph(graph).size, lipschitz)
    loud = single.rows.weight * each[single.rows.agent]
    cost = single.rows.total(loud)
    if not grows:
        reach = 1.0 + (single.size - 1.0) * np.sqrt(single.guess / single.size)
        cost = np.minimum(cost, reach * np.sqrt(single.rows.total(loud**2)))
    size = unit(radius, lipschitz)
    law = "Gaussian noise that never falls" if grows else "noise of the same law at all times"
    return Bound.of(
        "th:reg-DP_anyG, known variances",
        (
            f"DPMT-CO2OL with one expert, adversarial rates and {law}",
            LINEAR,
            NOISE,
            IN_EXPECTATION,
            ADMITTED,
            IN_THE_BALL,
        ),
        **single.covers,
        trivial=trivial(counts, radius, lipschitz),
        regret=float(single.regret.sum()) * size,
        gradient_noise=math.sqrt(dim) * float(cost.sum()) * size,
    )


def per_gradient_noise(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    noise: ArrayLike,
    *,
    variance: float | None = None,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """DPMT-CO2OL with one expert and noise on every gradient, in expectation; any convex losses.

    `known_variances` plus, for each clique, 2 N p / ((N + 1) max w) times
    max_i w_ij^2 d s_i^2 sqrt(T_j) + max_i w_ij^2 (2 sqrt(d) s_i + d s_i^2) sqrt(min(N, T_j)),
    plus 2 sqrt(d) sum_i s_i for what agents publish before they are active. The cost grows as
    sqrt(T), like the regret: the remark after `th:reg-DP_anyG` warns of that.

    Parameters
    ----------
    noise
        s_i, the standard deviation in each coordinate of one gradient: one number, or one for each
        agent.
    variance
        As in `known_variances`.
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> graph, tasks = complete(4), [[1.0]] * 4
    >>> long, longer = (per_gradient_noise(graph, tasks, [t] * 4, 1.0) for t in (10**6, 4 * 10**6))
    >>> round(longer.parts["gradient_noise"] / long.parts["gradient_noise"], 2)
    2.0
    """
    single = _single(graph, tasks, counts, variance, weights, q, radius)
    dim, each = np.shape(tasks)[1], _noise(noise, as_graph(graph).size, lipschitz)
    length, weight = math.sqrt(dim) * each[single.rows.agent], single.rows.weight
    later = single.rows.most((weight * length) ** 2) * np.sqrt(single.updates)
    first = single.rows.most(weight**2 * (2.0 * length + length**2))
    first *= np.sqrt(np.minimum(single.size, single.updates))
    factor = 2.0 * single.size * single.similarity / ((single.size + 1.0) * single.largest)
    size = unit(radius, lipschitz)
    return Bound.of(
        "th:reg-DP_anyG, noise on every gradient",
        (
            "DPMT-CO2OL with one expert, adversarial rates and noise on every gradient",
            NOISE,
            IN_EXPECTATION,
            ADMITTED,
            IN_THE_BALL,
        ),
        **single.covers,
        trivial=trivial(counts, radius, lipschitz),
        regret=float(single.regret.sum()) * size,
        gradient_noise=float((factor * (later + first)).sum()) * size,
        before_activation=2.0 * math.sqrt(dim) * float(each.sum()) * size,
    )


def tree_noise(epsilon: float, dim: int, horizon: int, *, lipschitz: float = 1.0) -> float:
    """Standard deviation in each coordinate of a sum of gradients from a completed binary tree.

    2 sqrt(d) K sqrt(2 K) / epsilon with K = floor(log2 T) + 1: what `dpmt_co2ol` adds, by default,
    for one expert and `horizon` activations of an agent.

    Parameters
    ----------
    epsilon, dim, horizon
        Privacy level, dimension of the tasks, and most activations of an agent.
    lipschitz
        Bound on the gradients' norms.

    Examples
    --------
    >>> tree_noise(1.0, dim=1, horizon=3)
    8.0
    """
    epsilon, dim = validation.positive("epsilon", epsilon), validation.count("dim", dim)
    levels = validation.count("horizon", horizon).bit_length()
    scale = 2.0 * math.sqrt(dim) * levels / epsilon
    return scale * math.sqrt(2.0 * levels) * validation.positive("lipschitz", lipschitz)


def _single(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    variance: float | None,
    weights: WeightsLike,
    q: ArrayLike | None,
    radius: float,
) -> _Single:
    network = as_graph(graph)
    cliques = cliques_of(network, tasks, counts, weights, radius, q)
    known = None if variance is None else validation.non_negative("variance", variance)
    guess = cliques.variance if known is None else np.full_like(cliques.variance, known)
    n, similarity = cliques.size, np.sqrt(1.0 + guess * (cliques.size - 1.0))
    bracket = cliques.norm**2 / (2.0 * n * similarity) + 2.0 * n * similarity / (n + 1.0)
    law = None if q is None else validation.probabilities("q", q, network.size)
    return _Single(
        size=n,
        largest=cliques.largest,
        updates=cliques.updates,
        guess=guess,
        similarity=similarity,
        regret=cliques.largest * np.sqrt(cliques.updates) * bracket,
        rows=rows_of(network, weights, law),
        covers={
            "variance": float(cliques.variance.max()),
            "admitted": math.inf if known is None else known,
        },
    )


def _noise(noise: ArrayLike, agents: int, lipschitz: float) -> Floats:
    """Deviations of the agents in units of the Lipschitz constant."""
    given = validation.numbers("noise", noise)
    if given.shape not in ((), (agents,)):
        raise ValueError(
            f"noise must be one number or one for each of the {agents} agents, got {given.size}"
        )
    if given.min() < 0.0:
        raise ValueError(f"noise must not be negative, got {given.min()}")
    return np.broadcast_to(given, (agents,)) / validation.positive("lipschitz", lipschitz)
