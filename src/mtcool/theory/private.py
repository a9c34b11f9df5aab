"""The regret of the private variant with the noise of the paper."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import GraphLike, as_graph
from mtcool.graphs.weights import WeightsLike
from mtcool.theory.bound import IN_EXPECTATION, Bound
from mtcool.theory.known import LINEAR, NOISE
from mtcool.theory.setting import cliques_of, unit
from mtcool.theory.upper import COVERED, IN_THE_BALL, any_graph

CONSTANTS = ("paper", "corrected")


def private(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    epsilon: float,
    *,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    constants: Literal["paper", "corrected"] = "corrected",
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """DPMT-CO2OL with the paper's noise (`th:reg-DP_anyG`).

    The bound of `any_graph` plus, for each clique, (2 N_j^2 + 4 d sqrt(2 N_j) sqrt(1 + sigma_j^2
    (N_j - 1))) ln^2 T / eps' with eps' = eps / (6 N_max^2).

    That is `constants="paper"`, whose proof has two wrong steps: a published sum carries
    K = floor(log2 T) + 1 noise terms, not ln T, and a Laplace variable of scale b has variance
    2 b^2, not b^2. `constants="corrected"` keeps the noise, mends both, and uses that the terms are
    independent: the standard deviation of a released sum is b sqrt(2 K).

    Parameters
    ----------
    epsilon
        The level that the paper's noise is made for.
    constants
        "corrected" or "paper", as above.
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> bound = private(ring(5), [[0.0]] * 5, [100] * 5, epsilon=1.0)
    >>> bound.value > any_graph(ring(5), [[0.0]] * 5, [100] * 5).value
    True
    """
    network, epsilon = as_graph(graph), validation.positive("epsilon", epsilon)
    validation.one_of("constants", constants, CONSTANTS)
    cliques = cliques_of(network, tasks, counts, weights, radius, q)
    dim = np.shape(tasks)[1]
    rounds = max(float(np.sum(counts)), 2.0)
    least = epsilon / (6.0 * float(network.neighbourhood_sizes.max()) ** 2)
    logarithm = math.log(rounds)
    if constants == "paper":
        losses = 2.0 * cliques.size**2 * logarithm**2 / least
        sums = 4.0 * dim * np.sqrt(2.0 * cliques.size) * cliques.similarity * logarithm**2 / least
    else:
        terms = math.floor(math.log2(rounds)) + 1.0
        # max - min of N_j sums over N_j rows each: 2 E|Z|_2 <= 2 N_j sqrt(var)
        experts = np.where(cliques.size == 1.0, 0.0, cliques.size)  # one expert needs no losses
        losses = 2.0 * experts * math.sqrt(2.0 * terms) * logarithm / least
        # 2 max|X|_A E|Z|_{A^-1}, with E|Z|^2 <= 2 d var of one coordinate
        scale = math.sqrt(2.0 * terms) * math.sqrt(dim) * logarithm / least
        sums = 2.0 * np.sqrt(2.0 * cliques.size) * cliques.similarity * math.sqrt(2.0 * dim) * scale
    plain = any_graph(
        network, tasks, counts, weights=weights, q=q, radius=radius, lipschitz=lipschitz
    )
    size = unit(radius, lipschitz)
    return Bound.of(
        "th:reg-DP_anyG",
        (
            "DPMT-CO2OL with the paper's noise, whose true privacy is not epsilon",
            "completed trees for the horizon T, pure noise published at t = 0",
            LINEAR,
            NOISE,
            IN_EXPECTATION,
            COVERED,
            IN_THE_BALL,
        ),
        variance=plain.variance,
        admitted=1.0,
        trivial=plain.trivial,
        regret=plain.value,
        expert_noise=float(losses.sum()) * size,
        gradient_noise=float(np.sum(sums)) * size,
    )
