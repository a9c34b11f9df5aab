"""Cliques without a gradient bound do what the obvious version does, in any unit of the losses."""

import math

import networkx as nx
import numpy as np
import pytest

import mtcool
import oracle
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT
from mtcool.learners.adaptive.rescale import endowed
from mtcool.learners.wealth import HIGHEST, LOWEST, STEP

DIM, ROUNDS = 2, 60
GRAPH = nx.cycle_graph(5)
SLOW = {
    FTRL(): oracle.FTRL,
    KT(): oracle.KT,
    MTFTRLKT(): oracle.HedgeFreeKT,
    MTFTRL(experts=(0.2, 1.0)): lambda *given: oracle.Hedge(*given, experts=lambda _: [0.2, 1.0]),
}
KINDS = {
    "jumps": lambda t, rng: 4.0 ** rng.integers(-2, t // 6 + 1),
    "creeps": lambda t, rng: 1.0 + 0.01 * t,
    "leaps late": lambda t, rng: 1e6 if t == 16 else 1.0,
}


def rounds(kind, lean=1.0, count=ROUNDS):
    """Agents and gradients whose lengths grow; they lean one way, so that bets grow."""
    rng = np.random.default_rng(3)
    for t in range(count):
        g = rng.normal(size=DIM) + lean * np.array([2.0, -1.0])
        yield int(rng.integers(len(GRAPH))), KINDS[kind](t, rng) * g / np.linalg.norm(g)


def make(learner, **options):
    alone = learner in (FTRL(), KT())  # on a clique of several rows they have no theory
    algorithm = mtcool.i_ftrl if alone else mtcool.mt_co2ol
    return algorithm(GRAPH, DIM, learner=learner, **options)


@pytest.mark.parametrize("learner", SLOW, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_those_of_the_obvious_version(learner, kind):
    net = make(learner, lipschitz="adaptive", radius=2.0)
    alone = net.settings.algorithm.own_weights
    weight = 1.0 if alone else 1 / 3
    rows = [[j] if alone else oracle.neighbourhood(GRAPH, j) for j in GRAPH]
    cliques = [oracle.Adaptive(SLOW[learner], DIM, [weight] * len(row)) for row in rows]
    slow = isinstance(learner, MTFTRL)  # cvxpy takes its time, and has fewer digits
    count, digits = (20, 2e-5) if slow else (ROUNDS, 1e-10)
    for agent, g in rounds(kind, count=count):
        heard = [
            (c, row.index(agent)) for c, row in zip(cliques, rows, strict=True) if agent in row
        ]
        want = 2.0 * sum(weight * clique.predict()[place] for clique, place in heard)
        np.testing.assert_allclose(net.predict(agent), want, rtol=1e-9, atol=digits)
        for clique, place in heard:
            clique.update(place, g)
        net.update(agent, g)


@pytest.mark.parametrize("learner", SLOW, ids=repr)
def test_the_unit_of_the_losses_does_not_matter(learner):
    """Powers of two change no digit."""
    nets = [make(learner, lipschitz="adaptive") for _ in range(3)]
    for agent, g in rounds("jumps"):
        points = [net.predict(agent).tolist() for net in nets]
        assert points[0] == points[1] == points[2]
        for net, unit in zip(nets, (1.0, 2.0**40, 2.0**-70), strict=True):
            net.update(agent, unit * g)


@pytest.mark.parametrize("learner", SLOW, ids=repr)
def test_gradients_that_are_longest_at_first_are_learned_as_with_their_bound(learner):
    """Nothing is lost by not knowing a bound that every clique sees at once."""
    net, known = make(learner, lipschitz="adaptive"), make(learner, lipschitz=7.0)
    rng = np.random.default_rng(0)
    for t in range(ROUNDS):
        agent, g = t % len(GRAPH), rng.normal(size=DIM)
        length = 7.0 if t < len(GRAPH) else 7.0 * rng.random()
        np.testing.assert_allclose(net.predict(agent), known.predict(agent), atol=1e-12)
        for one in (net, known):
            one.update(agent, length * g / np.linalg.norm(g))


@pytest.mark.parametrize("learner", [KT(), MTFTRLKT()], ids=repr)
def test_the_wealth_never_falls_below_the_potential(learner):
    """As it would without the endowment when the unit grows."""
    for kind in KINDS:
        net = make(learner, lipschitz="adaptive")
        for agent, g in rounds(kind, lean=3.0):
            net.update(agent, g)
            state = net.peers.state.inner
            table = state.cliques if isinstance(learner, MTFTRLKT) else state._asdict()
            for n, s, wealth in zip(state.n, table["outcomes"], table["wealth"], strict=True):
                halves = math.lgamma((n + 1 + s) / 2) + math.lgamma((n + 1 - s) / 2)
                log = n * math.log(2) + halves - math.lgamma(n + 1) - math.log(math.pi)
                assert math.log(wealth) >= log - 1e-9


@pytest.mark.parametrize("learner", [KT(), MTFTRLKT()], ids=repr)
def test_bets_stay_within_their_limit_until_the_end(learner):
    """A stream that lets a bettor win ever more is followed at the limit, and no further."""
    limited, free = make(learner, lipschitz="adaptive"), make(learner)
    for _ in range(300):
        for agent in GRAPH:
            for net in (limited, free):
                net.update(agent, [1.0, 0.0])
    rows, heard = (1, 300) if isinstance(learner, KT) else (3, 900)
    at_limit = math.sqrt((1 if rows == 1 else 2 * rows / (rows + 1)) * (1 + heard))
    assert np.linalg.norm(limited.predict(0)) == pytest.approx(at_limit, rel=0.3)
    assert np.linalg.norm(limited.predict(0)) <= at_limit * (1 + 1e-9)
    assert np.linalg.norm(free.predict(0)) > 1e3 * at_limit


def test_an_endowed_fortune_is_a_number_of_the_machine():
    for wealth, power in ((1.0, 0), (HIGHEST, 1), (LOWEST, 1), (0.3, 2), (1.0, -1), (1.0, -7)):
        for ratio in (1e-200, 1e-100, 0.5, 1 - 1e-15):
            amount, powers = endowed(wealth, power, ratio)
            assert LOWEST <= amount <= HIGHEST
            if power == 0:
                assert (amount, powers) == (ratio * wealth + (1 - ratio), 0)
            if power == 2:
                log = math.log(wealth) + 2 * math.log(STEP) + math.log(ratio)
                assert math.log(amount) + powers * math.log(STEP) == pytest.approx(log)


def test_gradients_of_zero_are_no_unit():
    net = make(KT(), lipschitz="adaptive")
    for g in ([0.0, 0.0], [1e-160, 0.0]):
        net.update(0, g)
        assert net.peers.state.longest[0] == 0.0
    net.update(0, [3.0, 4.0])
    assert net.peers.state.longest.tolist() == [5.0, 0.0, 0.0, 0.0, 0.0]
