"""Silent rounds of DPMT-CO2OL against the obvious implementation, with the same draws of noise."""

import networkx as nx
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.privacy.test_private_oracle import Recorded

import mtcool
import oracle
from mtcool.agents import RowRequest, Rows, Sums, encode
from mtcool.learners import MTFTRL
from mtcool.network.network import Network
from silent_oracle import SilentNetwork

EXPERTS = {"paper": oracle.paper_experts, "geometric": oracle.geometric_experts}
GRAPHS = {
    "path": nx.path_graph(3),
    "star": nx.star_graph(3),
    "triangle and a loner": nx.Graph([(0, 1), (1, 2), (2, 0), (3, 3)]),
}
policies = st.fixed_dictionaries(
    {},
    optional={
        "every": st.integers(1, 4),
        "probability": st.sampled_from([0.3, 0.5, 0.8]),
        "budget": st.integers(1, 30),
        "budget_bytes": st.integers(100, 3_000),
    },
).filter(lambda policy: mtcool.Messages(**policy).silent)


def neighbours(graph):
    return [set(graph[i]) - {i} for i in sorted(graph)]


def random_weights(graph, rng):
    """Positive weights of all neighbours."""
    weights = np.zeros((len(graph), len(graph)))
    for i, near in enumerate(neighbours(graph)):
        chosen = sorted({i, *near})
        weights[i, chosen] = rng.dirichlet(np.ones(len(chosen))) * 0.9 + 0.1 / len(chosen)
    return weights


def bytes_of(graph, dim, experts):
    """Bytes of a round in which an agent talks, by writing the messages."""
    near = neighbours(graph)
    sizes = [1 + len(others) for others in near]
    number = [len(experts(size)) if size > 1 else 1 for size in sizes]
    number = [count if count > 1 else 0 for count in number]
    cost = []
    for i, others in enumerate(near):
        messages = []
        for j in others:
            messages.append(RowRequest(i))
            messages.append(Rows(j, np.zeros(dim), np.zeros(number[j] * dim)))
            messages.append(Sums(i, 1.0, np.zeros(dim), np.zeros(number[j])))
        cost.append(sum(len(encode(message)) for message in messages))
    return cost


def both(graph, dim, epsilon, horizon, experts, policy, seed, weights, q=None):
    """The network, its slow twin, and the noise that they share."""
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
        messages=mtcool.Messages(**policy),
        seed=seed,
        **options,
    )
    noise = Recorded(4)
    ours = Network(plain.settings, plain.graph, plain.weights.copy(), noise)
    cost = bytes_of(simple, dim, chosen)
    near = neighbours(simple)
    theirs = SilentNetwork(
        near, dim, chosen, weights, policy, seed, horizon, cost, noise.drawn[0], q
    )
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
    policy=policies,
    stochastic=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_silent_rounds_equal_the_oracle(graph, experts, epsilon, dim, policy, stochastic, seed):
    rng = np.random.default_rng(seed)
    size = len(GRAPHS[graph])
    q = None
    if stochastic and not mtcool.Messages(**policy).ends:
        q = rng.dirichlet(np.ones(size))
    weights = random_weights(GRAPHS[graph], rng)
    given_ = (policy, seed, weights, q)
    ours, theirs, noise = both(GRAPHS[graph], dim, epsilon, 12, experts, *given_)
    talked = np.zeros(size, int)
    for _ in range(14):
        agent = int(rng.integers(size))
        if theirs.rounds(agent) == 12:
            continue
        for i in range(size):
            np.testing.assert_allclose(ours.predict(i), theirs.predict(i), atol=1e-9)
        gradient = ours.predict(agent) - 2.0 * rng.standard_normal(dim)
        ours.update(agent, gradient)
        talked[agent] += theirs.update(agent, gradient, noise.drawn[-1])
    np.testing.assert_array_equal(ours.peers.state.aggregator.activations[:size], talked)
