"""Agents in the field, one by one, play what their network in one block plays, to the bit."""

import itertools

import numpy as np
from hypothesis import given, settings

import mtcool
from field_cases import CLOSED_FORMS, HEDGES, cases
from field_networks import network, simulate, traffic
from mtcool.agents import Carrier


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
