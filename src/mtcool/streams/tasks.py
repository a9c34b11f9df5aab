"""Tasks of the agents: matrices U with a row for each node, more or less alike along the edges."""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from mtcool.streams.losses import Matrix, Vector
from mtcool.streams.seeds import Seed, generator
from mtcool.validation import count, matrix, non_negative


@runtime_checkable
class Neighbourhoods(Protocol):
    """What streams need to know of a network; `mtcool.Graph` is one.

    The closed neighbourhood of node j, itself included, is `idx[ptr[j]:ptr[j + 1]]`.
    """

    @property
    def size(self) -> int:
        """The number of nodes."""

    @property
    def ptr(self) -> NDArray[np.int64]:
        """Where each node's neighbourhood starts in `idx`."""

    @property
    def idx(self) -> NDArray[np.int32]:
        """The members of all closed neighbourhoods, one after the other."""

    @property
    def labels(self) -> Sequence[Hashable]:
        """The agents' names, in the order of the nodes."""

    def laplacian(self) -> "csr_array[Any]":
        """The Laplacian of the graph: degrees minus adjacency."""


def network(graph: Neighbourhoods) -> Neighbourhoods:
    """The graph, checked: networkx graphs would fail far from where they came in."""
    if not isinstance(graph, Neighbourhoods):
        raise ValueError(f"graph must be an mtcool Graph, as made by as_graph, got {graph!r}")
    return graph


def local_variances(graph: Neighbourhoods, tasks: ArrayLike) -> Vector:
    """How much the tasks differ around each node: the paper's local variances.

    sigma_j^2 is the sum over the closed neighbourhood N_j of |U_i - mean|^2, divided by |N_j| - 1;
    it is 0 for a node without neighbours.

    >>> from mtcool.graphs import Graph
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> local_variances(path, [[0.0], [1.0], [5.0]])
    array([0.5, 7. , 8. ])
    """
    rows = matrix("tasks", tasks, (network(graph).size, None))
    starts, sizes = graph.ptr[:-1], np.diff(graph.ptr)
    members = rows[graph.idx]
    means = np.add.reduceat(members, starts, axis=0) / sizes[:, np.newaxis]
    # Deviations from the mean, not a difference of squares, which would cancel.
    members -= np.repeat(means, sizes, axis=0)
    squares = np.add.reduceat(np.einsum("md,md->m", members, members), starts)
    return squares / np.maximum(sizes - 1, 1)  # type: ignore[no-any-return]


def mean_local_deviation(graph: Neighbourhoods, tasks: ArrayLike) -> float:
    """The paper's sigma-bar: the square root of the mean of the local variances.

    >>> from mtcool.graphs import Graph
    >>> pair = Graph.from_edges([(0, 1)])
    >>> mean_local_deviation(pair, [[0.0, 0.0], [1.0, 1.0]])
    1.0
    """
    return float(np.sqrt(local_variances(graph, tasks).mean()))


def tasks_with_variance(graph: Neighbourhoods, dim: int, sigma: float, seed: Seed) -> Matrix:
    """Gaussian tasks around 0, scaled so that the mean local variance is sigma^2.

    >>> from mtcool.graphs import Graph
    >>> pair = Graph.from_edges([(0, 1)])
    >>> round(mean_local_deviation(pair, tasks_with_variance(pair, 3, sigma=0.5, seed=0)), 12)
    0.5
    """
    sigma = non_negative("sigma", sigma)
    shape = (network(graph).size, count("dim", dim))
    edgeless = graph.idx.size == graph.size
    if edgeless and sigma > 0:
        raise ValueError(f"sigma must be 0 on a graph without edges, got {sigma!r}")
    rows = generator(seed).standard_normal(shape)
    return rows * (0.0 if edgeless else sigma / mean_local_deviation(graph, rows))
