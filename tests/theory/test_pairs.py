"""The pairwise approach (`sec:fail`): its bound, what it becomes without edges, and real runs."""

import math

import numpy as np
import pytest

import mtcool
from mtcool import graphs, streams, theory
from mtcool.learners import MTFTRL


def tasks_on(graph, seed, dim=2):
    """Random tasks in the ball."""
    rows = np.random.default_rng(seed).standard_normal((graph.size, dim))
    return 0.6 * rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))


def random_weights(graph, seed, zeros=0.0):
    """Any weights on the closed neighbourhoods, a share of them zero."""
    rng = np.random.default_rng(seed)
    near = graph.to_networkx()
    weights = np.zeros((graph.size, graph.size))
    for i in range(graph.size):
        for j in [i, *near[i]]:
            weights[i, j] = rng.random() * (rng.random() >= zeros or i == j)
    return weights / weights.sum(axis=1, keepdims=True)


def pairs(graph, weights):
    """Rows of the cliques: {agent: weight} for every agent and every edge that has any weight."""
    for i in range(graph.size):
        yield {i: weights[i, i]}
    for i, j in graph.to_networkx().edges:
        yield {a: w for a, w in ((i, weights[i, j]), (j, weights[j, i])) if w > 0.0}


def naive(graph, tasks, counts, weights):
    """Pair by pair, from the definition."""
    total = 0.0
    for rows in pairs(graph, weights):
        if not rows:
            continue
        pace = max(rows.values()) * math.sqrt(sum(counts[i] for i in rows))
        if len(rows) == 1:
            total += 2 * pace
            continue
        i, j = rows
        apart = ((tasks[i] - tasks[j]) ** 2).sum()
        total += 6 * pace * (math.sqrt(1 + apart / 2) + math.log(2))
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_that_of_every_pair_by_itself(seed):
    graph = graphs.erdos_renyi(8, 0.4, seed=seed)
    tasks, counts = tasks_on(graph, seed), np.random.default_rng(seed).integers(0, 50, 8)
    for zeros in (0.0, 0.4):
        weights = random_weights(graph, seed, zeros)
        bound = theory.pairwise(graph, tasks, counts, weights=weights)
        assert bound.value == pytest.approx(naive(graph, tasks, counts, weights))


def test_without_edges_it_is_the_bound_of_learning_alone():
    counts = [3, 0, 100, 17]
    graph, tasks = graphs.edgeless(4), [[0.3]] * 4
    assert theory.pairwise(graph, tasks, counts).value == theory.independent(counts).value
    q = np.array([0.1, 0.2, 0.3, 0.4])
    bound = theory.pairwise_stochastic(graph, tasks, q, 1000)
    assert bound.value == pytest.approx(theory.independent(1000 * q).value)


def test_an_edge_with_all_the_weight_is_a_clique_of_two():
    tasks = np.array([[0.9], [-0.2]])
    bound = theory.pairwise(graphs.complete(2), tasks, [30, 70], weights=[[0, 1], [1, 0]])
    clique = theory.clique(2, float(tasks.var(ddof=1)), 100)
    assert bound.value == pytest.approx(clique.value)
    assert bound.parts["experts"] == pytest.approx(clique.parts["experts"])


@pytest.mark.parametrize("seed", range(6))
def test_no_weights_make_the_bound_better_than_learning_alone(seed):
    """`eq:bad_regret`, for equal tasks and equal probabilities."""
    graph, q = graphs.erdos_renyi(9, 0.5, seed=seed), np.full(9, 1 / 9)
    for weights in ("uniform", "delegation", random_weights(graph, seed, zeros=0.3)):
        bound = theory.pairwise_stochastic(graph, np.zeros((9, 1)), q, 900, weights=weights)
        assert bound.value >= theory.independent(np.full(9, 100)).value * (1 - 1e-12)
    clique = graphs.complete(100)
    shared = theory.known_variances(clique, np.zeros((100, 1)), np.full(100, 100)).value
    assert shared < theory.independent(np.full(100, 100)).value  # what MT-CO2OL has there


def test_the_stochastic_bound_is_the_root_of_the_weighted_probabilities():
    graph, q = graphs.complete(2), np.array([0.25, 0.75])
    tasks = np.array([[1.0], [0.0]])
    bound = theory.pairwise_stochastic(graph, tasks, q, 400)
    edge = 6 * math.sqrt((0.25 + 0.75) / 4 * 1.5 * 400)
    own = 2 * 0.5 * (math.sqrt(100) + math.sqrt(300))
    assert bound.value == pytest.approx(edge + own)


STREAMS = {
    "noise": lambda graph, seed: streams.linear_stream(graph, 1, 400, seed, drift=0.0),
    "drift": lambda graph, seed: streams.linear_stream(graph, 1, 400, seed, drift=2.0),
    "adversary": lambda graph, seed: streams.multitask_adversary(graph, 0.5, 400, seed),
}


@pytest.mark.parametrize("graph", [graphs.ring(6), graphs.star(5), graphs.complete(2)], ids=str)
def test_measured_regret_never_exceeds_the_bound(graph):
    learner, tightest = MTFTRL(free_last=True), 0.0
    for stream_of in STREAMS.values():
        for seed in range(4):
            stream = stream_of(graph, seed)
            counts = np.bincount(stream.agents, minlength=graph.size)
            lipschitz = stream.lipschitz(radius=1.0) * (1 + 1e-9)
            net = mtcool.pairwise(graph, 1, learner=learner, lipschitz=lipschitz)
            bound = theory.pairwise(graph, stream.comparator, counts, lipschitz=lipschitz).value
            regret = mtcool.simulate(net, stream).regret[-1]
            assert regret <= bound
            tightest = max(tightest, regret / bound)
    assert tightest > 0.05


def worst_for_ftrl(rounds):
    """Gradients of one agent: back and forth, which costs sqrt(T), then one way: sqrt(T) / 2."""
    last = 2 * round(math.sqrt(rounds))
    gradients = np.where(np.arange(rounds) % 2 == 0, 1.0, -1.0)
    gradients[-last:] = 1.0
    return gradients


def test_half_of_the_bound_would_not_hold_where_agents_learn_alone():
    gradients = worst_for_ftrl(2_000)
    stream = mtcool.Stream(
        np.zeros(2_000, int), streams.linear(gradients.reshape(-1, 1)), comparator=[[-1.0]]
    )
    graph = graphs.edgeless(1)
    regret = mtcool.simulate(mtcool.pairwise(graph, 1), stream).regret[-1]
    bound = theory.pairwise(graph, [[-1.0]], [2_000]).value
    assert bound / 2 < regret <= bound


def test_the_mean_regret_with_stochastic_rates_is_below_its_bound():
    graph, rounds = graphs.ring(6), 600
    q = np.array([0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
    tasks = np.array([[1.0], [0.8], [0.9], [0.7], [1.0], [0.9]])
    regrets = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        agents = streams.stochastic(rounds, q, rng)
        gradients = np.where(rng.random((rounds, 1)) < 0.6, -1.0, 1.0)
        stream = mtcool.Stream(agents, streams.linear(gradients), comparator=tasks)
        net = mtcool.pairwise(graph, 1, rates="stochastic", q=q)
        regrets.append(mtcool.simulate(net, stream).regret[-1])
    bound = theory.pairwise_stochastic(graph, tasks, q, rounds)
    assert np.mean(regrets) <= bound.value
    assert bound.in_expectation


def test_the_record_of_the_algorithm_knows_its_bounds():
    graph, tasks, counts = graphs.ring(5), np.full((5, 1), 0.5), np.full(5, 40)
    q = np.full(5, 0.2)
    for rates, want in (
        ("adversarial", theory.pairwise(graph, tasks, counts)),
        ("stochastic", theory.pairwise_stochastic(graph, tasks, q, 200)),
    ):
        given = q if rates == "stochastic" else None
        settings = mtcool.pairwise(graph, 1, rates=rates, q=given).settings
        asked = mtcool.peers.algorithm.Question(graph, settings, "uniform", given, tasks, counts)
        assert settings.algorithm.bound(asked) == want
