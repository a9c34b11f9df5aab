"""Every theorem as code: closed forms against each other, and measured regret below the ceiling."""

import functools
import math

import networkx as nx
import numpy as np
import pytest
from scipy.special import gammaln

import mtcool
from mtcool import graphs, streams, theory
from mtcool.learners import FTRL, MTFTRL, MTFTRLKT
from mtcool.theory.betting import gain


def tasks_on(graph, dim, seed, scale=0.5):
    """Random tasks in the ball."""
    rows = np.random.default_rng(seed).standard_normal((graph.size, dim))
    return scale * rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))


def naive_any_graph(graph, tasks, counts, weights):
    """The first claim of the theorem, clique by clique, from the definitions."""
    total = 0.0
    for j in range(graph.size):
        rows = [i for i in range(graph.size) if weights[i, j] > 0]
        if not rows:
            continue
        n, points = len(rows), tasks[rows]
        variance = ((points - points.mean(axis=0)) ** 2).sum() / max(n - 1, 1)
        factor = math.sqrt(1 + variance * (n - 1)) + math.log(n)
        total += weights[rows, j].max() * factor * math.sqrt(sum(counts[i] for i in rows))
    return 6 * total


@pytest.mark.parametrize("weights", ["uniform", "delegation"])
@pytest.mark.parametrize("seed", range(5))
def test_the_first_claim_is_what_it_says(weights, seed):
    graph = graphs.erdos_renyi(9, 0.4, seed=seed)
    tasks, counts = tasks_on(graph, 3, seed), np.random.default_rng(seed).integers(0, 50, 9)
    made = {"uniform": graphs.uniform_weights, "delegation": graphs.delegation_weights}[weights]
    want = naive_any_graph(graph, tasks, counts, made(graph).toarray())
    assert theory.any_graph(graph, tasks, counts, weights=weights).value == pytest.approx(want)


@pytest.mark.parametrize("seed", range(5))
def test_each_claim_follows_from_the_first(seed):
    """Whatever the activations, the later claims are weaker than the first."""
    graph = graphs.erdos_renyi(12, 0.4, seed=seed)
    tasks = tasks_on(graph, 2, seed)
    for counts in (np.full(12, 100), np.eye(12)[seed] * 1200):
        first = theory.any_graph(graph, tasks, counts).value
        assert first <= theory.uniform_weights(graph, tasks, 1200).value * (1 + 1e-12)
        third = theory.any_graph(graph, tasks, counts, weights="delegation").value
        assert third <= theory.delegation(graph, tasks, 1200).value * (1 + 1e-12)


def test_on_a_clique_all_statements_agree():
    graph, tasks = graphs.complete(8), tasks_on(graphs.complete(8), 2, 0)
    variance = streams.local_variances(graph, tasks).max()
    want = theory.clique(8, variance, 800).value
    for bound in (
        theory.any_graph(graph, tasks, np.full(8, 100)),
        theory.uniform_weights(graph, tasks, 800),
        theory.regular_graph(graph, tasks, 800),
        theory.union_of_cliques(graph, tasks, 800),
    ):
        assert bound.value == pytest.approx(want)


def test_the_corollary_is_the_theorem_on_its_graphs():
    ring = graphs.ring(9)
    tasks = np.zeros((9, 1))
    assert theory.regular_graph(ring, tasks, 900).value == pytest.approx(
        theory.any_graph(ring, tasks, np.full(9, 100)).value
    )
    union = graphs.cliques([3, 5])
    zero = np.zeros((8, 1))
    proportional = np.array([150] * 3 + [90] * 5)  # each clique as often: Cauchy-Schwarz is tight
    corollary = theory.union_of_cliques(union, zero, 900)
    first = theory.any_graph(union, zero, proportional)
    assert first.parts["similarity"] == pytest.approx(corollary.parts["similarity"])
    assert first.value <= corollary.value


def test_the_stochastic_bound_of_a_clique_is_known():
    """w_ij = q_j, so sum_j sqrt(sum_i q_i q_j^2) = 1."""
    q = np.array([0.5, 0.2, 0.2, 0.1])
    bound = theory.stochastic(graphs.complete(4), np.zeros((4, 1)), q, 100)
    assert bound.value == pytest.approx(6 * math.sqrt(100 * math.log(4)))


def naive_adaptive(graph, tasks, counts, weights):
    """The theorem on adaptive rates, clique by clique, from the definitions."""
    total = 0.0
    for j in range(graph.size):
        rows = [i for i in range(graph.size) if weights[i, j] > 0]
        received = sum(counts[i] * weights[i, j] ** 2 for i in rows)
        if not rows or received == 0.0:
            continue
        n, points = len(rows), tasks[rows]
        a = (1 + n) * np.eye(n) - 1.0
        variance = ((points - points.mean(axis=0)) ** 2).sum() / max(n - 1, 1)
        xi = min(k / n for k in range(1, n + 1) if k / n >= variance - 1e-12) if n > 1 else 0.0
        p = math.sqrt(1 + xi * (n - 1))
        end, steps = math.sqrt(max(weights[:, j]) ** 2 + received), math.sqrt(received)
        total += np.trace(points.T @ a @ points) / (2 * n * p) * end + 2 * n * p / (n + 1) * steps
        total += math.sqrt(math.log(n)) * (end + steps)
    return total


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_of_adaptive_rates_is_what_it_says(seed):
    graph = graphs.erdos_renyi(9, 0.4, seed=seed)
    tasks, counts = tasks_on(graph, 3, seed), np.random.default_rng(seed).integers(0, 50, 9)
    want = naive_adaptive(graph, tasks, counts, graphs.uniform_weights(graph).toarray())
    assert theory.adaptive(graph, tasks, counts).value == pytest.approx(want)


@pytest.mark.parametrize("seed", range(5))
def test_adaptive_rates_keep_both_theorems_without_knowing_q(seed):
    """At most the adversarial bound, and in the mean at most the stochastic one, but for b."""
    graph, rng = graphs.erdos_renyi(12, 0.4, seed=seed), np.random.default_rng(seed)
    tasks, q = tasks_on(graph, 2, seed), rng.dirichlet(np.ones(12))
    for counts in (rng.multinomial(2000, q), np.eye(12, dtype=int)[seed] * 2000):
        given = theory.adaptive(graph, tasks, counts)
        assert given.value <= theory.any_graph(graph, tasks, counts).value
    mean = theory.adaptive_stochastic(graph, tasks, q, 20_000)
    known = theory.stochastic(graph, tasks, q, 20_000, weights="uniform")
    assert mean.value <= known.value
    runs = [theory.adaptive(graph, tasks, rng.multinomial(500, q)).value for _ in range(200)]
    chance = 4.0 * np.std(runs) / math.sqrt(len(runs))
    assert np.mean(runs) <= theory.adaptive_stochastic(graph, tasks, q, 500).value + chance


@pytest.mark.parametrize("seed", range(4))
def test_the_independence_number_bounds_the_stochastic_theorem(seed):
    graph = graphs.erdos_renyi(12, 0.3, seed=seed)
    tasks = np.zeros((12, 1))
    q = np.random.default_rng(seed).dirichlet(np.ones(12))
    first = theory.stochastic(graph, tasks, q, 100).value
    assert first <= theory.stochastic_independence(graph, tasks, 100).value


def test_bounds_scale_with_radius_and_lipschitz():
    graph, tasks, counts = graphs.ring(6), tasks_on(graphs.ring(6), 2, 1), np.full(6, 20)
    for bound in (theory.any_graph, theory.kt):
        plain = bound(graph, tasks, counts).value
        assert bound(graph, 3 * tasks, counts, radius=3, lipschitz=2).value == pytest.approx(
            6 * plain
        )


def test_parts_add_up_and_assumptions_are_said():
    graph, tasks, counts = graphs.ring(6), np.zeros((6, 1)), np.full(6, 20)
    for bound in (
        theory.independent(counts),
        theory.any_graph(graph, tasks, counts),
        theory.kt(graph, tasks, counts),
        theory.unknown_q(graph, tasks, np.full(6, 1 / 6), 120),
        theory.private(graph, tasks, counts, 1.0),
        theory.any_algorithm(graph, 0.1, 120),
    ):
        assert bound.value == pytest.approx(sum(bound.parts.values()))
        assert float(bound) == bound.value > 0
        assert bound.assumptions
        assert ":" in bound.statement


def test_the_price_of_privacy_falls_with_epsilon_and_rises_with_the_dimension():
    graph, counts = graphs.ring(6), np.full(6, 200)

    def price(epsilon, dim, **options):
        bound = theory.private(graph, np.zeros((6, dim)), counts, epsilon, **options)
        return bound.parts["expert_noise"] + bound.parts["gradient_noise"]

    for constants in ("paper", "corrected"):
        assert price(2.0, 3, constants=constants) == pytest.approx(
            price(1.0, 3, constants=constants) / 2
        )
        assert price(1.0, 5, constants=constants) > price(1.0, 3, constants=constants)


def hedge(graph, dim, lipschitz=1.0, **options):
    learner = MTFTRL(free_last=True)
    return mtcool.mt_co2ol(graph, dim, learner=learner, lipschitz=lipschitz, **options)


def with_kt(graph, dim, lipschitz=1.0, **options):
    return mtcool.mt_co2ol(graph, dim, learner=MTFTRLKT(), lipschitz=lipschitz, **options)


def alone(graph, dim, lipschitz=1.0):
    return mtcool.i_ftrl(graph, dim, learner=FTRL(), lipschitz=lipschitz)


ALGORITHMS = {
    "Hedge": (hedge, theory.any_graph),
    "KT": (with_kt, theory.kt),
    "alone": (alone, lambda graph, tasks, counts, **units: theory.independent(counts, **units)),
}
SKEWED = np.arange(1.0, 11.0) ** -2.0


def skewed(graph):
    """Probabilities that differ a lot."""
    return SKEWED[: graph.size] / SKEWED[: graph.size].sum()


WEIGHTED = ALGORITHMS | {
    "KT, adaptive": (functools.partial(with_kt, rates="adaptive"), theory.kt_adaptive),
    "adaptive": (functools.partial(hedge, rates="adaptive"), theory.adaptive),
    "adaptive, delegation": (
        functools.partial(hedge, weights="delegation", rates="adaptive"),
        functools.partial(theory.adaptive, weights="delegation"),
    ),
    "adaptive, proportional": (
        lambda graph, dim, lipschitz: hedge(
            graph, dim, lipschitz, weights="proportional", q=skewed(graph), rates="adaptive"
        ),
        lambda graph, *given, **units: theory.adaptive(
            graph, *given, weights="proportional", q=skewed(graph), **units
        ),
    ),
    "Hedge, delegation": (
        functools.partial(hedge, weights="delegation"),
        functools.partial(theory.any_graph, weights="delegation"),
    ),
}
GRAPHS = {
    "ring": graphs.ring(8),
    "star": graphs.star(7),
    "cliques": graphs.cliques([3, 4]),
    "random": graphs.erdos_renyi(10, 0.5, seed=3),
    "edgeless": graphs.edgeless(4),
}
STREAMS = {
    "noise": lambda graph, seed: streams.linear_stream(graph, 1, 400, seed, drift=0.0),
    "drift": lambda graph, seed: streams.linear_stream(graph, 1, 400, seed, drift=2.0),
    "bursts": lambda graph, seed: streams.linear_stream(
        graph, 1, 400, seed, 0.5, agents=streams.bursts(400, graph.size, 20, seed)
    ),
    "adversary": lambda graph, seed: streams.multitask_adversary(graph, 0.5, 400, seed),
    "quadratic": lambda graph, seed: streams.quadratic_stream(
        graph, tasks_on(graph, 1, seed, scale=0.9), 400, seed
    ),
    "absolute": lambda graph, seed: streams.regression_stream(
        graph, tasks_on(graph, 1, seed, scale=0.9), 400, seed, "absolute"
    ),
}


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize("graph", GRAPHS)
def test_measured_regret_never_exceeds_the_bound(name, graph):
    """A bank of graphs, weights, activations and losses; KT may leave the ball, so linear ones."""
    make, bound = WEIGHTED[name]
    network, tightest = GRAPHS[graph], 0.0
    for kind in STREAMS:
        if name.startswith("KT") and kind in ("quadratic", "absolute"):
            continue
        for seed in range(6):
            stream = STREAMS[kind](network, seed)
            lipschitz = stream.lipschitz(radius=1.0) * (1 + 1e-9)
            counts = np.bincount(stream.agents, minlength=network.size)
            trace = mtcool.simulate(make(network, 1, lipschitz), stream)
            most = bound(network, stream.comparator, counts, lipschitz=lipschitz).value
            assert trace.regret[-1] <= most, (kind, seed)
            tightest = max(tightest, trace.regret[-1] / most)
    assert tightest > 0.05


def mean_regret(make, graph, stream_of, seeds=24):
    finals = [mtcool.simulate(make(graph, 1), stream_of(seed)).regret[-1] for seed in range(seeds)]
    return np.mean(finals) - 2 * np.std(finals, ddof=1) / math.sqrt(seeds)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_algorithm_beats_the_twice_independent_adversary(name):
    graph = graphs.ring(12)
    floor = math.sqrt(4 * 800) / 2
    assert floor >= theory.any_algorithm(graph, 0.0, 800).value
    reached = mean_regret(
        ALGORITHMS[name][0], graph, lambda seed: streams.twice_independent(graph, 800, seed)
    )
    assert reached >= floor


@pytest.mark.parametrize("variance", [0.0, 0.1, 1.0, 8.0])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_algorithm_beats_the_multitask_adversary(name, variance):
    graph = graphs.complete(6)
    reached = mean_regret(
        ALGORITHMS[name][0],
        graph,
        lambda seed: streams.multitask_adversary(graph, variance, 600, seed),
    )
    most = min(variance * 5, 6)  # N / (N - 1) is all that rows in the ball have
    assert reached >= math.sqrt(2) / 4 * math.sqrt(1 + most) * math.sqrt(600)
    assert reached >= theory.any_algorithm(graph, variance, 600).value


@pytest.mark.parametrize("degree", [2, 4])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_algorithm_beats_the_family_of_regular_graphs(name, degree):
    graph, _ = streams.regular_family(degree, 3, 0.5, 900, seed=0)
    floors = []

    def stream_of(seed):
        _, stream = streams.regular_family(degree, 3, 0.5, 900, seed)
        floors.append(theory.regular_graphs(graph, stream.comparator, 900).value)
        return stream

    assert mean_regret(ALGORITHMS[name][0], graph, stream_of) >= np.mean(floors)


def test_the_floor_is_never_above_what_learning_alone_pays():
    for graph in (graphs.complete(6), graphs.edgeless(100), graphs.ring(7)):
        for rounds in (1, 2, 5, 50, 5000):
            floor = theory.any_algorithm(graph, 100.0, rounds).value
            shares = np.full(graph.size, rounds // graph.size)
            shares[: rounds % graph.size] += 1
            assert floor <= theory.independent(shares).value


def test_the_gain_of_the_coin_is_a_maximum():
    for rounds, v in ((1, 2.0), (1, 5.0), (3, 100.0), (40, 0.3), (400, 3.0)):
        s = np.linspace(0.0, rounds, 20001)
        logs = rounds * math.log(2) + gammaln((rounds + 1 + s) / 2) + gammaln((rounds + 1 - s) / 2)
        values = v * s - np.exp(np.minimum(logs - gammaln(rounds + 1), 700)) / math.pi
        assert gain(v, rounds) >= max(values.max(), 0.0)


@pytest.mark.parametrize("degree", [2, 4, 6])
def test_groups_of_the_family_are_far_apart(degree):
    graph, stream = streams.regular_family(degree, 3, 0.5, 300, seed=0)
    network = graph.to_networkx()
    far = dict(nx.all_pairs_shortest_path_length(network))
    active = sorted(set(stream.agents.tolist()))
    centres = range(0, graph.size, 2 * degree + 1)
    group = {i: c for c in centres for i in graph.neighbours(c).tolist()}
    assert set(group) == set(active)
    for u in active:
        for v in active:
            assert group[u] == group[v] or far[u][v] >= 3


@pytest.mark.parametrize("variance", [0.0, 0.3, 2.0])
def test_the_adversarys_comparator_keeps_its_variance_and_the_ball(variance):
    stream = streams.multitask_adversary(graphs.complete(7), variance, 500, seed=1)
    assert stream.comparator.var(ddof=1) <= variance + 1e-12
    assert np.abs(stream.comparator).max() <= 1.0 + 1e-12


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.any_graph(graphs.ring(3), [[2.0]] * 3, [1] * 3), "tasks must lie in the b"),
        (lambda: theory.any_graph(graphs.ring(3), [[0.0]] * 3, [1, -1, 1]), "counts must not be"),
        (lambda: theory.regular_graph(graphs.star(4), [[0.0]] * 4, 9), "graph must be regular"),
        (lambda: theory.union_of_cliques(graphs.ring(5), [[0.0]] * 5, 9), "graph must be a union"),
        (lambda: theory.regular_graphs(graphs.star(4), [[0.0]] * 4, 9), "graph must be K-regular"),
        (lambda: theory.private(graphs.ring(3), [[0.0]] * 3, [1] * 3, 0.0), "epsilon must be pos"),
        (lambda: streams.regular_family(3, 2, 0.1, 10, 0), "degree must be even, got 3"),
        (lambda: streams.twice_independent(graphs.ring(9), 2, 0), "rounds must be at least 3"),
        (lambda: streams.regular_family(2, 3, 0.5, 8, 0), "rounds must be at least 9"),
        (lambda: theory.independent([1, -1]), "counts must be a list"),
        (lambda: theory.kt(graphs.ring(3), [[0.0]] * 3, [0.5] * 3), "counts must be whole"),
    ],
)
def test_bad_arguments_are_refused_by_name_and_value(call, words):
    with pytest.raises(ValueError, match=words):
        call()


RING, EQUAL, OFTEN, RATES = graphs.ring(4), [[0.0]] * 4, [5, 5, 0, 10], [0.25] * 4
IN_THE_BALL = {
    "independent": lambda **units: theory.independent(OFTEN, **units),
    "clique": lambda **units: theory.clique(4, 0.0, 20, **units),
    "any_graph": lambda **units: theory.any_graph(RING, EQUAL, OFTEN, **units),
    "uniform_weights": lambda **units: theory.uniform_weights(RING, EQUAL, 20, **units),
    "delegation": lambda **units: theory.delegation(RING, EQUAL, 20, **units),
    "regular_graph": lambda **units: theory.regular_graph(RING, EQUAL, 20, **units),
    "union_of_cliques": lambda **units: theory.union_of_cliques(
        graphs.cliques([2, 2]), EQUAL, 20, **units
    ),
    "stochastic": lambda **units: theory.stochastic(RING, EQUAL, RATES, 20, **units),
    "stochastic_independence": lambda **units: theory.stochastic_independence(
        RING, EQUAL, 20, **units
    ),
    "unknown_q": lambda **units: theory.unknown_q(RING, EQUAL, RATES, 20, **units),
    "adaptive": lambda **units: theory.adaptive(RING, EQUAL, OFTEN, **units),
    "adaptive_stochastic": lambda **units: theory.adaptive_stochastic(
        RING, EQUAL, RATES, 20, **units
    ),
    "known_variances": lambda **units: theory.known_variances(RING, EQUAL, OFTEN, **units),
    "private": lambda **units: theory.private(RING, EQUAL, OFTEN, 1.0, **units),
    "private_known_variances": lambda **units: theory.private_known_variances(
        RING, EQUAL, OFTEN, 1.0, **units
    ),
    "per_gradient_noise": lambda **units: theory.per_gradient_noise(
        RING, EQUAL, OFTEN, 1.0, **units
    ),
    "pairwise": lambda **units: theory.pairwise(RING, EQUAL, OFTEN, **units),
    "pairwise_stochastic": lambda **units: theory.pairwise_stochastic(
        RING, EQUAL, RATES, 20, **units
    ),
    "unknown_lipschitz": lambda **units: theory.unknown_lipschitz(
        theory.any_graph(RING, EQUAL, OFTEN, **units), RING, OFTEN, **units
    ),
}


@pytest.mark.parametrize("name", IN_THE_BALL)
def test_a_learner_in_the_ball_pays_at_most_2_d_l_in_a_round(name):
    bound = IN_THE_BALL[name](radius=3.0, lipschitz=0.5)
    assert bound.trivial == pytest.approx(2 * 3.0 * 0.5 * 20)
    assert bound.times(2.0).trivial == 2.0 * bound.trivial
    assert bound.says_nothing == (bound.value > bound.trivial)


def test_bounds_of_what_leaves_the_ball_and_from_below_have_no_trivial_one():
    betting = theory.kt(RING, EQUAL, OFTEN), theory.kt_adaptive(RING, EQUAL, OFTEN)
    for bound in (*betting, theory.any_algorithm(RING, 0.1, 20)):
        assert (bound.trivial, bound.says_nothing) == (math.inf, False)


def test_what_the_cliques_of_a_changing_network_received_is_at_least_what_all_rounds_cost():
    run = theory.Received([(0, 1)] * 2, 2, 0.5, 5.0, updates=20, lost=[1.0, 0.0])
    assert theory.changing(run, [[0.0]] * 2, lipschitz=3.0).trivial == 2 * 3.0 * (2 * 10 + 1)
    unknown = theory.Received([(0, 1)] * 2, 2, 0.5, 5.0)
    assert theory.changing(unknown, [[0.0]] * 2).trivial == math.inf


def test_the_papers_noise_has_a_bound_that_says_nothing_where_one_expert_has_one_that_does():
    crowd = graphs.complete(10), [[0.0]] * 10, [1000] * 10
    assert theory.private(*crowd, epsilon=1.0).says_nothing
    noise = theory.tree_noise(1.0, dim=1, horizon=1000)
    assert not theory.private_known_variances(*crowd, noise).says_nothing


@pytest.mark.parametrize("name", ["any_graph", "adaptive", "adaptive_stochastic", "pairwise"])
def test_bounds_for_the_papers_experts_say_so(name):
    assert "the paper's experts" in IN_THE_BALL[name]().assumptions[0]
