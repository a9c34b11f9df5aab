"""What privacy costs on linear losses, against the theorem and its lemmas."""

import math

import numpy as np
import pytest

import mtcool
from mtcool import graphs, streams, theory
from mtcool.privacy import BinaryTree, SmoothTree


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


@pytest.mark.parametrize("graph", [graphs.complete(4), graphs.ring(6), graphs.star(5)])
def test_measured_regret_is_below_the_bound(graph):
    """Mean of ten runs with the published noise; the bound is in expectation."""
    regrets, bounds = [], []
    for seed in range(10):
        stream = streams.linear_stream(graph, 2, 1000, seed, drift=0.3, smoothness=10.0)
        net = mtcool.dpmt_co2ol(graph, 2, 50.0, 1000, calibration="paper", seed=seed)
        counts = np.bincount(stream.agents, minlength=graph.size)
        regrets.append(mtcool.simulate(net, stream).regret[-1])
        bounds.append(theory.private(graph, stream.comparator, counts, 50.0).value)
    assert np.mean(regrets) <= np.mean(bounds)


@pytest.mark.parametrize("tree", [BinaryTree(), SmoothTree()])
def test_a_sum_with_tree_noise_costs_what_one_fixed_noise_costs(tree):
    """Lemma `thm:mainftrlthm2`: on linear losses only the law of the noise at each time matters.

    Many agents without neighbours are as many runs with the same gradients.
    """
    runs, horizon, epsilon = 40_000, 15, 8.0
    graph = mtcool.Graph(np.arange(runs + 1), np.arange(runs, dtype=np.int32))
    net = mtcool.dpmt_co2ol(graph, 1, epsilon, horizon, aggregator=tree, seed=1)
    gradients = np.random.default_rng(0).choice([-1.0, 1.0], horizon, p=[0.7, 0.3])
    paid = np.zeros(runs)
    for g in gradients:
        losses = streams.LinearLosses(np.full((runs, 1), g))
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
