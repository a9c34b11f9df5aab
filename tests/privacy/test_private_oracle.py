"""DPMT-CO2OL against the obvious implementation, with the same draws of noise."""

import networkx as nx
import numpy as np
import pytest

import mtcool
import oracle
from mtcool.learners import MTFTRL
from mtcool.network.network import Network
from mtcool.privacy import SimulatedNoise

GRAPHS = {
    "path": nx.path_graph(3),
    "star": nx.star_graph(3),
    "triangle and a loner": nx.Graph([(0, 1), (1, 2), (2, 0), (3, 3)]),
}


class Recorded(SimulatedNoise):
    """Keeps what it draws."""

    def __init__(self, seed):
        super().__init__(seed)
        self.drawn = []

    def draw(self, law, scales):
        self.drawn.append(super().draw(law, scales))
        return self.drawn[-1]


def both(graph, dim, epsilon, horizon, experts):
    simple = nx.Graph(graph)
    simple.remove_edges_from(nx.selfloop_edges(simple))
    learner = MTFTRL(experts=experts)
    privacy = mtcool.Privacy(epsilon, horizon)
    plain = mtcool.dpmt_co2ol(simple, dim, privacy, learner=learner, lipschitz=2.0)
    noise = Recorded(4)
    ours = Network(plain.settings, plain.graph, plain.weights.copy(), noise)
    sizes = [int(width) for width in ours.sanitiser.channels.width]
    levels = horizon.bit_length()
    ends = np.cumsum([levels * size for size in sizes])
    parts = np.split(noise.drawn[0], ends[:-1])
    padding = [part.reshape(levels, size) for part, size in zip(parts, sizes, strict=True)]
    grid = {"paper": oracle.paper_experts, "geometric": oracle.geometric_experts}

    def clique(size, dim, rate, bound):
        chosen = grid.get(experts) if isinstance(experts, str) else lambda size: list(experts)
        return oracle.PrivateHedge(size, dim, rate, bound, experts=chosen)

    weights = oracle.uniform(simple)
    cliques = [{i: weights[i, j] for i in oracle.neighbourhood(simple, j)} for j in sorted(simple)]
    theirs = oracle.PrivateNetwork(cliques, clique, dim, levels, padding, lipschitz=2.0)
    return ours, theirs, noise


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("experts", ["paper", "geometric", (0.3,)])
@pytest.mark.parametrize("epsilon", [1.0, 300.0])  # rows on the ball, and inside
def test_dpmt_co2ol_equals_the_oracle(graph, experts, epsilon):
    dim, horizon = 2, 7
    ours, theirs, noise = both(GRAPHS[graph], dim, epsilon, horizon, experts)
    rng = np.random.default_rng(8)
    for _ in range(9):
        agent = int(rng.integers(ours.graph.size))
        for i in range(ours.graph.size):
            np.testing.assert_allclose(ours.predict(i), theirs.predict(i), atol=5e-5)
        gradient = ours.predict(agent) - 3.0 * rng.standard_normal(dim)
        ours.update(agent, gradient)
        theirs.update(agent, gradient, noise.drawn[-1])
