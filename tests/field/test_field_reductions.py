"""What a network in the field does when nothing is asked of it, or when it makes no difference."""

import functools

import networkx as nx
import numba
import numpy as np
import pytest

import mtcool
from field_cases import RATES, only_uncompiled
from mtcool import Delay, Delays, Messages
from mtcool.changes import Schedule
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT

GRAPH = mtcool.graphs.erdos_renyi(8, 0.5, seed=1)
LEARNERS = {"MTFTRL": MTFTRL(), "MTFTRLKT": MTFTRLKT(), "FTRL": FTRL(), "KT": KT()}
# Hedge has a solver of its own for d = 1, which is the one that is compiled for other tests, too.
CASES = [("MTFTRL", rates, 1) for rates in RATES["MTFTRL"]]
CASES += [
    (name, rates, 3) for name in LEARNERS if name != "MTFTRL" for rates in RATES.get(name, ())
]
if numba.config.DISABLE_JIT:
    CASES += [("MTFTRL", rates, 3) for rates in RATES["MTFTRL"]]
every_learner = pytest.mark.parametrize(("learner", "rates", "dim"), CASES)

# Each differs from talking to all neighbours, exactly and at once, in words only.
NOTHING = {
    "every round": {"messages": Messages(every=1, probability=1.0)},
    "as many partners as there are": {"messages": Messages(partners=8)},
    "the best of all": {"messages": Messages(partners=8, choose="best")},
    "a budget that is never used up": {"messages": Messages(budget=10**9, budget_bytes=10**12)},
    "late by less than a round": {"delays": Delays(gradients=0.9, labels=0.5)},
    "wide links": {"delays": Delays(gradients=Delay(bandwidth=1e9))},
}


@functools.cache
def stream(dim):
    tasks = mtcool.streams.gaussian_tasks(GRAPH, dim=dim, smoothness=5.0, seed=2)
    return mtcool.streams.quadratic_stream(GRAPH, tasks, rounds=400, seed=3)


def play(learner, rates="adversarial", dim=3, changes=None, **field):
    net = mtcool.mt_co2ol(
        GRAPH,
        dim,
        learner=LEARNERS[learner],
        rates=rates,
        lipschitz=stream(dim).lipschitz(radius=1.0),
        on_excess="clip",
        **field,
    )
    return mtcool.simulate(net, stream(dim), changes=changes, per_round=True)


@every_learner
def test_a_schedule_without_changes_changes_no_bit(learner, rates, dim):
    plain, still = (play(learner, rates, dim, changes) for changes in (None, Schedule([])))
    np.testing.assert_array_equal(still.predictions, plain.predictions)
    assert still.messages[-1] == plain.messages[-1]


@pytest.mark.parametrize("name", [name for name in NOTHING if "budget" not in name])
@every_learner
def test_rules_that_forbid_nothing_change_no_bit(learner, rates, dim, name):
    field, plain = play(learner, rates, dim, **NOTHING[name]), play(learner, rates, dim)
    np.testing.assert_array_equal(field.predictions, plain.predictions)


def test_a_budget_that_is_never_used_up_only_allows_for_silence():
    # Silent rounds would have weight one, which cliques are told to expect; nothing else differs.
    trace = play("KT", **NOTHING["a budget that is never used up"])
    plain = play("KT", messages=Messages())
    assert trace.messages[-1] == plain.messages[-1]


@every_learner
def test_fine_codes_change_hardly_anything(learner, rates, dim):
    trace = play(learner, rates, dim, messages=Messages(bits=52))
    plain = play(learner, rates, dim)
    np.testing.assert_allclose(trace.predictions, plain.predictions, rtol=0.0, atol=1e-12)


@only_uncompiled
def test_the_order_in_which_late_gradients_arrive_does_not_matter_for_sums():
    rng = np.random.default_rng(0)
    gradients, nets = rng.uniform(-0.5, 0.5, (20, 2)), []
    for seed in (0, 1, 2):  # other delays, so another order
        delays = Delays(gradients=Delay(mean=5.0))
        graph = nx.star_graph(4)
        graph.add_node("idle")  # whose rounds send nothing, and let time pass
        net = mtcool.mt_co2ol(graph, 2, learner=FTRL(), delays=delays, seed=seed)
        for k, gradient in enumerate(gradients):
            net.update(1 + k % 4, gradient)
        for _ in range(200):
            net.update("idle", np.zeros(2))
        assert net.peers.state.queue.first.max() == -1  # everything has arrived
        nets.append(net)
    sums = [net.peers.state.learner.total[:5] for net in nets]
    np.testing.assert_allclose(sums[1], sums[0], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(sums[2], sums[0], rtol=0.0, atol=1e-12)
    for agent in range(5):
        np.testing.assert_allclose(nets[1].predict(agent), nets[0].predict(agent), atol=1e-12)


def test_random_delays_do_change_the_order():
    # Else the test above would say nothing.
    predictions = []
    for seed in (0, 1):
        delays = Delays(gradients=Delay(mean=5.0))
        net = mtcool.mt_co2ol(nx.star_graph(4), 1, learner=KT(), delays=delays, seed=seed)
        for k in range(20):
            net.update(1 + k % 4, [0.1 * k - 1.0])
        predictions.append(net.predict(0)[0])
    assert predictions[0] != predictions[1]


def test_rates_know_what_is_under_way():
    # Twenty gradients that arrive late count for more than their squared weights.
    late = mtcool.mt_co2ol(
        nx.complete_graph(2), 1, learner=MTFTRLKT(), rates="adaptive", delays=Delays(gradients=5)
    )
    on_time = mtcool.mt_co2ol(
        nx.complete_graph(2), 1, learner=MTFTRLKT(), rates="adaptive", messages=Messages()
    )
    for net in (late, on_time):
        for _ in range(20):
            net.update(0, [0.5])
        for _ in range(10):
            net.update(1, [0.0])
    assert late.peers.state.learner.received[1] > on_time.peers.state.learner.received[1] + 1.0


@only_uncompiled
def test_a_new_agent_begins_with_what_its_neighbours_know_in_common():
    net = mtcool.mt_co2ol(nx.path_graph(3), 1, learner=FTRL())
    for agent in (0, 1, 2) * 5:
        net.update(agent, [-0.5])
    net.join("new", [0, 1, 2])
    rows = [net.peers.state.learner.total[j, 0] for j in range(3)]
    assert min(abs(row) for row in rows) > 0.0
    expected = np.mean([net_row(net, j) for j in range(3)])
    assert net.predict("new")[0] == pytest.approx(expected, rel=1e-12)
    assert expected > 0.3


def net_row(net, clique):
    """What a clique of FTRL plays, for all of its rows."""
    state = net.peers.state.learner
    step = state.rate[clique] * np.sqrt(1.0 + state.n[clique])
    return -state.total[clique, 0] / max(step, abs(state.total[clique, 0]))


@pytest.mark.parametrize("learner", [MTFTRL(), MTFTRLKT()], ids=repr)
def test_an_edge_that_vanishes_and_returns_goes_on_where_it_was(learner):
    still, blinking = (
        mtcool.mt_co2ol(nx.path_graph(4), 1, learner=learner, rates="adaptive") for _ in range(2)
    )
    rng = np.random.default_rng(1)
    for k in range(40):
        gradient = rng.uniform(-0.5, 0.5, 1)
        if k == 20:  # nobody is active in between
            for net in (still, blinking):
                net.connect(0, 3)
            blinking.disconnect(1, 2)
            blinking.connect(1, 2)
        for net in (still, blinking):
            net.update(k % 4, gradient)
    rows = [net.peers.state.learner.inner.gradients for net in (still, blinking)]
    np.testing.assert_array_equal(rows[0], rows[1])
    # Only the bound on weights rose meanwhile: with one neighbour fewer each counts more.
    bounds = [net.peers.state.cliques["bound"][:4] for net in (still, blinking)]
    assert (bounds[1] >= bounds[0]).all()
    assert bounds[1].max() == 0.5
