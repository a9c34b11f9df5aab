"""Graphs by name: random ones from a seed, and the usual deterministic ones.

All have the labels 0, ..., n - 1 and are built by array operations: a million agents take seconds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs.edges import Indices, check_size, node_indices
from mtcool.graphs.graph import Graph
from mtcool.graphs.random_regular import regular_pairs
from mtcool.seeds import Seed, generator

# Random numbers drawn at a time: bounds the memory of the draws.
_BLOCK = 1 << 20


def erdos_renyi(n: int, p: float, seed: Seed) -> Graph:
    """The random graph G(n, p): each pair of agents is an edge with probability p, independently.

    Parameters
    ----------
    n
        Number of agents.
    p
        Probability of an edge.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> erdos_renyi(30, 0.9, seed=1).size
    30
    >>> erdos_renyi(30, 1.0, seed=1)
    Graph(30 agents, 435 edges)
    """
    n = validation.count("n", n)
    p = validation.non_negative("p", p)
    if p > 1:
        raise ValueError(f"p must be at most 1, got {p!r}")
    check_size("n", n, n, math.comb(n, 2), p)
    ranks = _successes(math.comb(n, 2), p, generator(seed))
    return Graph.from_edges(_pairs(ranks), size=n)


def regular(n: int, degree: int, seed: Seed) -> Graph:
    """A random simple graph in which every agent has `degree` neighbours besides itself.

    The pairing model, repaired by random switches: close to uniform among all such graphs when the
    degree is small next to n. Above half the largest degree it is the complement of a sparse one.

    Parameters
    ----------
    n
        Number of agents.
    degree
        Neighbours of each agent besides itself.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> regular(10, 3, seed=1).neighbourhood_sizes
    array([4, 4, 4, 4, 4, 4, 4, 4, 4, 4])
    """
    n = validation.count("n", n)
    degree = validation.count("degree", degree, least=0)
    if degree >= n:
        raise ValueError(f"degree must be below n = {n}, got {degree}")
    if n * degree % 2:
        raise ValueError(f"degree must be even when n = {n} is odd, got {degree}")
    check_size("n", n, n, n * degree // 2)
    rng = generator(seed)
    if 2 * degree < n:
        return Graph.from_edges(regular_pairs(n, degree, rng), size=n)
    absent = np.sort(regular_pairs(n, n - 1 - degree, rng), axis=1)
    present = np.ones(math.comb(n, 2), dtype=np.bool_)
    present[absent[:, 1] * (absent[:, 1] - 1) // 2 + absent[:, 0]] = False
    return Graph.from_edges(_pairs(np.flatnonzero(present)), size=n)


def circulant(n: int, degree: int) -> Graph:
    """The ring lattice: every agent is joined to the degree / 2 nearest on either side.

    Parameters
    ----------
    n
        Number of agents.
    degree
        Neighbours of each agent besides itself, an even number.

    Examples
    --------
    >>> circulant(7, 4).neighbours(0)
    array([0, 1, 2, 5, 6], dtype=int32)
    """
    n = validation.count("n", n)
    degree = validation.count("degree", degree, least=0)
    if degree % 2 or degree >= n:
        raise ValueError(f"degree must be even and below n = {n}, got {degree}")
    check_size("n", n, n, n * degree // 2)
    nodes = np.arange(n)
    ahead = (nodes[:, None] + np.arange(1, degree // 2 + 1)) % n
    return Graph.from_edges(np.stack((np.repeat(nodes, degree // 2), ahead.ravel()), 1), size=n)


def ring(n: int) -> Graph:
    """The cycle of n >= 3 agents.

    Parameters
    ----------
    n
        Number of agents, at least 3.

    Examples
    --------
    >>> ring(4)
    Graph(4 agents, 4 edges)
    """
    return circulant(validation.count("n", n, least=3), 2)


def cliques(sizes: ArrayLike) -> Graph:
    """Disjoint cliques of the given sizes, numbered one after the other.

    Parameters
    ----------
    sizes
        Number of agents of each clique.

    Examples
    --------
    >>> cliques([2, 3]).neighbours(4)
    array([2, 3, 4], dtype=int32)
    """
    counts = _sizes(sizes)
    agents, pairs = int(counts.sum()), float((counts * (counts - 1.0)).sum() / 2.0)
    check_size("sum of sizes", agents, agents, pairs)
    # The row of an agent is its whole clique: consecutive numbers from the clique's first agent.
    lengths = np.repeat(counts, counts)
    firsts = np.repeat(np.cumsum(counts) - counts, counts)
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    return Graph(ptr, np.arange(ptr[-1]) + np.repeat(firsts - ptr[:-1], lengths))


def complete(n: int) -> Graph:
    """The complete graph: everybody is everybody's neighbour.

    Parameters
    ----------
    n
        Number of agents.

    Examples
    --------
    >>> complete(4)
    Graph(4 agents, 6 edges)
    """
    n = validation.count("n", n)
    check_size("n", n, n, math.comb(n, 2))
    return cliques([n])


def edgeless(n: int) -> Graph:
    """The graph without edges: everybody is alone.

    Parameters
    ----------
    n
        Number of agents.

    Examples
    --------
    >>> edgeless(4)
    Graph(4 agents, 0 edges)
    """
    n = validation.count("n", n)
    check_size("n", n, n, 0)
    return cliques(np.ones(n, dtype=np.int64))


def star(n: int) -> Graph:
    """The star of n agents in all: agent 0, the centre, is joined to each of the others.

    Parameters
    ----------
    n
        Number of agents, the centre included.

    Examples
    --------
    >>> star(4).neighbourhood_sizes
    array([4, 2, 2, 2])
    """
    n = validation.count("n", n)
    check_size("n", n, n, n - 1)
    return stars([n])


def stars(sizes: ArrayLike) -> Graph:
    """Disjoint stars of the given sizes, numbered one after the other, each from its centre.

    Parameters
    ----------
    sizes
        Number of agents of each star, its centre included.

    Examples
    --------
    >>> stars([2, 3]).neighbours(2)
    array([2, 3, 4], dtype=int32)
    """
    counts = _sizes(sizes)
    agents = int(counts.sum())
    check_size("sum of sizes", agents, agents, agents - counts.size)
    nodes = np.arange(agents)
    centres = np.repeat(np.cumsum(counts) - counts, counts)
    leaves = nodes != centres
    return Graph.from_edges(np.stack((centres[leaves], nodes[leaves]), axis=1), size=nodes.size)


def grid(rows: int, columns: int) -> Graph:
    """The rectangular grid, numbered row by row; neighbours are beside or above one another.

    Parameters
    ----------
    rows, columns
        Size of the grid; there are rows * columns agents.

    Examples
    --------
    >>> grid(2, 3).neighbours(1)
    array([0, 1, 2, 4], dtype=int32)
    """
    rows = validation.count("rows", rows)
    columns = validation.count("columns", columns)
    agents = rows * columns
    check_size("rows times columns", agents, agents, 2 * agents)
    nodes = np.arange(agents).reshape(rows, columns)
    beside = np.stack((nodes[:, :-1].ravel(), nodes[:, 1:].ravel()), axis=1)
    above = np.stack((nodes[:-1].ravel(), nodes[1:].ravel()), axis=1)
    return Graph.from_edges(np.concatenate((beside, above)), size=agents)


def _sizes(sizes: ArrayLike) -> Indices:
    counts = node_indices("sizes", sizes, size=np.iinfo(np.int32).max)
    if counts.ndim != 1 or counts.size == 0 or counts.min() < 1:
        raise ValueError(f"sizes must be a list of sizes of at least 1, got {sizes!r}")
    return counts


def _successes(trials: int, p: float, rng: np.random.Generator) -> Indices:
    """Which of the trials succeed, ascending: the gaps between successes are geometric."""
    found = [np.empty(0, dtype=np.int64)]
    last = -1 if p > 0 else trials
    while last < trials:
        expected = (trials - last) * p
        enough = int(expected + 4 * math.sqrt(expected)) + 8
        # The sum of a block of gaps, each cut off beyond the last trial, must fit in 64 bits.
        block = min(enough, _BLOCK, 2**62 // (trials + 1))
        found.append(last + np.cumsum(rng.geometric(p, block).clip(1, trials + 1)))
        last = int(found[-1][-1])
    successes = np.concatenate(found)
    return successes[: np.searchsorted(successes, trials)]


def _pairs(ranks: Indices) -> Indices:
    """The pairs u < v of the given ranks v (v - 1) / 2 + u."""
    v = ((1 + np.sqrt(1 + 8.0 * ranks)) / 2).astype(np.int64)
    # The square root may be rounded to the wrong side of a whole number.
    v -= v * (v - 1) // 2 > ranks
    v += v * (v + 1) // 2 <= ranks
    return np.stack((ranks - v * (v - 1) // 2, v), axis=1)
