"""Lower bounds: what no algorithm can avoid on every sequence (`thm:lower-bound`)."""

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

    Against comparators whose variance, in units of the radius, is at most `variance` = nu^2. If
    alpha_2 is not proven within the time limit its lower end stands for it.

    >>> from mtcool.graphs import ring
    >>> any_algorithm(ring(9), variance=0.0, rounds=9).value == (3 * 9) ** 0.5 / 3
    True
    """
    network, rounds = as_graph(graph), validation.count("rounds", rounds)
    variance = validation.non_negative("variance", variance)
    apart = k_independence_number(network, 2, time_limit=time_limit).lower
    factor = max(math.sqrt(1.0 + variance * (network.size - 1)), math.sqrt(apart))
    floor = factor * math.sqrt(rounds) / 3.0 * unit(radius, lipschitz)
    return Bound.of("thm:lower-bound", (ANY,), floor=floor)


def regular_graphs(
    graph: GraphLike, tasks: ArrayLike, rounds: int, *, radius: float = 1.0, lipschitz: float = 1.0
) -> Bound:
    """sqrt(1 + K sigma_min^2) sqrt(N T / K) / 5 for a family of K-regular graphs (second claim).

    `streams.regular_family` makes such a graph and a sequence that attains it.

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
    return Bound.of("thm:lower-bound, regular", (ANY,), floor=floor * unit(radius, lipschitz))
