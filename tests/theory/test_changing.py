"""Networks that change: reductions, each step of the proofs, and cliques played against."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest

import mtcool
from line_clique import Bettor, Line, Run, minimisers, paper_experts
from mtcool import graphs, theory
from mtcool.learners import MTFTRL, MTFTRLKT
from mtcool.theory.lineage import lineage

FREE = functools.partial(theory.changing, free_last=True)
FOES = {
    "against what is played": lambda t, row, played: 1.0 if played > 0.0 else -1.0,
    "one way": lambda t, row, played: 1.0,
    "opposite": lambda t, row, played: (-1.0) ** row,
    "to and fro": lambda t, row, played: 1.0 if t // 30 % 2 else -1.0,
    "opposite, to and fro": lambda t, row, played: (-1.0) ** (row + t // 40),
}
ROUNDS = 120


def fixed(graph, weights, counts):
    """What the cliques of a graph receive if nothing ever changes."""
    w = weights.toarray()
    heard = [j for j in range(graph.size) if w[:, j].any()]
    members = [np.flatnonzero(w[:, j]) for j in heard]
    return theory.Received(
        members,
        slots=[len(rows) for rows in members],
        bound=w[:, heard].max(axis=0),
        squares=(counts @ w**2)[heard],
        updates=(counts @ (w > 0))[heard],
    )


# --- reductions ------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["uniform", "delegation"])
@pytest.mark.parametrize("seed", range(4))
def test_if_nothing_changes_it_is_the_bound_of_adaptive_rates(weights, seed):
    rng, graph = np.random.default_rng(seed), graphs.erdos_renyi(9, 0.4, seed=seed)
    made = {"uniform": graphs.uniform_weights, "delegation": graphs.delegation_weights}[weights]
    tasks, counts = rng.uniform(-0.9, 0.9, (9, 2)), rng.integers(0, 50, 9)
    run, units = fixed(graph, made(graph), counts), {"radius": 3.0, "lipschitz": 2.0}
    want = theory.adaptive(graph, tasks, counts, weights=weights, **units)
    ours = theory.changing(run, tasks, **units)
    for part in ("similarity", "experts"):
        assert ours.parts[part] == pytest.approx(want.parts[part])
    assert ours.value == pytest.approx(want.value)
    assert ours.variance == pytest.approx(want.variance)
    betting = theory.kt_changing(run, 5 * tasks, **units)
    want = theory.kt_adaptive(graph, 5 * tasks, counts, weights=weights, **units)
    assert betting.parts["magnitude"] == pytest.approx(want.parts["magnitude"])
    assert betting.parts["direction"] == pytest.approx(want.parts["direction"])


def test_kt_with_adaptive_rates_is_kt_where_all_weights_are_equal_up_to_the_first_rate():
    graph, tasks, counts = graphs.complete(4), np.full((4, 1), 0.7), np.full(4, 10_000)
    ours, known = (f(graph, tasks, counts) for f in (theory.kt_adaptive, theory.kt))
    assert ours.parts["magnitude"] == known.parts["magnitude"]
    assert 0.0 < ours.parts["direction"] / known.parts["direction"] - 1.0 < 1e-4


def test_the_record_of_the_algorithm_knows_the_bound_of_kt():
    graph, tasks, counts = graphs.star(5), np.full((5, 1), 0.7), np.arange(5)
    net = mtcool.mt_co2ol(graph, 1, learner=MTFTRLKT(), rates="adaptive")
    question = mtcool.peers.algorithm.Question(graph, net.settings, "uniform", None, tasks, counts)
    want = theory.kt_adaptive(graph, tasks, counts)
    assert net.settings.algorithm.bound(question) == want


def test_vacant_slots_cost_nothing_but_the_logarithm_of_their_number():
    tasks = np.array([[0.3, 0.5], [0.4, -0.5], [-0.2, 0.1]])
    deviation = ((tasks - tasks.mean(axis=0)) ** 2).sum()
    similar, betting = [], []
    for slots in (3, 4, 10, 100, 1000):
        run = theory.Received([(0, 1, 2)], slots, 1.0, 400.0, updates=500)
        bound = theory.changing(run, tasks)
        end = math.sqrt(401.0)
        assert bound.parts["similarity"] <= 2.5 * math.sqrt(2.0 * (1.0 + deviation)) * end
        assert bound.parts["experts"] <= 2.0 * math.sqrt(math.log(slots)) * end
        similar.append(bound.parts["similarity"])
        betting.append(theory.kt_changing(run, tasks).value)
    assert max(similar) < 1.3 * min(similar)
    assert max(betting) < 1.3 * min(betting)


def test_a_clique_that_heard_nothing_has_no_regret():
    assert theory.changing(theory.Received([(0, 1)], 2, 0.5, 0.0), [[1.0], [0.0]]).value == 0.0


HARDER = {
    "squares": 200.0,
    "bound": 2.0,
    "slots": 8,
    "lagged": 900.0,
    "lag": 9.0,
    "late": 40.0,
    "lost": 5.0,
    "moved": 5.0,
    "power": 2.0,
    "first_bound": 0.1,
    "start": 2,
}


@pytest.mark.parametrize("name", HARDER)
def test_whatever_makes_it_harder_raises_the_bound(name):
    tasks, few = [[0.3], [0.5]], 20.0 if name == "late" else 1e9
    run = theory.Received([(0, 1)], 4, 1.0, 100.0, lagged=500.0, lag=3.0, late=few, start=4)
    start = {"start": 2} if name == "slots" else {}
    given = replace(run, **start)
    harder = replace(given, **{name: HARDER[name]})
    assert FREE(harder, tasks).value > FREE(given, tasks).value


def test_each_part_is_what_the_page_says():
    run = theory.Received([(0, 1)], 4, 1.0, 100.0, lagged=500.0, lag=3.0, late=1e9, lost=2.0)
    bound = theory.changing(run, [[0.5], [0.5]])
    focus, end = math.sqrt(math.log(4)), math.sqrt(501.0)
    pairs = math.sqrt(401.0) - 1.0 + 3.0
    slower = (math.sqrt(2.0) * 2.0 + math.log(4)) * math.log(end)
    late = (2 * 4 * 2 / 5 + focus) * pairs + slower * 4.0
    assert bound.parts["late"] == pytest.approx(late)
    assert bound.parts["lost"] == 4.0
    assert theory.changing(replace(run, power=3.0), [[0.5], [0.5]]).parts["late"] == (
        pytest.approx(3.0 * late)
    )
    few = theory.changing(replace(run, late=1.5), [[0.5], [0.5]])
    assert few.parts["late"] == 3.0  # to and fro


# --- steps of the proofs ---------------------------------------------------------------------


def interaction(size):
    return (1.0 + size) * np.eye(size) - 1.0


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_more_slots_multiply_the_least_norm_by_one_number(slots):
    """Over all ways to fill the new slots: the Schur complement of A."""
    whole = interaction(2 * slots)
    old, mixed, new = whole[:slots, :slots], whole[:slots, slots:], whole[slots:, slots:]
    least = old - mixed @ np.linalg.inv(new) @ mixed.T
    assert np.allclose(least, (2 * slots + 1) / (slots + 1) * interaction(slots))


@pytest.mark.parametrize("free_last", [False, True])
@pytest.mark.parametrize("slots", [1, 2, 3, 6])
def test_the_growth_of_an_expert_is_the_most_that_its_regulariser_falls(slots, free_last):
    """max (r - r') over the rows that the child may play, by random search near the extremes."""
    rng, found = np.random.default_rng(slots), lineage(slots, 2 * slots, paper_experts, free_last)
    old = paper_experts(slots) * (slots - 1) if slots > 1 else np.zeros(1)
    for k, allowed in enumerate(found.allowed):
        parent = min(int(np.searchsorted(old, allowed - 1e-12)), len(old) - 1)
        p, own = math.sqrt(1.0 + old[parent]), math.sqrt(1.0 + allowed)
        cap = np.inf if free_last and k == 2 * slots - 1 else allowed
        signs = rng.choice([-1.0, 1.0], (200, slots))
        share = np.r_[np.zeros(50), rng.random(150)][:, np.newaxis]
        first = share * signs + (1.0 - share)  # from all together to far apart
        first *= rng.choice([1.0, 0.9, 0.5], (200, 1))
        mean = first.mean(axis=1, keepdims=True)
        x = np.hstack((first, np.repeat(slots * mean / (slots + 1.0), slots, axis=1)))
        apart = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        x *= np.sqrt(np.minimum(1.0, cap / np.maximum(apart, 1e-12)))[:, np.newaxis]

        def norm(rows):
            return np.einsum("ti,ij,tj->t", rows, interaction(rows.shape[1]), rows)

        falls = norm(x[:, :slots]) / (2 * slots * p) - norm(x) / (4 * slots * own)
        assert falls.max() <= found.growth[k] + 1e-9
        if free_last and k == 2 * slots - 1:
            assert falls.max() > 0.7 * found.growth[k]


def test_doubling_does_not_raise_the_bound_of_a_direction():
    """KT's regulariser |X|_A^2 / (2 sqrt(M)) grows with every doubling."""
    for slots in range(1, 50):
        assert (2 * slots + 1) / (slots + 1) / math.sqrt(2.0) > 1.0


@pytest.mark.parametrize("slots", [2, 3, 6])
def test_a_row_moves_as_little_as_the_page_says(slots):
    """Between two sums of gradients and two rates, experts with their rows on the ball included."""
    rng, xi = np.random.default_rng(slots), paper_experts(slots)
    p, caps, most = np.sqrt(1.0 + xi * (slots - 1)), xi * (slots - 1), 0.0
    for _ in range(300):
        before, step = rng.normal(size=(2, slots)) * rng.choice([0.1, 1.0, 5.0], (2, 1))
        step *= rng.choice([0.0, 1.0])
        low, high = np.sort(rng.choice([0.5, 1.0, 1.1, 4.0], 2))
        old = minimisers(before, slots * p / low, caps)
        new = minimisers(before + step, slots * p / high, caps)
        pushed = 2 * slots * p / (slots + 1) * np.abs(step).sum() / high
        slowed = math.sqrt(2.0) * p * math.log(high / low)
        moved = np.abs(new - old).max(axis=1)
        assert (moved <= pushed + slowed + 1e-6).all()
        most = max(most, (moved / (pushed + slowed + 1e-12)).max())
    assert most > 0.4


def free_expert(gamma, rate):
    """argmin <gamma, X> rate + |X|_A^2 / 2 with rows in the ball of any dimension."""
    size, mean = len(gamma), np.zeros(gamma.shape[1])
    for _ in range(2000):
        x = (-rate * gamma + size * mean) / (1.0 + size)
        x /= np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
        mean = x.mean(axis=0)
    return x


def test_a_slower_rate_can_move_a_row_further_than_its_own_length():
    """So the bound needs sqrt(2) p where one might hope for the norm of a row."""
    size, ratio = 25, 1.001
    gamma = -interaction(size)  # at rate one the rows are orthogonal, and on the ball
    old, new = free_expert(gamma, 1.0 * ratio), free_expert(gamma, 1.0)
    assert np.linalg.norm(old, axis=1) == pytest.approx(1.0)
    speed = np.linalg.norm(new - old, axis=1).max() / math.log(ratio)
    assert 2.0 < speed < math.sqrt(2.0 * size)


def test_weights_of_hedge_move_as_little_as_the_page_says():
    rng = np.random.default_rng(0)

    def shares(exponents):
        return np.exp(exponents) / np.exp(exponents).sum()

    fastest = 0.0
    for number in (2, 3, 10, 100):
        for _ in range(200):
            losses = rng.normal(size=number) * rng.choice([0.1, 1.0, 10.0])
            change = rng.uniform(-1.0, 1.0, number) * rng.choice([0.1, 1.0])
            moved = np.abs(shares(-losses) - shares(-losses - change)).sum()
            assert moved <= np.abs(change).max() + 1e-12
            ratio = rng.choice([1.01, 1.5])
            moved = np.abs(shares(-losses) - shares(-losses / ratio)).sum()
            assert moved <= math.log(number) * math.log(ratio)
        one = np.log(np.r_[number - 1.0, np.ones(number - 1)])  # half on one, half on the others
        one[0] += 1.0 / number
        speed = np.abs(shares(one) - shares(one / 1.0001)).sum() / math.log(1.0001)
        fastest = max(fastest, speed / math.log(number))
    assert fastest > 0.4


# --- cliques that are played against ---------------------------------------------------------


@pytest.mark.parametrize("learner", [MTFTRL(), MTFTRL(free_last=True), MTFTRLKT()], ids=str)
def test_what_is_played_against_is_the_learner_of_the_package(learner):
    """On a complete graph all cliques are the same, and a prediction is a row of them."""
    net = mtcool.mt_co2ol(graphs.complete(3), 1, learner=learner, rates="adaptive")
    betting = learner == MTFTRLKT()
    clique = Bettor(3, 1 / 3) if betting else Line(3, 1 / 3, free_last=learner.free_last)
    rng = np.random.default_rng(0)
    for agent in rng.integers(3, size=60):
        assert net.predict(agent)[0] == pytest.approx(clique.rows()[agent], abs=1e-7)
        gradient = (-1.0) ** agent * rng.uniform(0.0, 1.0)
        net.update(agent, np.array([gradient]))
        clique.learn(agent, 1 / 3, gradient)


def grown(start, times, rng):
    """Rows of a clique that doubles at these times, any of its slots at each time."""
    slots = start * 2 ** (np.arange(ROUNDS)[:, np.newaxis] >= np.array(times)).sum(axis=1)
    return (rng.random(ROUNDS) * slots).astype(int), {t: [("grow",)] for t in times}


@pytest.mark.parametrize(
    ("start", "times", "bound", "tightest"),
    [
        (1, (10, 30, 60), FREE, 0.15),
        (2, (40, 80), FREE, 0.15),
        (3, (50,), FREE, 0.15),
        (3, (50,), theory.changing, 0.15),
        (4, (), theory.changing, 0.15),
    ],
)
def test_cliques_that_grow_keep_their_bound(start, times, bound, tightest):
    rng, found = np.random.default_rng(start), []
    for foe in FOES.values():
        rows, events = grown(start, times, rng)
        clique = Line(start, 1.0, free_last=bound is FREE)
        weights = rng.choice([0.2, 0.5, 1.0], ROUNDS)
        found.append(Run(clique, rows, weights, foe, events=events).worst(bound))
    assert tightest < max(found) <= 1.0


def test_bounds_that_rise_with_the_weights_keep_the_bound_of_the_last():
    rng, found = np.random.default_rng(0), []
    events = {t: [("announce", 0.1 * 2.0 ** (t / 20))] for t in range(20, ROUNDS, 20)}
    weights = 0.1 * 2.0 ** (np.arange(ROUNDS) // 20)
    for foe in FOES.values():
        rows = rng.integers(3, size=ROUNDS)
        run = Run(Line(3, 0.1, free_last=True), rows, weights, foe, events=events)
        assert run.received().bound == 3.2
        found.append(run.worst(FREE))
    assert 0.15 < max(found) <= 1.0


DELAYS = {
    "all alike": lambda rng: np.full(ROUNDS, 5),
    "by chance": lambda rng: rng.exponential(4.0, ROUNDS).astype(int),
    "one for long": lambda rng: np.where(np.arange(ROUNDS) == 10, 80, 0),
    "all at once": lambda rng: 29 - np.arange(ROUNDS) % 30,
}


@pytest.mark.parametrize("slots", [1, 2, 4])
@pytest.mark.parametrize("kind", DELAYS)
def test_cliques_that_hear_late_keep_their_bound(kind, slots):
    rng, found = np.random.default_rng(slots), []
    for foe in FOES.values():
        rows, weights = rng.integers(slots, size=ROUNDS), rng.choice([0.2, 0.5, 1.0], ROUNDS)
        clique = Line(slots, 1.0, free_last=True)
        found.append(Run(clique, rows, weights, foe, DELAYS[kind](rng)).worst(FREE))
    assert 0.05 < max(found) <= 1.0


@pytest.mark.parametrize("start", [1, 2])
def test_cliques_that_grow_and_hear_late_keep_their_bound(start):
    rng, found = np.random.default_rng(start), []
    for foe in FOES.values():
        rows, events = grown(start, (30, 70), rng)
        events[90] = [("announce", 2.0)]
        weights = rng.choice([0.2, 0.5, 1.0], ROUNDS) * np.where(np.arange(ROUNDS) < 90, 1.0, 2.0)
        clique = Line(start, 1.0, free_last=True)
        run = Run(clique, rows, weights, foe, DELAYS["by chance"](rng), events)
        found.append(run.worst(FREE))
    assert 0.05 < max(found) <= 1.0


def test_the_least_weight_under_way_that_is_counted_is_enough():
    """At no time more than the longest lag and one gradient are under way."""
    rng = np.random.default_rng(5)
    for kind in DELAYS.values():
        delays, weights = kind(rng), rng.choice([0.2, 0.5, 1.0], ROUNDS)
        rows = np.zeros(ROUNDS, int)
        run = Run(Line(1, 1.0), rows, weights, FOES["one way"], delays)
        due = np.arange(ROUNDS) + delays
        arrived = due < ROUNDS
        for t in range(ROUNDS):
            under_way = weights[arrived & (np.arange(ROUNDS) <= t) & (due > t)].sum()
            assert under_way <= run.lag + weights.max() + 1e-9


def test_gradients_that_are_never_learned_cost_twice_their_weight():
    """A clique that hears of nothing plays zero, against somebody who knows what will be right."""
    rows = np.zeros(ROUNDS, int)
    run = Run(Line(1, 1.0), rows, np.ones(ROUNDS), FOES["one way"], np.full(ROUNDS, 10**6))
    bound = theory.changing(run.received(), [[-1.0]])
    assert bound.parts == {**dict.fromkeys(bound.parts, 0.0), "lost": 2.0 * ROUNDS}
    assert run.regret(np.array([-1.0])) == ROUNDS


@pytest.mark.parametrize("scale", [1.0, 5.0])
@pytest.mark.parametrize(("start", "times"), [(1, (20, 60)), (3, (50,)), (4, ())])
def test_bettors_that_grow_and_raise_their_stakes_keep_their_bound(start, times, scale):
    rng, found = np.random.default_rng(start), []
    for foe in FOES.values():
        rows, events = grown(start, times, rng)
        events[40] = [("announce", 1.0)]
        weights = rng.choice([0.2, 0.5, 1.0], ROUNDS).clip(max=np.arange(ROUNDS) / 80 + 0.5)
        weights[:40] = weights[:40].clip(max=0.5)
        run = Run(Bettor(start, 0.5), rows, weights, foe, events=events)
        found.append(run.worst(theory.kt_changing, scale))
    assert 0.1 < max(found) <= 1.0


def betrayal(rounds, experts, free_last):
    """Two rows are pushed apart, then two new ones, and then the first two are pushed back."""
    rows = np.r_[np.arange(rounds) % 2, 2 + np.arange(rounds) % 2, np.arange(rounds) % 2]
    signs = (-1.0) ** rows * np.repeat([1.0, 1.0, -1.0], rounds)
    return Run(
        Line(2, 1.0, experts, free_last),
        rows,
        np.ones(3 * rounds),
        lambda t, row, played: signs[t],
        events={rounds: [("grow",)]},
    )


@pytest.mark.parametrize(
    ("rounds", "experts", "broken"),
    [(800, MTFTRL(experts=(1.0,)).variances, 1.3), (400, paper_experts, 0.5)],
)
def test_an_expert_whose_constraint_loosens_can_lose_a_share_of_all_rounds(rounds, experts, broken):
    """So the statement does not cover it; one that is free has nothing to loosen."""
    task = np.array([0.0, 0.0, -1.0, 1.0])
    run = betrayal(rounds, experts, free_last=False)
    bound = theory.changing(run.received(), task[:, np.newaxis], experts=experts)
    assert not bound.covers_tasks
    assert run.regret(task) > 0.3 * rounds
    assert run.regret(task) > broken * bound.value
    run = betrayal(rounds, experts, free_last=True)
    bound = FREE(run.received(), task[:, np.newaxis], experts=experts)
    assert bound.covers_tasks
    assert run.regret(task) <= 0.1 * bound.value


@pytest.mark.parametrize("start", [1, 2, 3, 7])
def test_a_free_last_expert_admits_all_tasks_and_the_papers_few_after_doublings(start):
    slots = 8 * start
    assert lineage(start, slots, paper_experts, free_last=True).nested.all()
    as_published = lineage(start, slots, paper_experts, free_last=False)
    assert not as_published.nested[-1]
    kept = as_published.allowed[as_published.nested]
    assert (kept <= start - 1.0).all()
    geometric = lineage(start, slots, MTFTRL(experts="geometric").variances, free_last=True)
    assert geometric.nested.all()


def test_tasks_that_no_expert_admitted_all_along_are_not_covered():
    run = theory.Received([(0, 1, 2)], slots=8, start=2, bound=1.0, squares=9.0)
    assert not theory.changing(run, [[0.1]] * 3).covers_tasks
    assert FREE(run, [[1.0], [-1.0], [1.0]]).covers_tasks
    fits = theory.Received([(0, 1, 2)], slots=8, start=4, bound=1.0, squares=9.0)
    assert theory.changing(fits, [[0.1]] * 3).covers_tasks
    apart = theory.Received([range(8)], slots=8, start=4, bound=1.0, squares=9.0)
    assert not theory.changing(apart, [[0.8], [-0.8]] * 4).covers_tasks


# --- codes -----------------------------------------------------------------------------------


class Ball:
    """FTRL on the ball of any dimension, one slot."""

    def __init__(self, dim, bound):
        self.total, self.bound, self.squares = np.zeros(dim), bound, 0.0

    def play(self):
        beta = math.sqrt(self.bound**2 + self.squares)
        return -self.total / max(beta, np.linalg.norm(self.total))

    def learn(self, gradient, power):
        self.total += gradient
        self.squares += power


def unit(rng, dim):
    vector = rng.standard_normal(dim)
    return vector / np.linalg.norm(vector)


def rounded(rng, vector, bits):
    most = np.abs(vector).max()
    step = 2.0 * most / (2**bits - 1)
    return -most + step * np.floor((vector + most) / step + rng.random(vector.shape))


@pytest.mark.parametrize("bits", [1, 2, 5])
def test_rounded_gradients_keep_the_bound_on_average(bits):
    dim, rounds = 5, 150
    task = unit(np.random.default_rng(9), dim)
    kappa = min(math.sqrt(dim), 1.0 + 2.0 * math.sqrt(dim) / (2**bits - 1))
    power = min(1.0 + dim / (2**bits - 1) ** 2, kappa**2)
    regrets = []
    for seed in range(40):
        rng, clique, regret = np.random.default_rng(seed), Ball(dim, kappa), 0.0
        for _ in range(rounds):
            row, gradient = clique.play(), unit(rng, dim)
            coded = rounded(rng, gradient, bits)
            assert np.linalg.norm(coded) <= kappa + 1e-12
            regret += gradient @ (row - task)
            clique.learn(coded, power)
        regrets.append(regret)
    run = theory.Received([(0,)], 1, kappa, rounds * power, power=power, in_expectation=True)
    bound = theory.changing(run, [task])
    assert bound.in_expectation
    assert np.mean(regrets) <= bound.value
    values = np.array([rounded(np.random.default_rng(s), task, bits) for s in range(4000)])
    assert (values**2).sum(axis=1).mean() <= power * 1.02
    distance = np.linalg.norm(values - task, axis=1).mean()
    assert distance <= math.sqrt(dim) * np.abs(task).max() / (2**bits - 1) * 1.02


# --- policies --------------------------------------------------------------------------------


def sampled(graph, law, rounds, rng, every, probability, partners):
    """The squares that cliques receive in one run, drawn as the policy says."""
    squares, asked = np.zeros(graph.size), np.zeros(graph.size, int)
    for i in rng.choice(graph.size, rounds, p=law):
        others = graph.idx[graph.ptr[i] : graph.ptr[i + 1]].astype(int)
        others = others[others != i]
        speaks = asked[i] % every == 0 and rng.random() < probability
        asked[i] += 1
        chosen = rng.permutation(others)[:partners] if speaks else others[:0]
        squares[np.append(chosen, i)] += 1.0 / (len(chosen) + 1) ** 2
    return squares


@pytest.mark.parametrize(
    "policy",
    [
        {"every": 1, "probability": 1.0, "partners": None},
        {"every": 4, "probability": 1.0, "partners": None},
        {"every": 1, "probability": 0.3, "partners": None},
        {"every": 3, "probability": 0.5, "partners": 1},
        {"every": 1, "probability": 1.0, "partners": 2},
    ],
)
def test_the_mean_of_what_a_policy_sends_is_what_it_says(policy):
    graph, rng = graphs.star(5), np.random.default_rng(0)
    law = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    means = np.mean([sampled(graph, law, 30, rng, **policy) for _ in range(1500)], axis=0)
    run = theory.policy_weights(graph, law, 30, **policy)
    assert means == pytest.approx(run.squares, rel=0.05)
    assert run.in_expectation


def test_without_a_policy_it_is_the_bound_of_adaptive_rates_in_the_mean():
    graph, law = graphs.erdos_renyi(7, 0.5, seed=2), np.arange(1.0, 8.0) / 28.0
    tasks = np.random.default_rng(0).uniform(-0.5, 0.5, (7, 2))
    want = theory.adaptive_stochastic(graph, tasks, law, 900)
    ours = theory.changing(theory.policy_weights(graph, law, 900), tasks)
    assert ours.value == pytest.approx(want.value)


def test_weights_of_a_policy_are_announced():
    """What a clique must expect at most: one from its own agent, if that may be silent."""
    graph, law = graphs.star(4), np.full(4, 0.25)
    talking = theory.policy_weights(graph, law, 10)
    assert talking.bound.tolist() == [0.5, 0.5, 0.5, 0.5]
    assert theory.policy_weights(graph, law, 10, probability=0.5).bound.tolist() == [1.0] * 4
    assert theory.policy_weights(graphs.edgeless(2), [0.5, 0.5], 10).bound.tolist() == [1.0] * 2


# --- refusals --------------------------------------------------------------------------------

WRONG = {
    "members": ({"members": [()]}, "members must be distinct indices, some in every clique"),
    "twice": ({"members": [(1, 1)]}, "members must be distinct"),
    "slots": ({"slots": 1}, "slots must be at least the number of members"),
    "start": ({"start": 3}, "start must be slots over a power of two"),
    "shape": ({"lost": [1.0, 2.0]}, "lost must be one number or one for each of the 1 cliques"),
    "negative": ({"lag": -1.0}, "lag must not be negative"),
    "first_bound": ({"first_bound": 2.0}, "first_bound must be positive, at most bound"),
    "lagged": ({"lagged": 1.0}, "lagged must be at least squares"),
    "late": ({"lagged": 9.0}, "late must be positive where there is a lag"),
    "power": ({"power": 0.5}, "power must be at least 1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_numbers_that_contradict_each_other_are_refused(case):
    given, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        theory.Received(**{"members": [(0, 1)], "slots": 4, "bound": 1.0, "squares": 5.0, **given})


def test_nothing_is_claimed_of_late_bets():
    late = theory.Received([(0,)], 1, 1.0, 5.0, lagged=9.0, lag=1.0, late=2.0, updates=5)
    with pytest.raises(ValueError, match="nothing late or lost"):
        theory.kt_changing(late, [[1.0]])
    with pytest.raises(ValueError, match="must have updates"):
        theory.kt_changing(theory.Received([(0,)], 1, 1.0, 5.0), [[1.0]])
    with pytest.raises(ValueError, match="a row for each of 3 agents, got 1"):
        theory.changing(theory.Received([(0, 2)], 2, 1.0, 5.0), [[1.0]])
