"""DPMT-CO2OL against the obvious implementation, with the same draws of noise."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import mtcool
import oracle
from exact_private import ExactPrivateNetwork
from mtcool.learners import MTFTRL
from mtcool.network.network import Network
from mtcool.privacy import SimulatedNoise

GRAPHS = {
    "path": nx.path_graph(3),
    "star": nx.star_graph(3),
    "triangle and a loner": nx.Graph([(0, 1), (1, 2), (2, 0), (3, 3)]),
}


EXPERTS = {"paper": oracle.paper_experts, "geometric": oracle.geometric_experts}


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

    def clique(size, dim, rate, bound):
        chosen = EXPERTS.get(experts) if isinstance(experts, str) else lambda size: list(experts)
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


def neighbours(graph):
    return [set(graph[i]) - {i} for i in sorted(graph)]


def random_weights(graph, rng):
    """Positive weights of all neighbours."""
    weights = np.zeros((len(graph), len(graph)))
    for i, near in enumerate(neighbours(graph)):
        chosen = sorted({i, *near})
        weights[i, chosen] = rng.dirichlet(np.ones(len(chosen))) * 0.9 + 0.1 / len(chosen)
    return weights


def twins(graph, dim, epsilon, horizon, experts, weights, q=None):
    """The network, its slow and exact twin, and the noise that they share."""
    simple = nx.Graph(graph)
    simple.remove_edges_from(nx.selfloop_edges(simple))
    chosen = EXPERTS[experts] if isinstance(experts, str) else lambda size: list(experts)
    options = {} if q is None else {"rates": "stochastic", "q": q}
    plain = mtcool.dpmt_co2ol(
        simple,
        dim,
        mtcool.Privacy(epsilon, horizon),
        learner=MTFTRL(experts=experts),
        weights=weights,
        **options,
    )
    noise = Recorded(4)
    ours = Network(plain.settings, plain.graph, plain.weights.copy(), noise)
    near = neighbours(simple)
    theirs = ExactPrivateNetwork(near, dim, chosen, weights, horizon, noise.drawn[0], q)
    return ours, theirs, noise


@settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=40,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    graph=st.sampled_from(sorted(GRAPHS)),
    experts=st.sampled_from(["paper", "geometric", (0.3,)]),
    epsilon=st.sampled_from([3.0, 30.0, 300.0]),  # rows on the ball, and inside
    dim=st.integers(1, 2),
    stochastic=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_weights_and_stochastic_rates_equal_the_exact_oracle(
    graph, experts, epsilon, dim, stochastic, seed
):
    rng = np.random.default_rng(seed)
    size = len(GRAPHS[graph])
    q = rng.dirichlet(np.ones(size)) if stochastic else None
    weights = random_weights(GRAPHS[graph], rng)
    ours, theirs, noise = twins(GRAPHS[graph], dim, epsilon, 12, experts, weights, q)
    for _ in range(12):
        agent = int(rng.integers(size))
        for i in range(size):
            # With the loudest noise most rows are clipped, and the oracle must ask cvxpy.
            close = 1e-4 if epsilon == 3.0 else 1e-9
            np.testing.assert_allclose(ours.predict(i), theirs.predict(i), atol=close)
        gradient = ours.predict(agent) - 2.0 * rng.standard_normal(dim)
        ours.update(agent, gradient)
        theirs.update(agent, gradient, noise.drawn[-1])
