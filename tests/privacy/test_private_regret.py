"""What privacy costs on linear losses, against the theorem and its lemmas."""

import math

import numpy as np
import pytest

import mtcool
from mtcool import graphs, streams, theory
from mtcool.learners import MTFTRL
from mtcool.privacy import BinaryTree, SmoothTree

LEARNER = MTFTRL(free_last=True)  # the theorem as corrected


def test_the_bound_by_hand():
    """Two agents, T = 8, equal tasks: K = 4, eps' = 1/24, sqrt(2 K) = sqrt(8)."""
    graph, counts = graphs.complete(2), [4, 4]
    bound = theory.private(graph, np.zeros((2, 3)), counts, 1.0)
    unit = math.log(8) * 24 * math.sqrt(8)
    # each clique: 2 N_j b sqrt(2 K), and 2 sqrt(2 N_j) sqrt(2 d) sqrt(d) b sqrt(2 K)
    assert bound.parts["expert_noise"] == pytest.approx(2 * 2 * 2 * unit)
    assert bound.parts["gradient_noise"] == pytest.approx(
        2 * 2 * math.sqrt(4) * math.sqrt(6) * math.sqrt(3) * unit
    )
    published = theory.private(graph, np.zeros((2, 3)), counts, 1.0, constants="paper")
    square = math.log(8) ** 2 * 24
    assert published.parts["expert_noise"] == pytest.approx(2 * 2 * 4 * square)
    assert published.parts["gradient_noise"] == pytest.approx(2 * 4 * 3 * math.sqrt(4) * square)


# Graphs, each with an epsilon at which the bound says something about 20 000 rounds.
INSTANCES = {
    "complete": (graphs.complete(4), 60.0),
    "ring": (graphs.ring(6), 60.0),
    "star": (graphs.star(5), 100.0),
}
every_instance = pytest.mark.parametrize(("graph", "epsilon"), INSTANCES.values(), ids=INSTANCES)


def means(graph, epsilon, *, noise=1.0, sign=1.0, seeds=5):
    """Regret with the published noise, its bound, and the regret of learning nothing.

    The tasks are -1 or 1. `noise` multiplies the noise, and `sign` the gradients that the agents
    learn from: both are 1 in right code.
    """
    rows = []
    for seed in range(seeds):
        stream = streams.linear_stream(graph, 1, 20_000, seed, drift=4.0, smoothness=10.0)
        gradients, tasks = stream.losses.rows, stream.comparator
        told = mtcool.Stream(stream.agents, streams.linear(sign * gradients), labels=stream.labels)
        privacy = mtcool.Privacy(epsilon / noise, 20_000, calibration="paper")
        net = mtcool.dpmt_co2ol(graph, 1, privacy, learner=LEARNER, seed=seed)
        paid = sign * mtcool.simulate(net, told, times=[20_000]).loss[-1]
        best = float((gradients * tasks[stream.agents]).sum())
        counts = np.bincount(stream.agents, minlength=graph.size)
        rows.append((paid - best, theory.private(graph, tasks, counts, epsilon).value, -best))
    return np.mean(rows, axis=0)


@every_instance
def test_measured_regret_is_below_the_bound(graph, epsilon):
    """The bound is in expectation, and far below the regret of an agent that predicts zero."""
    regret, bound, nothing = means(graph, epsilon)
    assert regret <= bound
    assert bound <= 0.55 * nothing


@every_instance
def test_composing_over_neighbours_and_experts_twice_breaks_the_bound(graph, epsilon):
    twice = 6.0 * float(graph.neighbourhood_sizes.max()) ** 2
    regret, bound, _ = means(graph, epsilon, noise=twice)
    assert regret > 1.2 * bound


@every_instance
def test_learning_from_gradients_of_the_wrong_sign_breaks_the_bound(graph, epsilon):
    regret, bound, _ = means(graph, epsilon, sign=-1.0, seeds=1)
    assert regret > 3.0 * bound


@pytest.mark.parametrize("tree", [BinaryTree(), SmoothTree()])
def test_a_sum_with_tree_noise_costs_what_one_fixed_noise_costs(tree):
    """Lemma `thm:mainftrlthm2`: on linear losses only the law of the noise at each time matters.

    Many agents without neighbours are as many runs with the same gradients.
    """
    runs, horizon, epsilon = 40_000, 15, 8.0
    graph = mtcool.Graph(np.arange(runs + 1), np.arange(runs, dtype=np.int32))
    net = mtcool.dpmt_co2ol(graph, 1, mtcool.Privacy(epsilon, horizon, aggregator=tree), seed=1)
    gradients = np.random.default_rng(0).choice([-1.0, 1.0], horizon, p=[0.7, 0.3])
    paid = np.zeros(runs)
    for g in gradients:
        losses = streams.linear(np.full((runs, 1), g))
        paid += mtcool.simulate(
            net, mtcool.Stream(np.arange(runs), losses), times=[runs]
        ).agent_loss
    scale = net.sanitiser.calibration.gradient[0]
    terms = int(tree.variance(np.array([0]), horizon, "laplace")[0])
    noise = np.random.default_rng(2).laplace(0.0, scale, (terms, runs)).sum(axis=0)
    fixed, total = np.zeros(runs), noise.copy()
    for t, g in enumerate(gradients):
        fixed += g * np.clip(-total / math.sqrt(1 + t), -1.0, 1.0)
        total += g
    error = math.sqrt((paid.var() + fixed.var()) / runs)
    assert abs(paid.mean() - fixed.mean()) <= 4.5 * error
