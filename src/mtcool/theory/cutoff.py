"""The privacy below which sharing does not pay."""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy  # its submodules when they are first used: some are slow to import

from mtcool import validation
from mtcool.graphs import GraphLike, as_graph
from mtcool.theory.bound import Bound

LEAST, MOST = 1e-12, 1e12  # levels between which the cut-off is looked for


def sharing_cutoff(private: Callable[[float], Bound], alone: Bound) -> float:
    """The epsilon at which the bound of sharing privately equals that of learning alone.

    Found numerically from the bounds, with all their constants: 0 if sharing is better at every
    level, infinity if it is at none. It is a statement about two bounds. The regrets themselves
    may cross at another epsilon, because one bound can be looser than the other; and all that
    the bounds assume is assumed here.

    Parameters
    ----------
    private
        The private bound as a function of epsilon, which must not grow with it.
    alone
        The bound of learning alone on the same activations. Take both from the same proof: with
        weights on oneself `known_variances` has 3/2 sqrt(T_i), where `independent` has the
        paper's 2 sqrt(T_i).

    Examples
    --------
    >>> from mtcool.graphs import complete, own_weights
    >>> from mtcool.theory import known_variances, private_known_variances, tree_noise
    >>> graph, tasks, counts = complete(10), [[1.0]] * 10, [10_000] * 10
    >>> def sharing(epsilon):
    ...     noise = tree_noise(epsilon, dim=1, horizon=10_000)
    ...     return private_known_variances(graph, tasks, counts, noise)
    >>> alone = known_variances(graph, tasks, counts, weights=own_weights(graph))
    >>> round(sharing_cutoff(sharing, alone), 2)
    0.61
    """

    def excess(logarithm: float) -> float:
        return private(math.exp(logarithm)).value - alone.value

    low, high = math.log(LEAST), math.log(MOST)
    if excess(high) > 0.0:
        return math.inf
    if excess(low) <= 0.0:
        return 0.0
    return math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-12))


def published_cutoff(graph: GraphLike, dim: int, rounds: int) -> float:
    """The paper's cut-off, d N_max^4 sqrt(N / T), which leaves out constants and ln^2 T.

    Parameters
    ----------
    graph, rounds
        See `mtcool.theory`.
    dim
        Dimension of the tasks.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> published_cutoff(ring(4), dim=1, rounds=4)
    81.0
    """
    network = as_graph(graph)
    dim, rounds = validation.count("dim", dim), validation.count("rounds", rounds)
    most = float(network.neighbourhood_sizes.max())
    return dim * most**4 * math.sqrt(network.size / rounds)
