"""The weight w_ij with which agent i listens to agent j of its closed neighbourhood.

Weights are not negative and sum to one over a neighbourhood. A weight of zero is stored, so that
every matrix made here has one entry for every element of `graph.idx`, in that order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mtcool import validation
from mtcool.graphs.edges import Indices
from mtcool.graphs.graph import Graph, GraphLike, Matrix, as_graph
from mtcool.types import Given

SparseMatrix: TypeAlias = "sparse.sparray[Any, Any] | sparse.spmatrix[Any]"
WeightsLike: TypeAlias = (
    "Literal['uniform', 'delegation', 'proportional'] | ArrayLike | SparseMatrix"
)

LEAST_WEIGHT = 1e-100
"""Squares of positive weights must not vanish: a clique's learning rate divides by its largest."""

_WORDS = ("uniform", "delegation", "proportional")

# Rows, columns and values of the entries other than zero.
_Entries: TypeAlias = tuple[Indices, Indices, NDArray[np.float64]]


def uniform_weights(graph: GraphLike) -> Matrix:
    """w_ij = 1 / N_i: every neighbour counts the same.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> uniform_weights(star(3)).toarray().round(2)
    array([[0.33, 0.33, 0.33],
           [0.5 , 0.5 , 0.  ],
           [0.5 , 0.  , 0.5 ]])
    """
    sizes = (network := as_graph(graph)).neighbourhood_sizes
    return network.matrix(np.repeat(1 / sizes, sizes))


def own_weights(graph: GraphLike) -> Matrix:
    """w_ii = 1: nobody listens to a neighbour.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> own_weights(star(3)).toarray()
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    network = as_graph(graph)
    listener = np.repeat(np.arange(network.size), network.neighbourhood_sizes)
    return network.matrix((network.idx == listener).astype(np.float64))


def delegation_weights(
    graph: GraphLike, dominating_set: ArrayLike | Iterable[int] | None = None
) -> Matrix:
    """w_ij = 1 for one delegate j, the smallest index in N_i that is in the dominating set.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    dominating_set
        Node indices; a smallest dominating set by default.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> delegation_weights(star(3)).toarray()
    array([[1., 0., 0.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """
    network = as_graph(graph)
    from mtcool.graphs.dominating import members_of, smallest_dominating_set

    if dominating_set is None:
        dominating_set = smallest_dominating_set(network)
    members = members_of(network, "dominating_set", dominating_set)
    size = network.idx.size
    candidates = np.where(members[network.idx], np.arange(size), size)
    delegates = np.minimum.reduceat(candidates, network.ptr[:-1])
    if delegates.max() == size:
        alone = network.labels[int(delegates.argmax())]
        raise ValueError(
            f"dominating_set must meet every neighbourhood, got {dominating_set!r}: "
            f"none around agent {alone!r}"
        )
    entries = np.zeros(size)
    entries[delegates] = 1.0
    return network.matrix(entries)


def proportional_weights(graph: GraphLike, q: ArrayLike) -> Matrix:
    """w_ij = q_j / Q_i, for activation probabilities q and their sum Q_i over N_i.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    q
        Activation probabilities, in node order.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> proportional_weights(star(3), [0.5, 0.25, 0.25]).toarray().round(2)
    array([[0.5 , 0.25, 0.25],
           [0.67, 0.33, 0.  ],
           [0.67, 0.  , 0.33]])
    """
    network = as_graph(graph)
    activation = validation.vector("q", q, network.size)
    if activation.min() < 0:
        raise ValueError(f"q must not be negative, got {activation.min()}")
    starts, sizes = network.ptr[:-1], network.neighbourhood_sizes
    parts = activation[network.idx]
    largest = np.maximum.reduceat(parts, starts)
    if largest.min() == 0:
        silent = network.labels[int(largest.argmin())]
        raise ValueError(f"q must be positive in every neighbourhood, got 0 around {silent!r}")
    # Relative to the largest, so that no sum overflows and a constant q gives 1 / N_i exactly.
    parts /= np.repeat(largest, sizes)
    return network.matrix(parts / np.repeat(np.add.reduceat(parts, starts), sizes))


def entry_weights(
    graph: GraphLike, weights: WeightsLike, q: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Weights as one number for every element of `graph.idx`.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    weights
        "uniform", "delegation", "proportional", which needs `q`, or an N x N matrix in node order,
        dense or sparse, which is checked.
    q
        Activation probabilities, in node order.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> entry_weights(ring(4), "uniform")[:3].round(2)
    array([0.33, 0.33, 0.33])
    >>> import numpy as np
    >>> entry_weights(ring(4), np.eye(4))[:3]
    array([1., 0., 0.])
    """
    network = as_graph(graph)
    return check_entries(network, _entries(network, weights, q))


def check_entries(graph: Graph, entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights with one number for every element of `graph.idx`; wrong ones are refused.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> check_entries(ring(3), np.full(9, 0.5))
    Traceback (most recent call last):
    ...
    ValueError: weights must sum to 1 in every row, got 1.5 for 0
    """
    entries = validation.vector("weights", entries, graph.idx.size)
    if entries.min() < 0:
        raise ValueError(f"weights must not be negative, got {entries.min()}")
    tiny = (entries > 0) & (entries < LEAST_WEIGHT)
    if tiny.any():
        raise ValueError(
            f"weights must be zero or at least {LEAST_WEIGHT}, got {entries[tiny].min()}"
        )
    if entries.max() > 2.0:  # far from one, and a sum of such numbers may overflow
        raise ValueError(f"weights must be at most 1, got {entries.max()}")
    sums = np.add.reduceat(entries, graph.ptr[:-1])
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > 1e-9:
        raise ValueError(
            f"weights must sum to 1 in every row, got {sums[worst]} for {graph.labels[worst]!r}"
        )
    return entries


def _entries(graph: Graph, weights: WeightsLike, q: ArrayLike | None) -> NDArray[np.float64]:
    if not isinstance(weights, str):
        return _checked_entries(graph, weights)
    word = validation.one_of("weights", weights, _WORDS)
    if word == "uniform":
        return uniform_weights(graph).data
    if word == "delegation":
        return delegation_weights(graph).data
    if q is None:
        raise ValueError("q must be given with weights='proportional', got None")
    return proportional_weights(graph, q).data


def _checked_entries(graph: Graph, weights: WeightsLike) -> NDArray[np.float64]:
    """The entries of a matrix, at their places in `graph.idx`."""
    n = graph.size
    find = _sparse_nonzeros if sparse.issparse(weights) else _dense_nonzeros
    rows, columns, values = find(weights, n)
    if values.size and values.min() < 0:
        raise ValueError(f"weights must not be negative, got {values.min()}")
    listened = np.repeat(np.arange(n), graph.neighbourhood_sizes) * n + graph.idx
    asked = rows * n + columns
    at = np.searchsorted(listened, asked).clip(max=listened.size - 1)
    strange = listened[at] != asked
    if strange.any():
        k = strange.argmax()
        i, j = graph.labels[rows[k]], graph.labels[columns[k]]
        raise ValueError(
            f"weights must be zero off the neighbourhoods, got {values[k]} from {i!r} to {j!r}"
        )
    entries = np.zeros(graph.idx.size)
    entries[at] = values
    return entries


def _dense_nonzeros(weights: Given, n: int) -> _Entries:
    matrix = validation.matrix("weights", weights, (n, n))
    rows, columns = np.nonzero(matrix)
    return rows, columns, matrix[rows, columns]


def _sparse_nonzeros(weights: Given, n: int) -> _Entries:
    if weights.shape != (n, n):
        raise ValueError(f"weights must be a matrix of {n} x {n}, got shape {weights.shape}")
    # A copy, because merging the copies of an entry happens in place.
    merged = sparse.csr_array(weights, copy=True)
    merged.sum_duplicates()
    entries = merged.tocoo()
    values = validation.numbers("weights", entries.data)
    stored = values != 0
    rows, columns = (side[stored].astype(np.int64) for side in entries.coords)
    return rows, columns, values[stored]
