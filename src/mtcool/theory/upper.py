"""Upper bounds on the regret, each named after the statement of the paper that it implements.

The paper hides logarithms; here are the constants of its proofs, mended where they do not hold
(`docs/fidelity.md`), and the terms that the logarithms stand for. All bounds are in the units of
the losses: those of the paper times radius and Lipschitz constant.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import Graph, GraphLike, as_graph, domination_number, independence_number
from mtcool.graphs.weights import WeightsLike
from mtcool.streams import local_variances
from mtcool.theory.bound import IN_EXPECTATION, Bound
from mtcool.theory.setting import cliques_of, scaled_tasks, trivial, unit

IN_THE_BALL = "tasks in the ball, gradients of norm at most lipschitz"
HEDGE = "MT-CO2OL with MTFTRL, the paper's experts, and adversarial rates"
COVERED = "local variances at most 1, or a free last expert"
KNOWN_Q = "independent activations with probabilities q, on which the tasks do not depend"


def independent(counts: ArrayLike, *, radius: float = 1.0, lipschitz: float = 1.0) -> Bound:
    """i-FTRL (`eq:regret_indep`): the sum of 2 sqrt(T_i).

    Parameters
    ----------
    counts, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> independent([4, 9]).value
    10.0
    """
    active = np.atleast_1d(validation.numbers("counts", counts))
    if active.ndim != 1 or active.min(initial=0.0) < 0:
        raise ValueError(f"counts must be a list of numbers of rounds, got {counts!r}")
    alone = 2.0 * float(np.sqrt(active).sum()) * unit(radius, lipschitz)
    most = trivial(active, radius, lipschitz)
    return Bound.of("eq:regret_indep", ("i-FTRL with FTRL", IN_THE_BALL), trivial=most, alone=alone)


def clique(
    agents: int, variance: float, rounds: int, *, radius: float = 1.0, lipschitz: float = 1.0
) -> Bound:
    """MT-FTRL on a clique (`thm:mt-ftrl`): 6 (sqrt(1 + sigma^2 (N - 1)) + ln N) sqrt(T).

    Parameters
    ----------
    agents, variance, rounds
        N, sigma^2 of the tasks in units of the radius, and T.
    radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> round(clique(agents=30, variance=0.0, rounds=100).value, 1)
    264.1
    """
    n, rounds = validation.count("agents", agents), validation.count("rounds", rounds)
    variance = validation.non_negative("variance", variance)
    scale = 6.0 * math.sqrt(rounds) * unit(radius, lipschitz)
    return Bound.of(
        "thm:mt-ftrl",
        ("a complete graph", HEDGE, COVERED, IN_THE_BALL),
        trivial=trivial(rounds, radius, lipschitz),
        similarity=scale * math.sqrt(1.0 + variance * (n - 1)),
        experts=scale * math.log(n),
    )


def any_graph(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    *,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """MT-CO2OL on any graph with any weights (`thm:any-G`, first claim).

    6 sum_j max_i w_ij (sqrt(1 + sigma_j^2 (N_j - 1)) + ln N_j) sqrt(sum_i T_i).

    Parameters
    ----------
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> round(any_graph(ring(3), [[0.0]] * 3, [10, 10, 10]).value, 1)
    69.0
    """
    cliques = cliques_of(graph, tasks, counts, weights, radius, q)
    weight = 6.0 * cliques.largest * np.sqrt(cliques.updates) * unit(radius, lipschitz)
    return Bound.of(
        "thm:any-G",
        (HEDGE, COVERED, IN_THE_BALL),
        variance=float(cliques.variance.max()),
        admitted=1.0,
        trivial=trivial(counts, radius, lipschitz),
        similarity=float((weight * cliques.similarity).sum()),
        experts=float((weight * np.log(cliques.size)).sum()),
    )


def uniform_weights(
    graph: GraphLike,
    tasks: ArrayLike,
    rounds: int,
    *,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """MT-CO2OL with uniform weights, from N, N_min, N_max and the variances alone (second claim).

    Parameters
    ----------
    graph, tasks, rounds, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> same = uniform_weights(complete(30), [[0.0]] * 30, rounds=100).value
    >>> same == clique(agents=30, variance=0.0, rounds=100).value
    True
    """
    network = as_graph(graph)
    rounds = validation.count("rounds", rounds)
    variance = local_variances(network, scaled_tasks(network, tasks, radius))
    n, sizes = network.size, network.neighbourhood_sizes
    least, most = int(sizes.min()), int(sizes.max())
    worst = math.sqrt(n * most) / least
    mean = n / least
    scale = 6.0 * math.sqrt(rounds) * unit(radius, lipschitz)
    return Bound.of(
        "thm:any-G, uniform weights",
        (HEDGE, "uniform weights", COVERED, IN_THE_BALL),
        trivial=trivial(rounds, radius, lipschitz),
        similarity=scale
        * min(
            worst * math.sqrt(1.0 + float(variance.max()) * (most - 1)),
            mean * math.sqrt(1.0 + float(variance.mean()) * (most - 1)),
        ),
        experts=scale * min(worst, mean) * math.log(most),
    )


def delegation(
    graph: GraphLike,
    tasks: ArrayLike,
    rounds: int,
    *,
    radius: float = 1.0,
    lipschitz: float = 1.0,
    time_limit: float = 60.0,
) -> Bound:
    """MT-CO2OL with delegation to a smallest dominating set (third claim).

    6 (sqrt(1 + Delta^2 (N_max - 1)) + ln N_max) sqrt(gamma(G) T), where Delta is the largest
    distance between the tasks of neighbours. If gamma is not proven within the time limit its upper
    end stands for it, which a set of that size attains.

    Parameters
    ----------
    graph, tasks, rounds, radius, lipschitz, time_limit
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> delegation(star(4), [[0.0]] * 4, 100).value == clique(4, 0.0, 100).value
    True
    """
    network = as_graph(graph)
    rounds = validation.count("rounds", rounds)
    rows = scaled_tasks(network, tasks, radius)
    agent = np.repeat(np.arange(network.size), network.neighbourhood_sizes)
    furthest = float(((rows[agent] - rows[network.idx]) ** 2).sum(axis=1).max())
    most = int(network.neighbourhood_sizes.max())
    gamma = domination_number(network, time_limit=time_limit).upper
    scale = 6.0 * math.sqrt(gamma * rounds) * unit(radius, lipschitz)
    return Bound.of(
        "thm:any-G, delegation",
        (HEDGE, "delegation to a dominating set of the size that counts", COVERED, IN_THE_BALL),
        trivial=trivial(rounds, radius, lipschitz),
        similarity=scale * math.sqrt(1.0 + furthest * (most - 1)),
        experts=scale * math.log(most),
    )


def regular_graph(
    graph: GraphLike, tasks: ArrayLike, rounds: int, *, radius: float = 1.0, lipschitz: float = 1.0
) -> Bound:
    """K-regular graphs (`cor:reggraphs_cliques`): sqrt(1 + K sigma_max^2) sqrt(N T / (K + 1)).

    Parameters
    ----------
    graph, tasks, rounds, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> round(regular_graph(ring(6), [[0.0]] * 6, 100).parts["similarity"], 6)
    84.852814
    """
    network = as_graph(graph)
    sizes = network.neighbourhood_sizes
    if sizes.min() != sizes.max():
        found = f"degrees {sizes.min() - 1} to {sizes.max() - 1}"
        raise ValueError(f"graph must be regular, got {found}")
    rounds, k = validation.count("rounds", rounds), int(sizes[0]) - 1
    variance = local_variances(network, scaled_tasks(network, tasks, radius))
    scale = 6.0 * math.sqrt(network.size * rounds / (k + 1)) * unit(radius, lipschitz)
    return Bound.of(
        "cor:reggraphs_cliques, regular",
        (HEDGE, "uniform weights", COVERED, IN_THE_BALL),
        trivial=trivial(rounds, radius, lipschitz),
        similarity=scale * math.sqrt(1.0 + k * float(variance.max())),
        experts=scale * math.log(k + 1),
    )


def union_of_cliques(
    graph: GraphLike, tasks: ArrayLike, rounds: int, *, radius: float = 1.0, lipschitz: float = 1.0
) -> Bound:
    """Unions of chi cliques (`cor:reggraphs_cliques`): sqrt(chi + sigma_max^2 (N - chi)) sqrt(T).

    Parameters
    ----------
    graph, tasks, rounds, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import cliques
    >>> round(union_of_cliques(cliques([2, 2]), [[0.0]] * 4, 100).parts["similarity"], 6)
    84.852814
    """
    network = as_graph(graph)
    rounds, chi = validation.count("rounds", rounds), _cliques_in(network)
    variance = local_variances(network, scaled_tasks(network, tasks, radius))
    most = int(network.neighbourhood_sizes.max())
    scale = 6.0 * math.sqrt(rounds) * unit(radius, lipschitz)
    return Bound.of(
        "cor:reggraphs_cliques, cliques",
        (HEDGE, "uniform weights", COVERED, IN_THE_BALL),
        trivial=trivial(rounds, radius, lipschitz),
        similarity=scale * math.sqrt(chi + float(variance.max()) * (network.size - chi)),
        experts=scale * math.sqrt(chi) * math.log(most),
    )


def _cliques_in(graph: Graph) -> int:
    """The number of cliques of a union of cliques: neighbours have the same neighbourhood."""
    firsts = graph.idx[graph.ptr[:-1]]
    agent = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    sizes = graph.neighbourhood_sizes
    if (firsts[agent] != firsts[graph.idx]).any() or (sizes[agent] != sizes[graph.idx]).any():
        raise ValueError("graph must be a union of cliques, got neighbours with other neighbours")
    return int(np.unique(firsts).size)


def stochastic(
    graph: GraphLike,
    tasks: ArrayLike,
    q: ArrayLike,
    rounds: int,
    *,
    weights: WeightsLike = "proportional",
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """Stochastic activations with known q and any weights (`thm:sto`, first claim).

    6 sum_j sqrt(sum_i q_i w_ij^2) sqrt(1 + sigma_j^2 (N_j - 1)) sqrt(T ln N). Where ln N < 1 the
    proof gives 1 in its place.

    Parameters
    ----------
    graph, tasks, q, rounds, weights, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> round(stochastic(complete(4), [[0.0]] * 4, [0.25] * 4, 100).value, 2)
    70.64
    """
    network, rounds = as_graph(graph), validation.count("rounds", rounds)
    cliques = cliques_of(network, tasks, np.zeros(network.size), weights, radius, q)
    total = float((np.sqrt(cliques.spread) * cliques.similarity).sum())
    return Bound.of(
        "thm:sto",
        (
            "MT-CO2OL with MTFTRL, the paper's experts, and stochastic rates",
            KNOWN_Q,
            IN_EXPECTATION,
            COVERED,
            IN_THE_BALL,
        ),
        variance=float(cliques.variance.max()),
        admitted=1.0,
        trivial=trivial(rounds, radius, lipschitz),
        regret=6.0 * total * _root(rounds, network.size) * unit(radius, lipschitz),
    )


def stochastic_independence(
    graph: GraphLike,
    tasks: ArrayLike,
    rounds: int,
    *,
    radius: float = 1.0,
    lipschitz: float = 1.0,
    time_limit: float = 60.0,
) -> Bound:
    """Stochastic activations with weights q_j / Q_i (`thm:sto`, second claim), whatever q.

    6 sqrt(1 + sigma_max^2 (N_max - 1)) sqrt(alpha(G) T ln N), with the upper end of alpha if it is
    not proven in time.

    Parameters
    ----------
    graph, tasks, rounds, radius, lipschitz, time_limit
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> round(stochastic_independence(star(4), [[0.0]] * 4, 100).value, 1)
    122.4
    """
    network, rounds = as_graph(graph), validation.count("rounds", rounds)
    variance = local_variances(network, scaled_tasks(network, tasks, radius))
    most = int(network.neighbourhood_sizes.max())
    alpha = independence_number(network, time_limit=time_limit).upper
    similarity = math.sqrt(1.0 + float(variance.max()) * (most - 1))
    return Bound.of(
        "thm:sto, independence number",
        (
            "MT-CO2OL with MTFTRL, the paper's experts, stochastic rates, proportional weights",
            KNOWN_Q,
            IN_EXPECTATION,
            COVERED,
            IN_THE_BALL,
        ),
        trivial=trivial(rounds, radius, lipschitz),
        regret=6.0
        * similarity
        * math.sqrt(alpha)
        * _root(rounds, network.size)
        * unit(radius, lipschitz),
    )


def unknown_q(
    graph: GraphLike,
    tasks: ArrayLike,
    q: ArrayLike,
    rounds: int,
    *,
    weights: WeightsLike = "uniform",
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """The two-phase strategy (`apx:unknown_q`): 9 / 6 of `stochastic`, plus what estimating costs.

    The additive term is 14 N / q_min ln(2 N^2 T).

    Parameters
    ----------
    graph, tasks, q, rounds, weights, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> bound = unknown_q(complete(4), [[0.0]] * 4, [0.25] * 4, 100)
    >>> round(bound.parts["estimation"])
    1808
    """
    network = as_graph(graph)
    law = validation.probabilities("q", q, network.size)
    if law.min() <= 0.0:
        raise ValueError(f"q must be positive, got {law.min()}")
    known = stochastic(
        network, tasks, law, rounds, weights=weights, radius=radius, lipschitz=lipschitz
    )
    n, logarithm = network.size, math.log(2.0 * network.size**2 * rounds)
    return Bound.of(
        "apx:unknown_q",
        (
            "MT-CO2OL with MTFTRL, the paper's experts, and estimated rates",
            "q_min = min q and the horizon are given",
            KNOWN_Q,
            IN_EXPECTATION,
            COVERED,
            IN_THE_BALL,
        ),
        variance=known.variance,
        admitted=1.0,
        trivial=known.trivial,
        regret=1.5 * known.value,
        estimation=14.0 * n / float(law.min()) * logarithm * unit(radius, lipschitz),
    )


def _root(rounds: int, agents: int) -> float:
    """sqrt(T ln N), with 1 for a logarithm below it."""
    return math.sqrt(rounds * max(1.0, math.log(agents)))
