"""What the bounds need to know of a run: the cliques, who was active how often, and the tasks."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import Graph, GraphLike, as_graph, entry_weights
from mtcool.graphs.entries import one_for_each_agent
from mtcool.graphs.weights import WeightsLike
from mtcool.types import Floats, Indices, Integers

Listens: TypeAlias = Callable[[Graph], Indices]
"""The clique that each entry of a graph listens to."""


class CliqueRows(NamedTuple):
    """The rows of all cliques, one entry for each: whose task it is, in which clique."""

    agent: Integers
    clique: Integers
    """Numbered from 0, without cliques that have no row."""
    weight: Floats

    @property
    def cliques(self) -> int:
        """How many cliques there are."""
        return int(self.clique.max()) + 1

    def total(self, values: Floats) -> Floats:
        """Sum of the rows' values in each clique."""
        return np.asarray(np.bincount(self.clique, values, self.cliques), np.float64)

    def most(self, values: Floats) -> Floats:
        """Largest of the rows' values in each clique; values are not negative."""
        largest = np.zeros(self.cliques)
        np.maximum.at(largest, self.clique, values)
        return largest


class CliqueSums(NamedTuple):
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
    mass: Floats
    """Q_j, the sum of q_i over the rows; zero if no q was given."""

    @property
    def similarity(self) -> Floats:
        """sqrt(1 + sigma_j^2 (N_j - 1))."""
        return np.sqrt(1.0 + self.variance * (self.size - 1.0))

    @property
    def norm(self) -> Floats:
        """|U|_A of the tasks: |U|_A^2 = sum |U_i|^2 + N sum |U_i - mean|^2."""
        deviation = self.variance * (self.size - 1.0)
        return np.sqrt(self.size * self.centre + (self.size + 1.0) * deviation)


def rows_of(
    graph: Graph,
    weights: WeightsLike = "uniform",
    q: Floats | None = None,
    listens: Listens = one_for_each_agent,
) -> CliqueRows:
    """The rows that the weights leave: a zero weight removes the row from its clique."""
    entries = entry_weights(graph, weights, q)
    kept = entries > 0.0
    agent = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)[kept]
    _, clique = np.unique(listens(graph)[kept], return_inverse=True)
    return CliqueRows(agent, clique, entries[kept])


def cliques_of(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    weights: WeightsLike = "uniform",
    radius: float = 1.0,
    q: ArrayLike | None = None,
    inside: bool = True,
    listens: Listens = one_for_each_agent,
) -> CliqueSums:
    """The cliques that the weights make, for the algorithm whose agents listen to them.

    Tasks must lie in the ball, unless the algorithm is not confined to it (`inside=False`).
    """
    network = as_graph(graph)
    points = scaled_tasks(network, tasks, radius, inside)
    active = activations(network, counts)
    law = None if q is None else validation.probabilities("q", q, network.size)
    rows = rows_of(network, weights, law, listens)
    size = rows.total(np.ones(len(rows.agent)))
    means = np.zeros((rows.cliques, points.shape[1]))
    np.add.at(means, rows.clique, points[rows.agent])
    means /= size[:, np.newaxis]
    squares = ((points[rows.agent] - means[rows.clique]) ** 2).sum(axis=1)
    likely = np.zeros(len(rows.agent)) if law is None else law[rows.agent]
    return CliqueSums(
        size=size,
        largest=rows.most(rows.weight),
        updates=rows.total(active[rows.agent]),
        variance=rows.total(squares) / np.maximum(size - 1.0, 1.0),
        centre=(means**2).sum(axis=1),
        spread=rows.total(likely * rows.weight**2),
        mass=np.minimum(rows.total(likely), 1.0),
    )


def scaled_tasks(graph: Graph, tasks: ArrayLike, radius: float, inside: bool = True) -> Floats:
    """Tasks in units of the radius: rows of norm at most one, as the theorems assume."""
    return in_units(validation.matrix("tasks", tasks, (graph.size, None)), radius, inside)


def in_units(tasks: Floats, radius: float, inside: bool = True) -> Floats:
    """Tasks over the radius; refused if they do not lie `inside` of the ball."""
    scaled = tasks / validation.positive("radius", radius)
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
    """The unit of the losses, D L: bounds for D = L = 1 are multiplied by it."""
    return validation.positive("radius", radius) * validation.positive("lipschitz", lipschitz)


def trivial(rounds: ArrayLike, radius: float, lipschitz: float) -> float:
    """What so many rounds cost a learner in the ball at most: two of its points are 2 D apart."""
    return 2.0 * float(np.sum(rounds)) * unit(radius, lipschitz)
