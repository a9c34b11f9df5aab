"""Greedy sets on graphs of any size: certificates for bounds, in time near linear in the edges."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtcool.graphs.edges import Indices
from mtcool.graphs.graph import Graph
from mtcool.kernels import kernel

Neighbours: TypeAlias = NDArray[np.int32]
Marks: TypeAlias = NDArray[np.bool_]


def greedy_independent_set(graph: Graph, k: int = 1) -> Indices:
    """Agents at distance more than k from each other, those with few neighbours first; maximal.

    Parameters
    ----------
    graph
        A `Graph`.
    k
        Distances are greater than this; 1 forbids neighbours.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> greedy_independent_set(ring(6)).size, greedy_independent_set(ring(6), k=2).size
    (3, 2)
    """
    order = np.argsort(graph.neighbourhood_sizes, kind="stable")
    chosen, blocked = np.zeros((2, graph.size), dtype=np.bool_)
    seen, queue = np.full(graph.size, -1), np.zeros(graph.size, dtype=np.int64)
    _pick_independent(graph.ptr, graph.idx, order, k, chosen, blocked, seen, queue)
    return np.flatnonzero(chosen)


@kernel
def _pick_independent(
    ptr: Indices,
    idx: Neighbours,
    order: Indices,
    k: int,
    chosen: Marks,
    blocked: Marks,
    seen: Indices,
    queue: Indices,
) -> None:
    for v in order:
        if blocked[v]:
            continue
        chosen[v] = True
        # Breadth first: everybody within distance k of v is blocked.
        queue[0], seen[v] = v, v
        start, end = 0, 1
        for _ in range(k):
            ring = end
            for q in range(start, ring):
                for e in range(ptr[queue[q]], ptr[queue[q] + 1]):
                    if seen[idx[e]] != v:
                        seen[idx[e]] = v
                        queue[end] = idx[e]
                        end += 1
            start = ring
        for q in range(end):
            blocked[queue[q]] = True


def greedy_dominating_set(graph: Graph) -> Indices:
    """A dominating set: again and again, the agent who dominates most of those that are left.

    Its size is at most 1 + ln N_max times the least.

    Parameters
    ----------
    graph
        A `Graph`.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> greedy_dominating_set(star(5))
    array([0])
    """
    gain = graph.neighbourhood_sizes.copy()
    chosen, covered = np.zeros((2, graph.size), dtype=np.bool_)
    heads, following = np.full(gain.max() + 1, -1), np.full(graph.size, -1)
    _pick_dominating(graph.ptr, graph.idx, gain, chosen, covered, heads, following)
    return np.flatnonzero(chosen)


@kernel
def _pick_dominating(
    ptr: Indices,
    idx: Neighbours,
    gain: Indices,
    chosen: Marks,
    covered: Marks,
    heads: Indices,
    following: Indices,
) -> None:
    for v in range(gain.shape[0] - 1, -1, -1):  # a list of agents for every gain
        following[v] = heads[gain[v]]
        heads[gain[v]] = v
    for g in range(heads.shape[0] - 1, 0, -1):
        while heads[g] >= 0:
            v = heads[g]
            heads[g] = following[v]
            if gain[v] < g:  # it has lost some since it was put here
                following[v] = heads[gain[v]]
                heads[gain[v]] = v
                continue
            chosen[v] = True
            for e in range(ptr[v], ptr[v + 1]):
                u = idx[e]
                if covered[u]:
                    continue
                covered[u] = True
                for f in range(ptr[u], ptr[u + 1]):
                    gain[idx[f]] -= 1


def greedy_clique_cover(graph: Graph) -> NDArray[np.int64]:
    """A partition into cliques: the number of each agent's clique.

    Parameters
    ----------
    graph
        A `Graph`.

    Examples
    --------
    >>> from mtcool.graphs import cliques
    >>> greedy_clique_cover(cliques([2, 3]))
    array([0, 0, 1, 1, 1])
    """
    order = np.argsort(graph.neighbourhood_sizes, kind="stable")
    clique, joined = np.full(graph.size, -1), np.zeros(graph.size, dtype=np.int64)
    seen = np.full(graph.size, -1)
    _pick_cliques(graph.ptr, graph.idx, order, clique, joined, seen)
    return clique


@kernel
def _pick_cliques(
    ptr: Indices, idx: Neighbours, order: Indices, clique: Indices, joined: Indices, seen: Indices
) -> None:
    """`joined[u]` counts the members of the clique in work that neighbour u."""
    count = 0
    for v in order:
        if clique[v] >= 0:
            continue
        size = 0
        for e in range(ptr[v] - 1, ptr[v + 1]):
            u = v if e < ptr[v] else idx[e]  # v itself first, then its neighbours
            if clique[u] >= 0 or (size > 0 and (seen[u] != v or joined[u] < size)):
                continue
            clique[u] = count
            size += 1
            for f in range(ptr[u], ptr[u + 1]):
                w = idx[f]
                if seen[w] != v:
                    seen[w] = v
                    joined[w] = 0
                joined[w] += 1
        count += 1
