"""Lemma `lem:cool-cn`: the linearised regret is the sum of the linear regrets of the cliques."""

import networkx as nx
import numpy as np
import pytest

import mtcool
import oracle
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT, predict_row


def random_weights(graph, rng):
    """Rows that sum to one over the neighbourhoods, with zeros."""
    weights = np.zeros((len(graph), len(graph)))
    for i in graph:
        near = oracle.neighbourhood(graph, i)
        parts = rng.random(len(near)) * (rng.random(len(near)) < 0.7)
        parts[rng.integers(len(near))] += 0.1
        weights[i, near] = parts / parts.sum()
    return weights


def clique_losses(net, agent, gradient, comparator):
    """What each clique that the agent listens to loses to the comparator on <w g, .>."""
    peers, units = net.peers, net.peers.units
    model = np.empty(len(gradient))
    for e in range(peers.ptr[agent], peers.ptr[agent + 1]):
        predict_row(peers.state, peers.clique[e], peers.row[e], model)
        weighted = peers.weight[e] * gradient
        yield peers.clique[e], weighted @ (units.radius * model - comparator[agent])


@pytest.mark.parametrize("make", [mtcool.mt_co2ol, mtcool.pairwise], ids=["mt_co2ol", "pairwise"])
@pytest.mark.parametrize("learner", [MTFTRL(), MTFTRLKT(), FTRL(), KT()], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_the_regret_is_the_sum_of_the_regrets_of_the_cliques(make, learner, seed):
    rng = np.random.default_rng(seed)
    size, dim, rounds = 7, 1 + seed, 80
    graph = nx.gnp_random_graph(size, 0.4, seed=seed)
    net = make(
        graph,
        dim,
        learner=learner,
        weights=random_weights(graph, rng),
        lipschitz=2.0,
        radius=3.0,
    )
    comparator = rng.standard_normal((size, dim))
    regret, by_clique = 0.0, np.zeros(size + graph.number_of_edges())
    for agent in rng.integers(size, size=rounds):
        gradient = rng.standard_normal(dim) + 0.5
        gradient *= 2.0 * rng.random() / np.linalg.norm(gradient)
        regret += gradient @ (net.predict(agent) - comparator[agent])
        for clique, loss in clique_losses(net, agent, gradient, comparator):
            by_clique[clique] += loss
        net.update(agent, gradient)
    assert by_clique.sum() == pytest.approx(regret, rel=1e-10, abs=1e-10)
    assert np.count_nonzero(by_clique) > 3


@pytest.mark.parametrize("learner", [MTFTRL(), MTFTRLKT(), FTRL(), KT()], ids=repr)
def test_a_clique_in_a_network_learns_as_if_it_were_alone(learner):
    """The key observation before the lemma: clique j sees only the activations in N_j."""
    rng = np.random.default_rng(0)
    graph = nx.path_graph(5)
    weights = oracle.uniform(graph)
    net = mtcool.mt_co2ol(graph, 2, learner=learner, weights=weights)
    # Clique 1 serves the agents 0, 1, 2. Alone, they listen to it with the same weights; the rest
    # of everybody's weight goes to clique 4.
    alone = mtcool.mt_co2ol(nx.complete_graph(5), 2, learner=learner, weights=moved(weights))
    model, expected = np.empty((2, 2))
    for agent in rng.integers(5, size=100):
        gradient = rng.standard_normal(2)
        gradient /= max(1.0, np.linalg.norm(gradient))
        net.update(agent, gradient)
        if agent <= 2:
            alone.update(agent, gradient)
        for row in range(3):
            predict_row(net.peers.state, 1, entry_row(net, row), model)
            predict_row(alone.peers.state, 1, entry_row(alone, row), expected)
            np.testing.assert_allclose(model, expected, rtol=1e-12, atol=1e-12)


def moved(weights):
    """Weights of the agents 0, 1, 2 for clique 1; what is left goes to clique 4."""
    alone = np.zeros_like(weights)
    alone[:3, 1] = weights[:3, 1]
    alone[:, 4] = 1.0 - alone[:, 1]
    return alone


def entry_row(net, agent):
    """The row of clique 1 that belongs to the agent."""
    peers = net.peers
    entries = range(peers.ptr[agent], peers.ptr[agent + 1])
    return next(peers.row[e] for e in entries if peers.clique[e] == 1)
