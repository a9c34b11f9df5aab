"""Agents in the field, one by one, play what their network in one block plays, to the bit."""

import itertools
import tempfile

import numpy as np
from hypothesis import given, settings

import mtcool
from field_cases import CLOSED_FORMS, HEDGES, cases
from field_networks import network, simulate, traffic
from mtcool.axes import state_arrays
from mtcool.learners import KT, MTFTRLKT
from support.carrier import Carrier


def carrier_of(net):
    return Carrier(net.agents().values())


def caused(carrier):
    """Messages and bytes that the rounds of each agent have caused, by name."""
    agents = carrier.agents.values()
    return {agent.name: (agent.messages, agent.message_bytes) for agent in agents}


def assert_the_same_rounds(case):
    """By ask and tell: labels are there at once."""
    net = network(case)
    carrier = carrier_of(net)
    for step in case.steps:
        if step[0] == "round":
            expected = net.predict(step[1])
            np.testing.assert_array_equal(carrier.update(*step[1:]), expected, err_msg=f"{step}")
            net.update(*step[1:])
        else:
            case.tell(net, step)
            case.tell(carrier, step)
    assert caused(carrier) == traffic(net)
    if carrier.under_way == 0:
        for name, agent in net.agents().items():
            assert known(carrier.agents[name]) == known(agent)


def known(agent):
    """All that an agent knows, to the bit, but what only a whole network can know."""
    clique, near = agent.clique, agent.neighbours
    said = {name: (n.index, n.score, plain(n.kept)) for name, n in near.items()}
    account = (clique.account.received, clique.account.lag, clique.account.lags)
    return {
        "numbers": (agent.index, agent.begun, agent.fresh, clique.slots, clique.doublings),
        "rows": clique.rows,
        "neighbours": said,
        "weights": (clique.bound, account, agent.weights),
        "learned": {name: array.tobytes() for name, array in state_arrays(clique.state)},
    }


def plain(value):
    """Vectors as bytes; none at all is the same as zeros."""
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    if isinstance(value, np.ndarray):
        return value.tobytes() if value.any() else None
    return value


@settings(max_examples=60)
@given(cases(CLOSED_FORMS, sizes=True))
def test_closed_forms_play_the_same_rounds(case):
    assert_the_same_rounds(case)


@settings(max_examples=20)
@given(cases(HEDGES, sizes=True))
def test_hedge_plays_the_same_rounds(case):
    assert_the_same_rounds(case)


@settings(max_examples=20)
@given(cases(changes=False, sizes=True))
def test_agents_with_weights_of_their_own_play_the_same_rounds(case):
    assert_the_same_rounds(case)


@settings(max_examples=40)
@given(cases(CLOSED_FORMS, sizes=True))
def test_rounds_whose_labels_are_late_are_those_of_simulate(case):
    net = network(case)
    carrier = carrier_of(net)
    trace = simulate(case, net)
    np.testing.assert_array_equal(case.play(carrier), trace.predictions)
    assert caused(carrier) == traffic(net)


def test_the_best_partners_are_those_of_the_block():
    said = mtcool.Messages(partners=2, choose="best")
    net = mtcool.mt_co2ol(
        mtcool.graphs.complete(5), 2, learner=MTFTRLKT(), rates="adaptive", messages=said
    )
    carrier, rng = carrier_of(net), np.random.default_rng(0)
    goals = rng.standard_normal((5, 2))
    for name in rng.integers(5, size=100).tolist():
        gradient = np.clip(net.predict(name) - goals[name], -0.5, 0.5)
        np.testing.assert_array_equal(carrier.update(name, gradient), net.predict(name))
        net.update(name, gradient)
    scores = {near.score for agent in carrier.agents.values() for near in agent.neighbours.values()}
    assert len(scores) == 20  # everybody has been heard


def test_bounds_are_announced_in_the_order_of_the_block():
    """Where a bound rises twice, a bettor's wealth is rounded twice."""
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (0, 5), (0, 6)]
    graph, said = mtcool.Graph.from_edges(edges, range(7)), mtcool.Messages(bits=1)
    net = mtcool.mt_co2ol(graph, 2, learner=KT(), messages=said)
    for name in (1, 1, 2, 1):
        net.update(name, [0.3, 0.4])
    carrier = carrier_of(net)
    for each in (net, carrier):
        each.leave(0)
    assert carrier.agents[1].clique.bound == 0.5
    assert carrier.agents[1].clique.state.wealth[0] == net.peers.state.learner.wealth[1]


def bring_back(net):
    """Let all agents in that have left, without neighbours."""
    for name in set(net.names.labels) - set(net.graph.labels):
        net.join(name)


@settings(max_examples=40)
@given(cases(CLOSED_FORMS, delays=False))
def test_a_running_network_is_cut_into_agents_and_put_together_again(case):
    assert_cut_and_joined(case)


@settings(max_examples=10)
@given(cases(HEDGES, delays=False))
def test_a_running_network_of_hedges_is_cut_and_put_together_again(case):
    assert_cut_and_joined(case)


def saved_and_loaded(net):
    with tempfile.TemporaryDirectory() as folder:
        net.save(f"{folder}/net.npz")
        return mtcool.load(f"{folder}/net.npz")


def assert_cut_and_joined(case):
    net = network(case)
    for step in case.steps:
        case.tell(net, step)
    bring_back(net)
    carrier = carrier_of(net)
    for name, gradient in case.rounds():
        np.testing.assert_array_equal(carrier.update(name, gradient), net.predict(name))
        net.update(name, gradient)
    again = mtcool.Network.from_agents(carrier.agents.values(), net.graph)
    assert again.settings == net.settings
    assert traffic(again) == traffic(net)
    again = saved_and_loaded(again)
    for name, gradient in case.rounds():
        np.testing.assert_array_equal(again.predict(name), net.predict(name))
        again.update(name, gradient)
        net.update(name, gradient)
    for one, two in itertools.combinations(net.graph.labels, 2):  # rows and slots are those of old
        connected = two in carrier.agents[one].neighbours
        for each in (again, net):
            (each.disconnect if connected else each.connect)(one, two)
    for name in net.graph.labels:
        np.testing.assert_array_equal(again.predict(name), net.predict(name))
