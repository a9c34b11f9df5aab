"""Random regular graphs: the pairing model, then switches until the graph is simple.

Every node gets `degree` stubs, and a random matching of the stubs is a random multigraph. Its flaws
(loops, and all but one of the copies of a repeated edge) are few. A switch replaces a flawed edge
(u, v) and a random edge (x, y) by (u, x) and (v, y): no degree changes.

A switch is made only if both new edges are absent so far, so every switch mends at least one flaw.
While 2 * degree < n there is always one to make: of the n * degree ends of edges, at most degree^2
are ruled out by the neighbours of u, and as many by those of v.
"""

import numpy as np
from numpy.typing import NDArray

from mtcool.graphs.edges import Indices


def regular_pairs(size: int, degree: int, rng: np.random.Generator) -> Indices:
    """Edges of a random simple graph with all degrees equal; needs 2 * degree < size."""
    return mend(rng.permutation(np.repeat(np.arange(size), degree)).reshape(-1, 2), size, rng)


def mend(pairs: Indices, size: int, rng: np.random.Generator) -> Indices:
    """Make a regular multigraph simple, in place, by switches."""
    keys = _keys(pairs, size)
    while True:
        present = np.sort(keys)
        flawed = _flawed(pairs, keys, present)
        if flawed.size == 0:
            return pairs
        switched, mended = _switches(pairs, flawed, present, size, rng)
        pairs[switched] = mended
        keys[switched] = _keys(mended, size)


def _keys(pairs: Indices, size: int) -> Indices:
    """One number for an unordered pair."""
    u, v = pairs[..., 0], pairs[..., 1]
    return np.minimum(u, v) * size + np.maximum(u, v)


def _flawed(pairs: Indices, keys: Indices, present: Indices) -> Indices:
    """The loops, and the copies of each repeated edge except its first."""
    loops = pairs[:, 0] == pairs[:, 1]
    repeated = present[1:][present[1:] == present[:-1]]
    copies = np.flatnonzero(np.isin(keys, repeated) & ~loops)
    firsts = np.unique(keys[copies], return_index=True)[1]
    return np.concatenate((np.flatnonzero(loops), np.delete(copies, firsts)))


def _switches(
    pairs: Indices, flawed: Indices, present: Indices, size: int, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    """Compatible switches of flawed edges: the edges that change, and their new ends."""
    partners = rng.integers(len(pairs), size=flawed.size)
    edges = np.stack((flawed, partners), axis=1)
    u, v = pairs[flawed].T
    # A partner may be taken in either direction.
    x, y = rng.permuted(pairs[partners], axis=1).T
    mended = np.stack((u, x, v, y), axis=1).reshape(-1, 2, 2)
    keys = _keys(mended, size)
    allowed = (u != x) & (v != y) & ~_contains(present, keys).any(axis=1)
    edges, mended, keys = edges[allowed], mended[allowed], keys[allowed]
    compatible = _first_to_use(edges) & _first_to_use(keys)
    return edges[compatible].ravel(), mended[compatible].reshape(-1, 2)


def _contains(ordered: Indices, values: Indices) -> NDArray[np.bool_]:
    at = np.minimum(np.searchsorted(ordered, values), ordered.size - 1)
    return np.equal(ordered[at], values)


def _first_to_use(rows: Indices) -> NDArray[np.bool_]:
    """Which rows hold no value of an earlier row.

    A row may hold a value twice: two loops become two copies of one edge, which mends one flaw, and
    without it a graph of loops only would never be mended.
    """
    new = np.zeros(rows.shape, dtype=np.bool_)
    new.flat[np.unique(rows, return_index=True)[1]] = True
    again = np.equal(rows[:, 0], rows[:, 1])
    return np.logical_and(new[:, 0], new[:, 1] | again)
