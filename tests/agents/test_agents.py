"""Agents as units play the same rounds as a network in one block, to the bit."""

import copy

import numpy as np
import pytest

import mtcool
from mtcool.agents import Gradient, RowRequest, Rows, Sums, decode, encode
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT
from mtcool.privacy import BLT, BinaryTree, Doubling, NoNoise, PerGradient, SmoothTree

STAR = mtcool.graphs.star(4)


def a_graph(seed, size=7):
    return mtcool.graphs.erdos_renyi(size, 0.5, seed=seed)


def weights_on(graph, rng):
    """Any weights, some of them zero, that sum to one over each neighbourhood."""
    matrix = graph.matrix(np.ones(len(graph.idx))).toarray() * rng.uniform(size=(graph.size,) * 2)
    matrix[rng.uniform(size=matrix.shape) < 0.2] = 0.0
    matrix += 0.1 * np.eye(graph.size)
    return matrix / matrix.sum(axis=1, keepdims=True)


PLAIN = {
    "mt_co2ol, Hedge": lambda graph, **rest: mtcool.mt_co2ol(graph, **rest),
    "mt_co2ol, KT": lambda graph, **rest: mtcool.mt_co2ol(graph, learner=MTFTRLKT(), **rest),
    "mt_co2ol, FTRL": lambda graph, **rest: mtcool.mt_co2ol(graph, learner=FTRL(), **rest),
    "two phases": lambda graph, **rest: mtcool.mt_co2ol(
        graph, learner=MTFTRLKT(), rates="estimated", q_min=0.1, horizon=1, **rest
    ),
    "pairwise": lambda graph, **rest: mtcool.pairwise(graph, learner=MTFTRLKT(), **rest),
}
ALONE = {
    "i_ftrl": lambda graph, **rest: mtcool.i_ftrl(graph, **rest),
    "i_ftrl, KT": lambda graph, **rest: mtcool.i_ftrl(graph, learner=KT(), **rest),
}
APPROXIMATE = {"delta": 1e-6}
PRIVATE = {
    "binary tree": (BinaryTree(), {}),
    "smooth tree": (SmoothTree(), {}),
    "doubling": (Doubling(), {}),
    "BLT": (BLT(), APPROXIMATE),
    "per gradient": (PerGradient(), {}),
    "no noise": (NoNoise(), {}),
}


def cut(network):
    return {label: network.agent(label) for label in network.graph.labels}


def carried(message):
    """What arrives: every message travels as bytes."""
    return decode(encode(message))


def play(agents, name, gradient_at):
    """One round with messages in between; returns the prediction."""
    activation = agents[name].activate()
    answers = {
        to: carried(agents[to].receive(carried(request)))
        for to, request in activation.requests.items()
    }
    x = activation.predict(answers)
    for to, message in activation.learn(gradient_at(x)).items():
        assert agents[to].receive(carried(message)) is None
    return x


def compare(network, rng, rounds=40):
    """Play the same rounds with the network and, from its middle on, with its agents."""
    size, dim = network.graph.size, network.settings.dim
    goals = 0.3 * rng.standard_normal((size, dim))
    for i in rng.integers(size, size=10):
        network.update(int(i), network.predict(int(i)) - goals[i])
    twin = copy.deepcopy(network)  # with a copy of the noise
    agents = cut(twin)
    for i in map(int, rng.integers(size, size=rounds)):
        x = network.predict(i)
        network.update(i, x - goals[i])
        y = play(agents, i, lambda x, i=i: x - goals[i])
        np.testing.assert_array_equal(x, y)
    return agents


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("name", PLAIN)
def test_agents_play_as_their_network_does(name, dim):
    rng = np.random.default_rng(dim)
    for seed in range(2):
        graph = a_graph(seed)
        network = PLAIN[name](graph, dim=dim, lipschitz=9.0, weights=weights_on(graph, rng))
        agents = compare(network, rng)
        again = mtcool.Network.from_agents(agents.values(), graph)
        for label in graph.labels:
            np.testing.assert_array_equal(again.predict(label), network.predict(label))


@pytest.mark.parametrize("name", ALONE)
def test_agents_alone_send_nothing(name):
    network = ALONE[name](a_graph(3), dim=2, lipschitz=9.0)
    agents = compare(network, np.random.default_rng(0))
    assert all(not agent.activate().requests for agent in agents.values())


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("name", PRIVATE)
def test_private_agents_play_as_their_network_does_with_the_same_noise(name, dim):
    aggregator, levels = PRIVATE[name]
    graph, rng = a_graph(5), np.random.default_rng(dim)
    network = mtcool.dpmt_co2ol(
        graph,
        dim,
        mtcool.Privacy(
            rng.uniform(10.0, 100.0, graph.size),
            rng.integers(60, 2_000, graph.size),
            aggregator=aggregator,
            **levels,
        ),
        weights=weights_on(graph, rng),
        lipschitz=9.0,
        seed=1,
    )
    agents = compare(network, rng)
    assert {label: agent.account() for label, agent in agents.items()} == network.ledger()
    again = mtcool.Network.from_agents(agents.values(), graph)
    assert again.ledger() == network.ledger()
    for label in graph.labels:
        np.testing.assert_array_equal(again.predict(label), network.predict(label))


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("learner", [FTRL(), KT()])
def test_agents_that_share_a_task_send_their_losses(learner, dim):
    graph, rng = a_graph(4), np.random.default_rng(dim)
    network = mtcool.st_ftrl(graph, dim, learner=learner, lipschitz=9.0)
    goals = 0.3 * rng.standard_normal((graph.size, dim))
    agents = cut(network)
    for i in map(int, rng.integers(graph.size, size=40)):
        loss = mtcool.streams.Loss(mtcool.streams.Quadratic(), goals[i])
        x = network.predict(i)
        network.update(i, loss.subgradient)
        np.testing.assert_array_equal(play(agents, i, lambda x, loss=loss: loss), x)
    again = mtcool.Network.from_agents(agents.values(), graph)
    for label in graph.labels:
        np.testing.assert_array_equal(again.predict(label), network.predict(label))


def test_one_expert_sends_gradients_alone():
    network = mtcool.dpmt_co2ol(
        STAR, 2, mtcool.Privacy(1.0, 9), learner=MTFTRL(experts=(0.5,)), seed=0
    )
    agents = cut(network)
    (answer,) = (agents[0].receive(r) for r in agents[3].activate().requests.values())
    assert len(answer.experts) == 0


def test_agents_may_have_any_names():
    graph = mtcool.Graph.from_edges([("a", ("b", 1)), (("b", 1), 2.5)], ["a", ("b", 1), 2.5])
    network = mtcool.mt_co2ol(graph, 1, learner=MTFTRLKT(), lipschitz=9.0)
    agents = cut(network)
    for name in ("a", ("b", 1), 2.5, "a"):
        x = network.predict(name)
        network.update(name, x - 0.5)
        np.testing.assert_array_equal(play(agents, name, lambda x: x - 0.5), x)


REFUSED = {
    "a stranger": (RowRequest("nobody"), "sender must be a listener of agent 0, got 'nobody'"),
    "rows that nobody asked for": (Rows(1, np.zeros(2), np.zeros(0)), "message must be a request"),
    "a long gradient": (Gradient(1, 0.5, np.array([3.0, 4.0])), "norm at most 1, got norm 5.0"),
    "another dimension": (Gradient(1, 0.5, np.ones(3)), "gradient must have"),
    "a NaN": (Gradient(1, 0.5, np.array([np.nan, 0.0])), "gradient must be finite"),
    "a negative weight": (Gradient(1, -0.5, np.zeros(2)), "weight must be"),
    "sums": (Sums(1, 0.5, np.zeros(2), np.zeros(0)), "message must be a request or a gradient"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_bad_message_is_refused_and_changes_nothing(kind):
    agent = mtcool.mt_co2ol(STAR, 2, learner=MTFTRLKT()).agent(0)
    agent.receive(Gradient(1, 0.5, np.array([0.5, 0.1])))
    before = [array.tobytes() for array in agent.state]
    message, words = REFUSED[kind]
    with pytest.raises(ValueError, match=words):
        agent.receive(message)
    assert [array.tobytes() for array in agent.state] == before


def test_an_answer_that_is_missing_is_named():
    activation = mtcool.mt_co2ol(STAR, 2, learner=MTFTRLKT()).agent(3).activate()
    with pytest.raises(ValueError, match=r"answers must have one of agent 0, got \[\]"):
        activation.predict({})


def test_a_private_agent_stops_at_its_horizon():
    network = mtcool.dpmt_co2ol(STAR, 1, mtcool.Privacy(1.0, 2), seed=0)
    agents = cut(network)
    for _ in range(2):
        play(agents, 3, lambda x: x)
    with pytest.raises(ValueError, match="horizon of agent 3 is 2 activations, of which 2 are"):
        play(agents, 3, lambda x: x)


def test_agents_of_another_graph_form_no_network():
    network = mtcool.mt_co2ol(STAR, 1, learner=MTFTRLKT())
    agents = cut(network)
    with pytest.raises(ValueError, match="agents must be those of the graph"):
        mtcool.Network.from_agents(list(agents.values())[:3], STAR)
    with pytest.raises(ValueError, match="graph must have the neighbours of agent"):
        mtcool.Network.from_agents(agents.values(), mtcool.graphs.edgeless(4))
