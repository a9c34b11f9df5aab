"""Tasks of the agents: matrices U with a row for each node, more or less alike along the edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mtcool import memory
from mtcool.graphs import GraphLike, as_graph
from mtcool.seeds import Seed, generator
from mtcool.streams.losses import Matrix, Vector
from mtcool.validation import count, matrix, non_negative


def local_variances(graph: GraphLike, tasks: ArrayLike) -> Vector:
    """How much the tasks differ around each node: the paper's local variances.

    sigma_j^2 is the sum over the closed neighbourhood N_j of `|U_i - mean|^2`, divided by
    `|N_j| - 1`; it is 0 for a node without neighbours.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    tasks
        A row for each agent, in node order.

    Examples
    --------
    >>> from mtcool.graphs import Graph
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> local_variances(path, [[0.0], [1.0], [5.0]])
    array([0.5, 7. , 8. ])
    """
    agents = as_graph(graph)
    rows = matrix("tasks", tasks, (agents.size, None))
    starts, sizes = agents.ptr[:-1], agents.neighbourhood_sizes
    members = rows[agents.idx]
    means = np.add.reduceat(members, starts, axis=0) / sizes[:, np.newaxis]
    # Deviations from the mean, not a difference of squares, which would cancel.
    members -= np.repeat(means, sizes, axis=0)
    squares = np.add.reduceat(np.einsum("md,md->m", members, members), starts)
    return squares / np.maximum(sizes - 1, 1)


def mean_local_deviation(graph: GraphLike, tasks: ArrayLike) -> float:
    """The paper's sigma-bar: the square root of the mean of the local variances.

    Parameters
    ----------
    graph, tasks
        As in `local_variances`.

    Examples
    --------
    >>> from mtcool.graphs import Graph
    >>> pair = Graph.from_edges([(0, 1)])
    >>> mean_local_deviation(pair, [[0.0, 0.0], [1.0, 1.0]])
    1.0
    """
    return float(np.sqrt(local_variances(graph, tasks).mean()))


def tasks_with_variance(graph: GraphLike, dim: int, sigma: float, seed: Seed) -> Matrix:
    """Gaussian tasks around 0, scaled so that the mean local variance is sigma^2.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    dim
        Dimension of the tasks.
    sigma
        Root of the mean local variance.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> from mtcool.graphs import Graph
    >>> pair = Graph.from_edges([(0, 1)])
    >>> round(mean_local_deviation(pair, tasks_with_variance(pair, 3, sigma=0.5, seed=0)), 12)
    0.5
    """
    sigma = non_negative("sigma", sigma)
    agents = as_graph(graph)
    shape = (agents.size, count("dim", dim))
    memory.require("dim", dim, 16 * agents.size * shape[1])
    edgeless = agents.edge_count == 0
    if edgeless and sigma > 0:
        raise ValueError(f"sigma must be 0 on a graph without edges, got {sigma!r}")
    rows = generator(seed).standard_normal(shape)
    return rows * (0.0 if edgeless else sigma / mean_local_deviation(agents, rows))


def tasks_in_groups(
    graph: GraphLike, dim: int, gap: float, seed: Seed, spread: float = 0.0, centre: float = 0.0
) -> Matrix:
    """Tasks around two points, and a fair coin says around which; edges do not matter.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    dim
        Dimension of the tasks.
    gap
        Distance of the two points; 0 for one group.
    seed
        A whole number, or a generator that the caller shares.
    spread
        Root of the mean squared distance of a task from the point of its group.
    centre
        Norm of the mean of the two points.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> tasks_in_groups(ring(5), 1, gap=0.5, seed=1, centre=1.0).T
    array([[1.25, 1.25, 0.75, 1.25, 1.25]])
    """
    gap, spread = non_negative("gap", gap), non_negative("spread", spread)
    centre = non_negative("centre", centre)
    agents = as_graph(graph)
    shape = (agents.size, count("dim", dim))
    memory.require("dim", dim, 16 * agents.size * shape[1])
    rng = generator(seed)
    directions = rng.standard_normal((2, shape[1]))
    common, apart = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    # Agent by agent, so that the first ones have the same tasks however many there are.
    coin, own = np.split(rng.standard_normal((agents.size, 1 + shape[1])), [1], axis=1)
    side = np.where(coin < 0, -0.5, 0.5)
    return np.asarray(centre * common + gap * side * apart + spread / np.sqrt(shape[1]) * own)
