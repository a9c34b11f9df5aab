"""One expert in each clique: with no noise, with the noise of sums, with noise on each gradient."""

import math

import cvxpy as cp
import numpy as np
import pytest

import mtcool
from mtcool import graphs, streams, theory
from mtcool.algorithms.published_noise import published_noise
from mtcool.learners import MTFTRL
from mtcool.peers.algorithm import Question
from mtcool.privacy import BLT, BinaryTree, Doubling, NoNoise, PerGradient, SmoothTree


def tasks_on(graph, seed, dim=2, scale=0.3):
    """Random tasks near a common point."""
    rows = np.random.default_rng(seed).standard_normal((graph.size, dim))
    return scale * rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))


def naive(graph, tasks, counts, noise, xi):
    """Clique by clique with uniform weights: the regret, and the cost of noise in the sums."""
    weights, dim = graphs.uniform_weights(graph).toarray(), tasks.shape[1]
    regret = cost = 0.0
    for j in range(graph.size):
        rows = np.flatnonzero(weights[:, j])
        n, w, points = len(rows), weights[rows, j], tasks[rows]
        matrix = (n + 1) * np.eye(n) - 1
        p = math.sqrt(1 + xi * (n - 1))
        norm = np.trace(points.T @ matrix @ points)
        pace = w.max() * math.sqrt(counts[rows].sum())
        regret += pace * (norm / (2 * n * p) + 2 * n * p / (n + 1))
        spread = (1 + (n - 1) * math.sqrt(xi / n)) * np.linalg.norm(w * noise[rows])
        cost += math.sqrt(dim) * min((w * noise[rows]).sum(), spread)
    return regret, cost


@pytest.mark.parametrize("seed", range(4))
def test_the_bounds_are_what_they_say(seed):
    graph, rng = graphs.erdos_renyi(8, 0.5, seed=seed), np.random.default_rng(seed)
    tasks, counts, noise = tasks_on(graph, seed), rng.integers(1, 90, 8), 9 * rng.random(8)
    regret, cost = naive(graph, tasks, counts, noise, 0.25)
    plain = theory.known_variances(graph, tasks, counts, variance=0.25)
    noisy = theory.private_known_variances(graph, tasks, counts, noise, variance=0.25)
    assert plain.value == noisy.parts["regret"] == pytest.approx(regret)
    assert noisy.parts["gradient_noise"] == pytest.approx(cost)
    assert plain.covers_tasks
    assert (plain.in_expectation, noisy.in_expectation) == (False, True)


def test_without_edges_it_is_learning_alone_with_the_better_constant():
    counts = np.array([4, 9, 100])
    bound = theory.known_variances(graphs.edgeless(3), [[1.0], [-1.0], [1.0]], counts)
    assert bound.value == pytest.approx(0.75 * theory.independent(counts).value)


def test_knowing_the_variance_is_better_than_looking_for_it():
    for seed in range(5):
        graph = graphs.erdos_renyi(10, 0.5, seed=seed)
        tasks, counts = tasks_on(graph, seed, scale=1.0), np.full(10, 50)
        known = theory.known_variances(graph, tasks, counts).value
        assert known <= theory.any_graph(graph, tasks, counts).value


def test_tasks_that_vary_more_than_the_expert_are_not_covered():
    graph, tasks, counts = graphs.complete(2), [[1.0], [-1.0]], [5, 5]
    for bound in (
        theory.known_variances(graph, tasks, counts, variance=1.9),
        theory.private_known_variances(graph, tasks, counts, 1.0, variance=1.9),
        theory.per_gradient_noise(graph, tasks, counts, 1.0, variance=1.9),
        theory.any_graph(graph, tasks, counts),
        theory.pairwise(graph, tasks, counts),
    ):
        assert not bound.covers_tasks
    assert theory.known_variances(graph, tasks, counts).covers_tasks


def test_bounds_scale_with_radius_and_lipschitz():
    """Noise is in the units of the gradients."""
    graph, tasks, counts = graphs.ring(6), tasks_on(graphs.ring(6), 1), np.full(6, 20)
    for bound in (theory.private_known_variances, theory.per_gradient_noise):
        plain = bound(graph, tasks, counts, 3.0, variance=0.3).value
        scaled = bound(graph, 5 * tasks, counts, 6.0, variance=0.3, radius=5, lipschitz=2).value
        assert scaled == pytest.approx(10 * plain)


@pytest.mark.parametrize("xi", [0.01, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("size", [2, 5])
def test_the_cost_of_noise_is_its_mean_maximum_and_half_of_it_would_not_be(xi, size):
    """E max <Z, X> over rows in the ball with variance at most xi, by a convex solver."""
    rng, weight = np.random.default_rng(size), 1.0 / size
    rows = cp.Variable(size)
    noise = cp.Parameter(size)
    spread = cp.sum_squares(rows - cp.sum(rows) / size) <= xi * (size - 1)
    problem = cp.Problem(cp.Maximize(noise @ rows), [cp.abs(rows) <= 1, spread])
    pulls = []
    for _ in range(150):
        noise.value = weight * rng.standard_normal(size)
        pulls.append(problem.solve())
    tasks, counts = np.full((size, 1), 0.5), np.ones(size)
    graph = graphs.complete(size)
    bound = theory.private_known_variances(graph, tasks, counts, 1.0, variance=xi)
    each = bound.parts["gradient_noise"] / size
    error = np.std(pulls) / math.sqrt(len(pulls))
    assert np.mean(pulls) - 3 * error <= each
    assert np.mean(pulls) - 3 * error > each / 2


@pytest.mark.parametrize("dim", [1, 3])
def test_the_noise_of_the_tree_is_that_of_the_network(dim):
    learner, graph = MTFTRL(experts=(0.1,)), graphs.star(4)
    level = mtcool.Privacy(0.7, 1000)
    noise = published_noise(graph, dim, level, learner=learner, lipschitz=3.0)
    want = theory.tree_noise(0.7, dim, 1000, lipschitz=3.0)
    assert noise.gradients == pytest.approx(np.full(4, want), rel=1e-9)


def question(net, stream):
    counts = np.bincount(stream.agents, minlength=net.graph.size)
    return Question(net.graph, net.settings, "uniform", None, stream.comparator, counts)


def together(agents, rounds, gradients):
    """All agents take turns; in each turn all have the same gradient, and the task -1."""
    active = np.tile(np.arange(agents), rounds)
    rows = np.repeat(gradients, agents).reshape(-1, 1)
    return mtcool.Stream(active, streams.linear(rows), comparator=np.full((agents, 1), -1.0))


def test_half_of_the_bound_without_noise_would_not_hold():
    """Back and forth, which costs sqrt(T), then one way, which costs sqrt(T) / 2."""
    gradients = np.where(np.arange(4_000) % 2 == 0, 1.0, -1.0)
    gradients[-126:] = 1.0
    graph = graphs.complete(2)
    turns = np.arange(4_000) % 2
    stream = mtcool.Stream(
        turns, streams.linear(gradients.reshape(-1, 1)), comparator=np.full((2, 1), -1.0)
    )
    net = mtcool.mt_co2ol(graph, 1, learner=MTFTRL(experts=(0.0,)))
    regret = mtcool.simulate(net, stream).regret[-1]
    bound = net.settings.algorithm.bound(question(net, stream))
    assert bound.statement == "thm:any-G, known variances"
    assert bound.value / 2 < regret <= bound.value


@pytest.mark.parametrize(("tree", "epsilon"), [(BinaryTree(), 0.3), (SmoothTree(), 0.1)])
def test_the_mean_private_regret_is_below_the_bound_and_not_below_half_of_it(tree, epsilon):
    """Gradients that all point one way: FTRL follows its noise until they outweigh it."""
    graph, rounds = graphs.cliques([4] * 50), 600
    stream = together(graph.size, rounds, np.ones(rounds))
    level = mtcool.Privacy(epsilon, rounds, aggregator=tree)
    net = mtcool.dpmt_co2ol(graph, 1, level, learner=MTFTRL(experts=(0.0,)), seed=3)
    bound = net.settings.algorithm.bound(question(net, stream))
    regret = mtcool.simulate(net, stream, times=[len(stream)]).regret[-1]
    assert bound.in_expectation
    assert bound.parts["gradient_noise"] > bound.parts["regret"]
    assert bound.value / 2 < regret <= bound.value


def test_the_record_of_the_private_algorithm_knows_which_noise_has_a_bound():
    graph, tasks, counts = graphs.ring(6), np.zeros((6, 1)), np.full(6, 50)

    def bound(horizon=100, learner=None, **settings):
        level = mtcool.Privacy(60.0, horizon, **settings)
        net = mtcool.dpmt_co2ol(graph, 1, level, learner=learner)
        asked = Question(graph, net.settings, "uniform", None, tasks, counts)
        return net.settings.algorithm.bound(asked)

    assert bound(calibration="paper") == theory.private(graph, tasks, counts, 60.0)
    assert bound(calibration="paper", horizon=301) is None  # more noise than the theorem's
    assert bound() is None  # several experts, tight noise
    one = MTFTRL(experts=(0.1,))
    tree = bound(learner=one)
    noise = theory.tree_noise(60.0, 1, 100)
    want = theory.private_known_variances(graph, tasks, counts, noise, variance=0.1)
    assert tree.value == pytest.approx(want.value)
    assert bound(learner=one, aggregator=BinaryTree(completed=False)) is None
    assert bound(learner=one, aggregator=Doubling()) is None


MECHANISMS = {
    "BLT": (BLT(), {"delta": 1e-5}),
    "per gradient": (PerGradient(), {}),
    "no noise": (NoNoise(), {}),
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("drift", [0.0, 1.0])
def test_the_mean_regret_of_every_mechanism_is_below_its_bound(name, drift):
    aggregator, budget = MECHANISMS[name]
    graph, rows = graphs.cliques([3] * 20), []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        gradients = rng.choice([-1.0, 1.0], 200, p=[0.5 - 0.4 * drift, 0.5 + 0.4 * drift])
        stream = together(graph.size, 200, gradients)
        net = mtcool.dpmt_co2ol(
            graph,
            1,
            mtcool.Privacy(2.0, 200, aggregator=aggregator, **budget),
            learner=MTFTRL(experts=(0.01,)),
            seed=seed,
        )
        bound = net.settings.algorithm.bound(question(net, stream)).value
        rows.append((mtcool.simulate(net, stream, times=[len(stream)]).regret[-1], bound))
    regret, bound = np.mean(rows, axis=0)
    assert regret <= bound


def test_noise_on_every_gradient_keeps_its_bound_on_curved_losses():
    graph, rounds = graphs.cliques([3] * 10), 100
    tasks = np.full((30, 1), 0.8)
    rows = []
    for seed in range(4):
        stream = streams.quadratic_stream(graph, tasks, 30 * rounds, seed)
        lipschitz = stream.lipschitz(1.0) * (1 + 1e-9)
        counts = np.bincount(stream.agents, minlength=30)
        net = mtcool.dpmt_co2ol(
            graph,
            1,
            mtcool.Privacy(3.0, int(counts.max()), aggregator=PerGradient()),
            learner=MTFTRL(experts=(0.0,)),
            lipschitz=lipschitz,
            seed=seed,
        )
        bound = net.settings.algorithm.bound(question(net, stream)).value
        rows.append((mtcool.simulate(net, stream, times=[len(stream)]).regret[-1], bound))
    regret, bound = np.mean(rows, axis=0)
    assert 0.0 < regret <= bound


def test_noise_on_every_gradient_by_hand():
    """Two agents with weights 1/2, T_j = 50, s = 3: two cliques, each 8/3 (9/4 sqrt(50) + ...)."""
    bound = theory.per_gradient_noise(graphs.complete(2), [[1.0]] * 2, [25, 25], 3.0)
    each = 8 / 3 * (9 / 4 * math.sqrt(50) + (6 + 9) / 4 * math.sqrt(2))
    assert bound.parts["gradient_noise"] == pytest.approx(2 * each)
    assert bound.parts["before_activation"] == pytest.approx(2 * 2 * 3.0)
    in_space = theory.per_gradient_noise(graphs.complete(2), [[1.0, 0.0]] * 2, [25, 25], 3.0)
    each = 8 / 3 * (18 / 4 * math.sqrt(50) + (6 * math.sqrt(2) + 18) / 4 * math.sqrt(2))
    assert in_space.parts["gradient_noise"] == pytest.approx(2 * each)


def test_noise_on_every_gradient_is_the_mean_of_what_its_proof_sums_up():
    """eta / 2 times the squared dual norm of the noise, over the rounds of a clique of three."""
    size, rounds, rng = 3, 100_000, np.random.default_rng(0)
    weight, scale, xi = 1 / size, 0.7, 0.2
    step = size * math.sqrt(1 + xi * (size - 1)) / (weight * np.sqrt(np.arange(1, rounds + 1)))
    inverse = np.linalg.inv((size + 1) * np.eye(size) - 1)[0, 0]
    noise = rng.laplace(0.0, scale, rounds)
    summed = size * (step / 2 * weight**2 * inverse * noise**2).sum()  # three cliques
    graph, tasks, counts = graphs.complete(3), np.full((3, 1), 0.5), [33_333, 33_333, 33_334]
    deviation = math.sqrt(2.0) * scale
    bound = theory.per_gradient_noise(graph, tasks, counts, deviation, variance=xi)
    assert 0.95 < summed / bound.parts["gradient_noise"] <= 1.02


def test_the_price_of_noise_on_every_gradient_grows_with_the_rounds_and_that_of_a_tree_hardly():
    graph, tasks = graphs.complete(4), np.ones((4, 1))

    def price(rounds, mechanism):
        counts = np.full(4, rounds)
        if mechanism == "tree":
            noise = theory.tree_noise(1.0, 1, rounds)
            return theory.private_known_variances(graph, tasks, counts, noise)
        return theory.per_gradient_noise(graph, tasks, counts, math.sqrt(8.0))

    short, long = (price(rounds, "each").parts["gradient_noise"] for rounds in (10**4, 10**8))
    assert long > 50 * short
    short, long = (price(rounds, "tree").parts["gradient_noise"] for rounds in (10**4, 10**8))
    assert long < 3 * short


def test_bad_noise_is_refused_by_name():
    graph, tasks, counts = graphs.ring(3), [[0.0]] * 3, [1] * 3
    for noise, words in (([1.0, 2.0], "noise must be one number or"), (-1.0, "noise must not be")):
        with pytest.raises(ValueError, match=words):
            theory.private_known_variances(graph, tasks, counts, noise)
    with pytest.raises(ValueError, match="variance must"):
        theory.known_variances(graph, tasks, counts, variance=-0.1)
