"""What the bounds need to know of a run: the cliques, who was active how often, and the tasks."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtcool import validation
from mtcool.graphs import Graph, GraphLike, as_graph, entry_weights
from mtcool.graphs.weights import WeightsLike
from mtcool.types import Floats


class Cliques(NamedTuple):
    """The virtual cliques in which somebody has a row, one entry for each."""

    size: Floats
    """Number of rows, N_j."""
    largest: Floats
    """max_i w_ij."""
    updates: Floats
    """Sum of T_i over the rows."""
    variance: Floats
    """Local variance sigma_j^2 of the tasks, in units of the radius."""
    centre: Floats
    """|mean of the tasks|^2, in the same units."""
    spread: Floats
    """sum_i q_i w_ij^2 over the rows; zero if no q was given."""

    @property
    def similarity(self) -> Floats:
        """sqrt(1 + sigma_j^2 (N_j - 1))."""
        return np.sqrt(1.0 + self.variance * (self.size - 1.0))


def cliques_of(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    weights: WeightsLike = "uniform",
    radius: float = 1.0,
    q: ArrayLike | None = None,
    inside: bool = True,
) -> Cliques:
    """The cliques that the weights make: a zero weight removes the row from the clique.

    Tasks must lie in the ball, unless the algorithm is not confined to it (`inside=False`).
    """
    network = as_graph(graph)
    rows = scaled_tasks(network, tasks, radius, inside)
    active = activations(network, counts)
    law = None if q is None else validation.probabilities("q", q, network.size)
    entries = entry_weights(network, weights, law)
    kept = entries > 0.0
    agent = np.repeat(np.arange(network.size), network.neighbourhood_sizes)[kept]
    clique, weight = network.idx[kept].astype(np.int64), entries[kept]
    size = np.bincount(clique, minlength=network.size).astype(np.float64)
    there = size > 0.0
    means = np.zeros((network.size, rows.shape[1]))
    np.add.at(means, clique, rows[agent])
    means[there] /= size[there, np.newaxis]
    squares = ((rows[agent] - means[clique]) ** 2).sum(axis=1)
    deviation = _sums(clique, squares, network.size)
    largest = np.zeros(network.size)
    np.maximum.at(largest, clique, weight)
    spread = np.zeros(clique.size) if law is None else law[agent] * weight**2
    return Cliques(
        size=size[there],
        largest=largest[there],
        updates=_sums(clique, active[agent], network.size)[there],
        variance=(deviation / np.maximum(size - 1.0, 1.0))[there],
        centre=(means**2).sum(axis=1)[there],
        spread=_sums(clique, spread, network.size)[there],
    )


def _sums(index: NDArray[np.int64], values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(index, weights=values, minlength=size), np.float64)


def scaled_tasks(graph: Graph, tasks: ArrayLike, radius: float, inside: bool = True) -> Floats:
    """Tasks in units of the radius: rows of norm at most one, as the theorems assume."""
    rows = validation.matrix("tasks", tasks, (graph.size, None))
    scaled = rows / validation.positive("radius", radius)
    longest = float(np.linalg.norm(scaled, axis=1).max())
    if inside and longest > 1.0 + 1e-9:
        raise ValueError(
            f"tasks must lie in the ball of radius {radius}, got norm {longest * radius}"
        )
    return scaled


def activations(graph: Graph, counts: ArrayLike) -> Floats:
    """T_i: how often each agent was active."""
    numbers = validation.vector("counts", counts, graph.size)
    if numbers.min() < 0:
        raise ValueError(f"counts must not be negative, got {numbers.min()}")
    if (numbers != numbers.round()).any():
        raise ValueError(f"counts must be whole numbers, got {counts!r}")
    return numbers


def unit(radius: float, lipschitz: float) -> float:
    """Bounds for the unit ball and gradients of norm one scale with D L."""
    return validation.positive("radius", radius) * validation.positive("lipschitz", lipschitz)
