"""Graph parameters of the bounds: exact where they can be proven in time, else certified intervals.

alpha(G), the largest number of agents of whom no two are neighbours; alpha_k(G), of whom any two
are at distance at least k + 1; gamma(G), the least number of agents who dominate everybody. For
every graph alpha_2 <= gamma <= alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from mtcool import validation
from mtcool.graphs.dominating import is_dominating
from mtcool.graphs.edges import Indices
from mtcool.graphs.graph import Graph, GraphLike, as_graph
from mtcool.graphs.greedy import (
    greedy_clique_cover,
    greedy_dominating_set,
    greedy_independent_set,
)
from mtcool.graphs.integer_programs import Proof, most_independent, smallest_cover

Method: TypeAlias = Literal["exact", "greedy"]
METHODS: tuple[Method, ...] = get_args(Method)
MOST_PAIRS = 5e6


@dataclass(frozen=True, eq=False)
class Certified:
    """A graph parameter: it lies in [lower, upper], and `witness` attains one of the two ends."""

    lower: int
    upper: int
    witness: Indices
    """Node indices, ascending: a set of the kind in question."""

    @property
    def exact(self) -> bool:
        """Whether the parameter is known exactly."""
        return self.lower == self.upper

    def __int__(self) -> int:
        if not self.exact:
            raise ValueError(f"the parameter must be exact to be a number, got {self}")
        return self.lower

    def __str__(self) -> str:
        return str(self.lower) if self.exact else f"[{self.lower}, {self.upper}]"


def independence_number(
    graph: GraphLike, *, method: Method = "exact", time_limit: float = 60.0
) -> Certified:
    """alpha(G): how many agents there can be of whom no two are neighbours.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    method
        "exact" proves the number by integer programming (HiGHS), or gives a certified interval
        when time runs out or the graph has millions of edges; "greedy" gives an interval at once.
    time_limit
        Seconds for the proof.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> print(independence_number(ring(7)))
    3
    """
    return k_independence_number(graph, 1, method=method, time_limit=time_limit)


def k_independence_number(
    graph: GraphLike, k: int, *, method: Method = "exact", time_limit: float = 60.0
) -> Certified:
    """alpha_k(G): how many agents there can be at distance at least k + 1 from each other.

    Parameters
    ----------
    k
        The agents are more than k steps apart.
    graph, method, time_limit
        As in `independence_number`, which is the case k = 1.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> print(k_independence_number(ring(7), 2))
    2
    """
    network, k = as_graph(graph), validation.count("k", k)
    time_limit = validation.positive("time_limit", time_limit)
    packing = greedy_independent_set(network, k)
    # The program needs all pairs within distance k: more than that is for greedy certificates.
    reached = float((network.neighbourhood_sizes.astype(np.float64) ** k).sum())
    if validation.one_of("method", method, METHODS) == "greedy" or reached > MOST_PAIRS:
        return _checked(network, k, Proof(packing.size, _at_most(network, k), packing))
    power = network if k == 1 else _power(network, k)
    return _checked(network, k, most_independent(power, packing, time_limit))


def domination_number(
    graph: GraphLike, *, method: Method = "exact", time_limit: float = 60.0
) -> Certified:
    """gamma(G): how many agents it takes to have one of them in every neighbourhood.

    Parameters
    ----------
    graph, method, time_limit
        As in `independence_number`.

    Examples
    --------
    >>> from mtcool.graphs import grid
    >>> gamma = domination_number(grid(4, 4))
    >>> print(gamma, len(gamma.witness))
    4 4
    """
    network = as_graph(graph)
    time_limit = validation.positive("time_limit", time_limit)
    cover = greedy_dominating_set(network)
    least = max(
        greedy_independent_set(network, 2).size,
        -(-network.size // int(network.neighbourhood_sizes.max())),
    )
    if validation.one_of("method", method, METHODS) == "greedy":
        found = Proof(least, cover.size, cover)
    else:
        found = smallest_cover(network, cover, time_limit)
    answer = Certified(max(found.lower, least), found.upper, np.sort(found.witness))
    _assert(is_dominating(network, answer.witness), "the witness dominates")
    _assert(answer.witness.size == answer.upper, "the witness has the size of the upper end")
    _assert(least <= answer.upper, "alpha_2 <= gamma")
    _assert(answer.lower <= greedy_independent_set(network).size, "gamma <= alpha")
    return answer


def clique_cover_bound(graph: GraphLike) -> int:
    """The number of cliques in a greedy partition into cliques: at least alpha(G).

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.

    Examples
    --------
    >>> from mtcool.graphs import cliques
    >>> clique_cover_bound(cliques([3, 4]))
    2
    """
    return int(greedy_clique_cover(as_graph(graph)).max()) + 1


def smallest_neighbourhood(graph: GraphLike) -> int:
    """N_min: the least number of agents in a closed neighbourhood.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> smallest_neighbourhood(star(5)), largest_neighbourhood(star(5))
    (2, 5)
    """
    return int(as_graph(graph).neighbourhood_sizes.min())


def largest_neighbourhood(graph: GraphLike) -> int:
    """N_max: the largest number of agents in a closed neighbourhood.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> largest_neighbourhood(ring(5))
    3
    """
    return int(as_graph(graph).neighbourhood_sizes.max())


def is_k_independent(graph: GraphLike, nodes: Indices, k: int = 1) -> bool:
    """Whether the agents (node indices) are at distance at least k + 1 from each other.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    nodes
        Node indices of the agents.
    k
        Distances must be greater than this; 1 forbids neighbours.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> is_k_independent(ring(6), [0, 3], k=2), is_k_independent(ring(6), [0, 2], k=2)
    (True, False)
    """
    network = as_graph(graph)
    closed = network.matrix(np.ones(network.idx.size))
    chosen = np.zeros(network.size)
    chosen[nodes] = 1.0
    # Balls of radius k: reach[i] > 0 for everybody within distance k of i.
    rows = sparse.csr_array(sparse.diags_array(chosen))[np.flatnonzero(chosen)]
    for _ in range(k):
        rows = rows @ closed
        rows.data[:] = 1.0
    return bool((np.asarray(rows @ chosen) <= 1.0).all())


def _at_most(graph: Graph, k: int) -> int:
    """A bound on alpha_k from certificates: a clique cover; for k >= 2 a dominating set as well."""
    cover = clique_cover_bound(graph)
    return cover if k == 1 else min(cover, greedy_dominating_set(graph).size)


def _checked(graph: Graph, k: int, found: Proof) -> Certified:
    answer = Certified(found.lower, min(found.upper, _at_most(graph, k)), np.sort(found.witness))
    _assert(is_k_independent(graph, answer.witness, k), "the witness is independent")
    _assert(answer.witness.size == answer.lower, "the witness has the size of the lower end")
    _assert(answer.lower <= answer.upper, "alpha <= clique cover, alpha_2 <= gamma")
    if k == 1:  # gamma <= alpha, and what is known of gamma from below
        sizes = graph.neighbourhood_sizes
        least = max(greedy_independent_set(graph, 2).size, -(-graph.size // int(sizes.max())))
        _assert(least <= answer.upper, "alpha_2 <= gamma <= alpha")
    return answer


def _power(graph: Graph, k: int) -> Graph:
    """Neighbours are all agents within distance k."""
    closed = graph.matrix(np.ones(graph.idx.size))
    power = closed
    for _ in range(k - 1):
        power = sparse.csr_array(power @ closed)
        power.data[:] = 1.0
    power.sort_indices()
    return Graph(power.indptr, power.indices)


def _assert(holds: bool, claim: str) -> None:
    """Check an answer against its certificate: a wrong one must never leave this file."""
    if not holds:
        raise RuntimeError(f"a graph parameter fails its check: {claim}")
