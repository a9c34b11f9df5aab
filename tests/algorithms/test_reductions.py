"""Where two algorithms are the same algorithm, they predict the same; symmetries are kept."""

import functools
import math

import networkx as nx
import numpy as np
import pytest

import mtcool
import oracle
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT

ROUNDING = 1e-12
SOLVER = 1e-10  # Hedge amplifies the rounding of the experts' minimisers

BOTH = pytest.mark.parametrize(
    ("learner", "tolerance"), [(MTFTRL(), SOLVER), (MTFTRLKT(), ROUNDING)], ids=["Hedge", "KT"]
)
EVERY = pytest.mark.parametrize(
    ("learner", "tolerance"),
    [(MTFTRL(), SOLVER), (MTFTRLKT(), ROUNDING), (FTRL(), ROUNDING), (KT(), ROUNDING)],
    ids=["MTFTRL", "MTFTRLKT", "FTRL", "KT"],
)


def moves(agents, dim, rounds=60, seed=0):
    """Who is told what: unit gradients with a bias, so that rows meet the ball, and shorter ones.

    `agents` are the labels to draw from.
    """
    rng = np.random.default_rng(seed)
    g = rng.standard_normal((rounds, dim)) + 1.0
    g *= np.where(rng.random(rounds) < 0.5, 1.0, rng.random(rounds))[:, None] / np.linalg.norm(
        g, axis=1, keepdims=True
    )
    return [(agents[i], g[t]) for t, i in enumerate(rng.integers(len(agents), size=rounds))]


def history(net, agents, steps):
    """Predictions of all agents after every step, (steps, agents, dim)."""
    predictions = []
    for agent, gradient in steps:
        net.update(agent, gradient)
        predictions.append([net.predict(i) for i in agents])
    return np.array(predictions)


def assert_same(one, other, tolerance):
    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def clique_alone(size, dim, learner, **settings):
    """One instance of the learner on `size` rows with weight one: all listen to agent 0 only."""
    weights = np.zeros((size, size))
    weights[:, 0] = 1.0
    return mtcool.mt_co2ol(
        nx.complete_graph(size), dim, learner=learner, weights=weights, **settings
    )


@pytest.mark.parametrize(
    ("on_cliques", "alone"), [(MTFTRL(), FTRL()), (MTFTRLKT(), KT())], ids=["FTRL", "KT"]
)
def test_without_edges_mt_co2ol_is_i_ftrl(on_cliques, alone):
    graph = nx.empty_graph(4)
    steps = moves(range(4), 3)
    ours = history(mtcool.mt_co2ol(graph, 3, learner=on_cliques), graph, steps)
    assert_same(ours, history(mtcool.i_ftrl(graph, 3, learner=alone), graph, steps), ROUNDING)


def test_one_agent_is_ftrl_on_the_ball():
    graph = nx.empty_graph(1)
    steps = moves(range(1), 2)
    totals = np.cumsum([g for _, g in steps], axis=0)
    expected = [oracle.project(-s / math.sqrt(2.0 + t)) for t, s in enumerate(totals)]
    for make in (mtcool.mt_co2ol, mtcool.i_ftrl, mtcool.st_ftrl, mtcool.pairwise):
        if make is mtcool.st_ftrl:
            told = [(agent, functools.partial(lambda g, x: g, g)) for agent, g in steps]
        else:
            told = steps
        assert_same(history(make(graph, 2), graph, told)[:, 0], expected, ROUNDING)


@BOTH
def test_a_complete_graph_with_uniform_weights_is_the_clique_algorithm_alone(learner, tolerance):
    """All N cliques are equal and see g / N, but beta too is 1 / N of the clique's: it cancels.

    eta Gamma, the Hedge exponents and the coin's outcomes depend on gradients / beta only.
    """
    steps = moves(range(4), 2)
    net = mtcool.mt_co2ol(nx.complete_graph(4), 2, learner=learner)
    alone = clique_alone(4, 2, learner)
    assert_same(history(net, range(4), steps), history(alone, range(4), steps), tolerance)


@BOTH
def test_delegation_is_one_instance_for_each_dominating_node(learner, tolerance):
    graph = nx.convert_node_labels_to_integers(nx.barbell_graph(3, 1))
    weights = mtcool.graphs.delegation_weights(graph).toarray()
    delegates = weights.argmax(axis=1)
    assert len(set(delegates)) == 2
    steps = moves(range(7), 2)
    ours = history(mtcool.mt_co2ol(graph, 2, learner=learner, weights="delegation"), graph, steps)
    for j in set(delegates):
        members = np.flatnonzero(delegates == j).tolist()
        alone = clique_alone(len(members), 2, learner)
        heard = [t for t, (agent, _) in enumerate(steps) if agent in members]
        told = [(members.index(steps[t][0]), steps[t][1]) for t in heard]
        theirs = history(alone, range(len(members)), told)
        assert_same(ours[np.ix_(heard, members)], theirs, tolerance)


@EVERY
def test_names_and_order_of_the_agents_do_not_matter(learner, tolerance):
    graph = nx.gnp_random_graph(6, 0.5, seed=3)
    steps = moves(range(6), 2)
    order = [4, 2, 0, 5, 1, 3]
    renamed = nx.Graph()
    renamed.add_nodes_from(f"agent {i}" for i in order)
    renamed.add_edges_from((f"agent {i}", f"agent {j}") for i, j in graph.edges)
    told = [(f"agent {i}", g) for i, g in steps]
    ours = history(mtcool.mt_co2ol(graph, 2, learner=learner), range(6), steps)
    names = [f"agent {i}" for i in range(6)]
    theirs = history(mtcool.mt_co2ol(renamed, 2, learner=learner), names, told)
    assert_same(ours, theirs, tolerance)


@EVERY
def test_a_rotation_of_the_gradients_rotates_the_predictions(learner, tolerance):
    graph = nx.gnp_random_graph(5, 0.6, seed=1)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    steps = moves(range(5), 3)
    turned = [(agent, rotation @ g) for agent, g in steps]
    ours = history(mtcool.mt_co2ol(graph, 3, learner=learner), graph, steps)
    theirs = history(mtcool.mt_co2ol(graph, 3, learner=learner), graph, turned)
    assert_same(ours @ rotation.T, theirs, tolerance)


@pytest.mark.parametrize("learner", [FTRL(), KT()], ids=["FTRL", "KT"])
def test_a_rotation_of_the_losses_rotates_st_ftrl(learner):
    graph = nx.gnp_random_graph(5, 0.6, seed=1)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    steps = moves(range(5), 3)
    losses = [(i, lambda x, z=z: (x - z) / 4.0) for i, z in steps]
    turned = [(i, lambda x, z=z: (x - rotation @ z) / 4.0) for i, z in steps]
    ours = history(mtcool.st_ftrl(graph, 3, learner=learner), graph, losses)
    theirs = history(mtcool.st_ftrl(graph, 3, learner=learner), graph, turned)
    assert_same(ours @ rotation.T, theirs, ROUNDING)


@EVERY
def test_units_scale_predictions_by_the_radius_and_gradients_by_the_constant(learner, tolerance):
    graph = nx.gnp_random_graph(5, 0.6, seed=1)
    steps = moves(range(5), 2)
    scaled = [(agent, 0.3 * g) for agent, g in steps]
    ours = history(mtcool.mt_co2ol(graph, 2, learner=learner), graph, steps)
    net = mtcool.mt_co2ol(graph, 2, learner=learner, lipschitz=0.3, radius=7.0)
    assert_same(7.0 * ours, history(net, graph, scaled), 7.0 * tolerance)


@BOTH
def test_zero_weights_along_an_edge_remove_the_edge(learner, tolerance):
    whole, part = nx.cycle_graph(4), nx.path_graph(4)
    weights = oracle.uniform(part)
    steps = moves(range(4), 2)
    ours = history(mtcool.mt_co2ol(whole, 2, learner=learner, weights=weights), whole, steps)
    theirs = history(mtcool.mt_co2ol(part, 2, learner=learner), part, steps)
    assert_same(ours, theirs, tolerance)


@BOTH
def test_an_agent_nobody_listens_to_runs_no_instance_but_predicts(learner, tolerance):
    """The hub of a star listens to leaf 1, which then serves the two; other leaves are alone."""
    graph = nx.star_graph(3)
    weights = np.eye(4)
    weights[0] = [0.0, 1.0, 0.0, 0.0]
    net = mtcool.mt_co2ol(graph, 2, learner=learner, weights=weights)
    pair, loners = (
        clique_alone(2, 2, learner),
        mtcool.mt_co2ol(nx.empty_graph(4), 2, learner=learner),
    )
    for agent, gradient in moves(range(4), 2):
        net.update(agent, gradient)
        (pair if agent < 2 else loners).update(agent, gradient)
        for i in range(4):
            assert_same(net.predict(i), (pair if i < 2 else loners).predict(i), tolerance)


@BOTH
def test_stochastic_rates_with_equal_weights_are_the_adversarial_ones(learner, tolerance):
    graph = nx.complete_graph(4)
    steps = moves(range(4), 2)
    q = np.array([0.1, 0.2, 0.3, 0.4])
    stochastic = mtcool.mt_co2ol(graph, 2, learner=learner, rates="stochastic", q=q)
    ours = history(mtcool.mt_co2ol(graph, 2, learner=learner), graph, steps)
    assert_same(ours, history(stochastic, graph, steps), tolerance)


@BOTH
def test_pairwise_on_one_edge_is_mt_co2ol_on_it_plus_learning_alone(learner, tolerance):
    graph = nx.complete_graph(2)
    weights = np.full((2, 2), 0.5)
    steps = moves(range(2), 2)
    net = mtcool.pairwise(graph, 2, learner=learner, weights=weights)
    pair = history(clique_alone(2, 2, learner), graph, steps)
    alone = history(mtcool.mt_co2ol(nx.empty_graph(2), 2, learner=learner), graph, steps)
    assert_same(history(net, graph, steps), 0.5 * (pair + alone), tolerance)


@pytest.mark.parametrize(
    "learner",
    [MTFTRL(), MTFTRL("geometric"), MTFTRL((0.0, 0.2, 0.9)), MTFTRL(free_last=True)],
    ids=repr,
)
@pytest.mark.parametrize("dim", [1, 3])
def test_the_prediction_is_the_hedge_average_of_runs_with_one_variance(learner, dim):
    """Single variances give the experts, exactly; Hedge's weights follow from their losses."""
    size = 5
    steps = [(i, g if i % 2 else -g) for i, g in moves(range(size), dim, rounds=120)]
    xis = learner.variances(size)
    nets = [clique_alone(size, dim, MTFTRL((xi,))) for xi in xis]
    nets[-1] = clique_alone(size, dim, MTFTRL((xis[-1],), free_last=learner.free_last))
    net, losses = clique_alone(size, dim, learner), np.zeros(len(xis))
    for t, (agent, gradient) in enumerate(steps):
        losses += [one.predict(agent) @ gradient for one in nets]
        for one in (net, *nets):
            one.update(agent, gradient)
        p = np.exp(-math.sqrt(math.log(len(xis)) / (2.0 + t)) * losses)
        for i in range(size):
            expected = p / p.sum() @ [one.predict(i) for one in nets]
            assert_same(net.predict(i), expected, SOLVER)
    assert np.ptp(p) > 0.1 * p.max()


@EVERY
def test_predictions_stay_in_the_ball_unless_unconstrained(learner, tolerance):
    """FTRL and the experts play in the ball; KT bets its wealth and may leave it."""
    net = mtcool.mt_co2ol(nx.gnp_random_graph(6, 0.5, seed=2), 2, learner=learner, radius=3.0)
    steps = [(i, np.array([0.6, 0.8])) for i, _ in moves(range(6), 2, rounds=120)]
    lengths = np.linalg.norm(history(net, range(6), steps), axis=2)
    if isinstance(learner, KT | MTFTRLKT):
        assert lengths.max() > 3.0
    else:
        assert lengths.max() == pytest.approx(3.0, rel=1e-3)
        assert lengths.max() <= 3.0 * (1.0 + 1e-14)
