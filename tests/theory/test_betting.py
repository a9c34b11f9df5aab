"""KT with stochastic rates (remark after `th:basebound`): reductions, constants, and real runs."""

import itertools
import math

import numpy as np
import pytest

import mtcool
from mtcool import graphs, streams, theory
from mtcool.learners import MTFTRL, MTFTRLKT
from mtcool.theory.betting import _mean_gain, gain

SKEWED = np.array([0.5, 0.2, 0.15, 0.1, 0.05])


@pytest.mark.parametrize("size", [1, 2, 5])
def test_on_a_clique_with_equal_probabilities_it_is_the_adversarial_bound(size):
    """Every clique hears every round, and all weights are equal."""
    tasks = np.linspace(-1.5, 2.0, size).reshape(-1, 1)
    bound = theory.kt_stochastic(graphs.complete(size), tasks, np.full(size, 1 / size), 60 * size)
    want = theory.kt(graphs.complete(size), tasks, np.full(size, 60))
    for part in ("magnitude", "direction"):
        assert bound.parts[part] == pytest.approx(want.parts[part])


def test_the_direction_is_never_worse_than_with_adversarial_rates():
    """sum_i (q_i / Q) w^2 is at most max w^2; where weights differ it is smaller."""
    graph = graphs.star(5)
    tasks, counts = np.full((5, 1), 0.7), 10_000 * SKEWED
    for weights in ("uniform", "proportional", "delegation"):
        known = theory.kt_stochastic(graph, tasks, SKEWED, 10_000, weights=weights)
        q = SKEWED if weights == "proportional" else None
        any_order = theory.kt(graph, tasks, counts, weights=weights, q=q)
        assert known.parts["direction"] <= any_order.parts["direction"] * (1 + 1e-12)
    skewed = theory.kt_stochastic(graph, tasks, SKEWED, 10_000, weights="proportional")
    assert (
        skewed.parts["direction"]
        < 0.95
        * (theory.kt(graph, tasks, counts, weights="proportional", q=SKEWED).parts["direction"])
    )


def test_the_direction_is_the_mean_of_what_its_proof_sums_up():
    """Over activations, c sqrt(T) / (2 sqrt N) + sqrt(N) sum w^2 / sqrt(t) / (c (N + 1))."""
    graph, rounds = graphs.star(5), 2_000
    weights = graphs.proportional_weights(graph, SKEWED).toarray()
    tasks = np.full((5, 1), 0.7)
    rng, sums = np.random.default_rng(0), []
    for _ in range(100):
        agents, total = rng.choice(5, rounds, p=SKEWED), 0.0
        for j in range(5):
            rows = np.flatnonzero(weights[:, j] > 0)
            n, heard = len(rows), agents[np.isin(agents, rows)]
            rate = math.sqrt((SKEWED[rows] * weights[rows, j] ** 2).sum() / SKEWED[rows].sum())
            squares = (weights[heard, j] ** 2 / np.sqrt(np.arange(1, len(heard) + 1))).sum()
            direction = rate * math.sqrt(len(heard) / n) / 2
            direction += math.sqrt(n) * squares / (rate * (n + 1))
            total += math.sqrt(n * 0.49) * direction
        sums.append(total)
    bound = theory.kt_stochastic(graph, tasks, SKEWED, rounds).parts["direction"]
    assert 0.95 * bound <= np.mean(sums) <= bound


def test_the_magnitude_is_the_mean_over_the_number_of_updates():
    """Not much more, and never less, than the mean of 1 + gain by sampling."""
    counts = np.random.default_rng(1).binomial(500, 0.3, 400)
    for v in (0.0, 0.4, 3.0):
        mean = np.mean([1.0 + gain(v, int(n)) for n in counts])
        assert mean * 0.97 <= _mean_gain(v, 500, 0.3) <= mean * 1.06
    assert _mean_gain(2.0, 500, 1.0) == pytest.approx(1.0 + gain(2.0, 500))
    assert _mean_gain(2.0, 500, 0.0) == 0.0


def test_the_gain_grows_with_the_number_of_rounds():
    """The mean over the binomial law rests on it."""
    for v in (0.3, 2.0, 20.0):
        gains = [gain(v, n) for n in range(60)]
        assert all(b >= a * (1 - 2e-6) for a, b in itertools.pairwise(gains))


def pushed(rng, graph, tasks, q, rounds, share):
    """Gradients of length one, a `share` of them toward the tasks."""
    agents = streams.stochastic(rounds, q, rng)
    toward = np.where(rng.random((rounds, 1)) < share, -1.0, 1.0)
    return mtcool.Stream(agents, streams.linear(toward * np.sign(tasks[agents])), comparator=tasks)


@pytest.mark.parametrize("weights", ["uniform", "proportional"])
@pytest.mark.parametrize("share", [0.5, 0.55, 1.0])
def test_the_mean_regret_is_below_the_bound(weights, share):
    graph, rounds = graphs.star(5), 500
    tasks = np.array([[2.0], [1.5], [2.0], [1.0], [2.5]])
    regrets = []
    for seed in range(20):
        stream = pushed(np.random.default_rng(seed), graph, tasks, SKEWED, rounds, share)
        net = mtcool.mt_co2ol(
            graph, 1, learner=MTFTRLKT(), weights=weights, rates="stochastic", q=SKEWED
        )
        regrets.append(mtcool.simulate(net, stream).regret[-1])
    bound = theory.kt_stochastic(graph, tasks, SKEWED, rounds, weights=weights)
    assert np.mean(regrets) <= bound.value
    assert bound.in_expectation
    if share == 0.55:  # a drift that a gambler hardly tells from chance
        assert np.mean(regrets) > 0.15 * bound.value


def test_the_record_of_the_algorithm_knows_the_bound():
    graph, tasks, counts = graphs.star(5), np.full((5, 1), 0.7), np.full(5, 20)
    for learner, want in (
        (MTFTRLKT(), theory.kt_stochastic(graph, tasks, SKEWED, 100)),
        (MTFTRL(), theory.stochastic(graph, tasks, SKEWED, 100)),
    ):
        net = mtcool.mt_co2ol(
            graph, 1, learner=learner, weights="proportional", rates="stochastic", q=SKEWED
        )
        question = mtcool.peers.algorithm.Question(
            graph, net.settings, "proportional", SKEWED, tasks, counts
        )
        assert net.settings.algorithm.bound(question) == want
