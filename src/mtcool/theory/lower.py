"""Lower bounds: what no algorithm can avoid on every sequence (`thm:lower-bound`)."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import GraphLike, as_graph, k_independence_number
from mtcool.streams import local_variances
from mtcool.theory.bound import Bound
from mtcool.theory.setting import scaled_tasks, unit

ANY = "any algorithm that follows the protocol; some sequence of activations and gradients"


def any_algorithm(
    graph: GraphLike,
    variance: float,
    rounds: int,
    *,
    radius: float = 1.0,
    lipschitz: float = 1.0,
    time_limit: float = 60.0,
) -> Bound:
    """max{sqrt(1 + nu^2 (N - 1)), sqrt(alpha_2(G))} sqrt(T) / 3 (first claim).

    Against comparators whose variance, in units of the radius, is at most `variance` = nu^2, which
    counts up to N / (N - 1): rows in the ball have no more. Nor can more agents than rounds be
    played: alpha_2 counts up to T, and the variance from T = N on. If alpha_2 is not proven within
    the time limit its lower end stands for it.

    Parameters
    ----------
    variance
        nu^2, the largest variance of the comparator in units of the radius.
    graph, rounds, radius, lipschitz, time_limit
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> any_algorithm(ring(9), variance=0.0, rounds=9).value == (3 * 9) ** 0.5 / 3
    True
    """
    network, rounds = as_graph(graph), validation.count("rounds", rounds)
    variance = validation.non_negative("variance", variance)
    n = network.size
    apart = min(k_independence_number(network, 2, time_limit=time_limit).lower, rounds)
    spread = min(variance * (n - 1), float(n)) if 1 < n <= rounds else 0.0
    factor = max(math.sqrt(1.0 + spread), math.sqrt(apart))
    floor = factor * math.sqrt(rounds) / 3.0 * unit(radius, lipschitz)
    return Bound.of("thm:lower-bound", (ANY,), floor=floor)


def regular_graphs(
    graph: GraphLike, tasks: ArrayLike, rounds: int, *, radius: float = 1.0, lipschitz: float = 1.0
) -> Bound:
    """sqrt(1 + K sigma_min^2) sqrt(N T / K) / 5 for a family of K-regular graphs (second claim).

    The theorem says that there are such graphs, not that all regular graphs are such:
    `streams.regular_family` makes one, and a sequence that attains the bound.

    Parameters
    ----------
    graph, tasks, rounds, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> round(regular_graphs(ring(10), [[0.0]] * 10, rounds=20).value, 12)
    2.0
    """
    network = as_graph(graph)
    sizes = network.neighbourhood_sizes
    if sizes.min() != sizes.max() or sizes[0] % 2 == 0 or sizes[0] == 1:
        found = f"degrees {sizes.min() - 1} to {sizes.max() - 1}"
        raise ValueError(f"graph must be K-regular with K even, got {found}")
    rounds, k = validation.count("rounds", rounds), int(sizes[0]) - 1
    least = float(local_variances(network, scaled_tasks(network, tasks, radius)).min())
    floor = math.sqrt(1.0 + k * least) * math.sqrt(network.size * rounds / k) / 5.0
    family = "a graph of the family that `streams.regular_family` makes, T at least N"
    floor *= unit(radius, lipschitz)
    return Bound.of("thm:lower-bound, regular", (ANY, family), floor=floor)
