"""MT-CO2OL with KT in NumPy, vectorised over the neighbours of the active agent.

The same O(d) sums as in mtcool, so that two ways to run one algorithm are compared, not two
algorithms. What depends on the active agent alone is gathered once. Uniform weights; gradients
longer than `lipschitz` are clipped.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool import Graph

Floats = NDArray[np.float64]


class Neighbourhood(NamedTuple):
    """An agent's cliques and what does not change in them; Gamma has the agent's own rows."""

    clique: NDArray[np.intp]
    weight: float
    coin: Floats
    modes: Floats
    """N + 1 for the N rows of each clique."""
    curb: Floats
    """(N + 1) max w / sqrt(N): times the square root of the clock, the least divisor of Gamma."""
    gradients: Floats


class NumPyKT:
    """All agents of a graph."""

    def __init__(self, graph: Graph, dim: int, lipschitz: float) -> None:
        self.lipschitz = lipschitz
        self.neighbourhoods = _neighbourhoods(graph, dim)
        self.total = np.zeros((graph.size, dim))
        self.square = np.zeros(graph.size)
        self.scale = np.zeros(graph.size)
        self.bet = np.zeros(graph.size)
        self.outcomes = np.zeros(graph.size)
        self.reward = np.zeros(graph.size)
        self.clock = np.ones(graph.size)

    def play(self, agents: NDArray[np.int64], targets: Floats, points: Floats) -> None:
        """Quadratic losses with these targets; writes the prediction of every round to `points`."""
        for t, i in enumerate(agents.tolist()):
            clique, weight, coin, modes, curb, gradients = self.neighbourhoods[i]
            total, bet = self.total[clique], self.bet[clique]
            direction = self.scale[clique, None] * (gradients + total)
            points[t] = weight * (bet @ direction)

            g = points[t] - targets[t]
            g *= weight / max(np.sqrt(g @ g), self.lipschitz)
            u = coin * (direction @ g)
            square = self.square[clique] + (2.0 * gradients + g) @ g
            gradients += g
            total += g
            outcomes = self.outcomes[clique] + u
            reward = self.reward[clique] + bet * u
            clock = self.clock[clique] + 1.0

            norm = np.sqrt((square + np.einsum("md,md->m", total, total)) * modes)
            self.scale[clique] = -1.0 / np.maximum(curb * np.sqrt(clock), norm)
            self.bet[clique] = outcomes * (reward - 1.0) / clock
            self.total[clique] = total
            self.square[clique] = square
            self.outcomes[clique] = outcomes
            self.reward[clique] = reward
            self.clock[clique] = clock


def _neighbourhoods(graph: Graph, dim: int) -> list[Neighbourhood]:
    cliques = [graph.neighbours(i).astype(np.intp) for i in range(graph.size)]
    size = graph.neighbourhood_sizes.astype(np.float64)
    largest = np.array([(1.0 / size[clique]).max() for clique in cliques])
    coin, curb = np.sqrt(size / 2.0) / largest, (size + 1.0) * largest / np.sqrt(size)
    return [
        Neighbourhood(
            clique,
            1.0 / size[i],
            coin[clique],
            size[clique] + 1.0,
            curb[clique],
            np.zeros((len(clique), dim)),
        )
        for i, clique in enumerate(cliques)
    ]
