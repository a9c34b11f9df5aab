"""One agent in the field: what it takes, what it refuses, and the networks that agents form."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import mtcool
from mtcool.agents import (
    Announcement,
    FieldAgent,
    FieldGradient,
    FieldRequest,
    FieldRow,
    Gradient,
    kernels,
)
from mtcool.axes import state_arrays
from mtcool.learners import FTRL, MTFTRL, MTFTRLKT
from support.carrier import Carrier

STAR = mtcool.graphs.star(4)
HALF = np.array([0.5, 0.0]).tobytes()


def network(learner=None, graph=STAR, delays=None, **messages):
    said = mtcool.Messages(**messages)
    return mtcool.mt_co2ol(
        graph, 2, learner=learner or MTFTRLKT(), messages=said, delays=delays, rates="adaptive"
    )


def play(net_or_carrier, rounds=20, seed=0, agents=(0, 1, 2, 3)):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        gradient = rng.standard_normal(2)
        net_or_carrier.update(agents[rng.integers(len(agents))], gradient / 9)


def carrier_of(net):
    return Carrier(net.agents().values())


def content(agent):
    """Everything that an agent knows, to the bit."""
    arrays = [array.tobytes() for _, array in state_arrays(agent.clique.state)]
    return arrays, pickle.dumps([agent.clique.account, agent.neighbours, agent.begun])


# --- messages ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_gradient_is_learned_once_in_any_order(order):
    agent = network().agent(0)
    messages = [FieldGradient(1, float(n), 0.25, 0.0, HALF) for n in (0, 1, 7)]
    for place in order:
        agent.receive(messages[place])
        before = content(agent)
        agent.receive(messages[place])
        assert content(agent) == before
    assert agent.clique.state.inner.n[0] == 3


@pytest.mark.parametrize("code", [{}, {"bits": 3}])
def test_rounds_with_copies_of_every_message_are_the_same_rounds(code, monkeypatch):
    net = network(**code)
    once, twice = carrier_of(net), carrier_of(net)
    play(once)
    receive = FieldAgent.receive
    monkeypatch.setattr(
        FieldAgent, "receive", lambda agent, said: receive(agent, said) and receive(agent, said)
    )
    play(twice)
    for one, two in zip(once.agents.values(), twice.agents.values(), strict=True):
        assert content(one) == content(two)


def test_the_newest_row_is_kept_and_one_of_a_vanished_edge_is_dropped():
    agent = network(delays=mtcool.Delays(rows=1)).agent(0)
    for _ in range(3):
        agent.activate()
    rows = [FieldRow(1, float(n), 0.5 * n, np.full(2, float(n)).tobytes()) for n in range(3)]
    for n, kept in ((1, 1), (0, 1), (2, 2)):
        agent.receive(rows[n])
        assert agent.neighbours[1].kept.number == kept
    assert agent.neighbours[1].kept.row.tolist() == [2.0, 2.0]
    agent.disconnect(1)
    assert agent.receive(rows[2]) is None
    agent.connect(1, 1)
    assert agent.neighbours[1].kept is None


def test_a_partner_without_a_row_is_left_out_and_one_that_is_late_is_heard_with_its_old_row():
    agent = network(delays=mtcool.Delays(rows=1)).agent(0)
    first = agent.activate()
    assert list(first.requests) == [1, 2, 3]
    assert first.predict({}).tolist() == [0.0, 0.0]
    assert first.learn([0.1, 0.0]) == {}
    agent.receive(FieldRow(2, 0.0, 0.0, HALF))
    second = agent.activate()
    second.predict({})
    ((name, message),) = second.learn([0.1, 0.0]).items()
    assert (name, message.weight, message.number) == (2, 0.5, 1.0)


REFUSED = {
    "a stranger": (FieldRequest("nobody", 0.0), "sender must be a neighbour of agent 0"),
    "itself": (FieldRequest(0, 0.0), "sender must be a neighbour of agent 0"),
    "another kind": (Gradient(1, 1.0, np.zeros(2)), "message must be one of agents in the field"),
    "a round before the first": (FieldRequest(1, -1.0), "number must be a whole number from 0"),
    "half a round": (FieldGradient(1, 0.5, 0.1, 0.0, HALF), "number must be a whole number"),
    "a heavy gradient": (FieldGradient(1, 0.0, 1.2, 0.0, HALF), "weight must be at most 1.0"),
    "no weight": (FieldGradient(1, 0.0, 0.0, 0.0, HALF), "weight must be positive"),
    "the future": (FieldGradient(1, 0.0, 0.2, 1.0, HALF), "stamp must be at most 0.0, got 1.0"),
    "a long gradient": (
        FieldGradient(1, 0.0, 0.2, 0.0, np.ones(2).tobytes()),
        "gradient must have norm at most 1.0, got norm 1.41",
    ),
    "a NaN": (
        FieldGradient(1, 0.0, 0.2, 0.0, np.full(2, np.nan).tobytes()),
        "gradient of agent 1 must be finite",
    ),
    "few bytes": (FieldGradient(1, 0.0, 0.2, 0.0, b"few"), "content must have 16 bytes, got 3"),
    "a row of no round": (FieldRow(1, 3.0, 0.0, HALF), "number must be that of a round before 0"),
    "too much": (Announcement(1, 1.5), "bound must be at most 1.0, got 1.5"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_bad_message_is_refused_and_changes_nothing(kind):
    agent = network(delays=mtcool.Delays(rows=1)).agent(0)
    message, words = REFUSED[kind]
    before = content(agent)
    with pytest.raises(ValueError, match=words):
        agent.receive(message)
    assert content(agent) == before


def test_rows_that_must_be_there_are_asked_for_and_those_of_others_are_refused():
    agents = network().agents()
    with pytest.raises(ValueError, match="rows must arrive at once in this network"):
        agents[0].receive(FieldRow(1, 0.0, 0.0, HALF))
    activation = agents[0].activate()
    answers = {to: agents[to].receive(said) for to, said in activation.requests.items()}
    wrong = [
        ({}, r"answers must have one of agent 1, got \[\]"),
        (answers | {1: answers[2]}, "answer of agent 1 must be its row"),
        (answers | {1: FieldRequest(1, 0.0)}, "answer of agent 1 must be its row"),
        (answers | {1: FieldRow(1, 1.0, 0.0, HALF)}, "number must be that of a round before 1"),
    ]
    for given, words in wrong:
        with pytest.raises(ValueError, match=words):
            activation.predict(given)
    with pytest.raises(ValueError, match="predict must be called before learn"):
        activation.learn([0.0, 0.0])
    assert agents[0].messages == 6
    activation.predict(answers)
    assert agents[0].messages == 9
    with pytest.raises(ValueError, match="predict must be called once"):
        activation.predict(answers)
    with pytest.raises(ValueError, match="gradient must have norm at most"):
        activation.learn([3.0, 4.0])
    activation.learn([0.6, 0.8])
    with pytest.raises(ValueError, match="learn must be called once"):
        activation.learn([0.6, 0.8])


# --- changes ----------------------------------------------------------------------------------


def test_what_is_announced_is_what_a_network_tells_its_cliques():
    agents = network().agents()
    assert agents[3].clique.bound == 0.5
    (said,) = agents[0].connect(9, 9).values()
    assert said.bound == 1 / 5
    assert agents[1].disconnect(0) == {}
    assert agents[1].clique.bound == 1.0
    assert {said.bound for said in agents[0].disconnect(9).values()} == {1 / 4}


def test_an_agent_that_has_left_takes_nothing_and_is_not_active():
    agent = network().agent(0)
    activation = agent.activate()
    rows = [FieldRow(name, 0.0, 0.0, HALF) for name in (1, 2, 3)]
    activation.predict({row.sender: row for row in rows})
    agent.leave()
    before = content(agent)
    assert agent.receive(FieldGradient(1, 0.0, 0.25, 0.0, HALF)) is None
    assert activation.learn([0.5, 0.0]) == {}
    assert content(agent) == before
    with pytest.raises(ValueError, match="agent must be in the network, got 0, which is not"):
        agent.activate()


def test_changes_that_cannot_be_are_refused():
    agent = network().agent(0)
    before = content(agent)
    wrong = {
        "neighbour must be a new one, got 0": lambda: agent.connect(0, 7),
        "neighbour must be a new one, got 1": lambda: agent.connect(1, 1),
        "index must be that of 2 only": lambda: agent.connect("new", 2),
        "index must be that of 0 only": lambda: agent.connect("new", 0),
        "index must be a whole number": lambda: agent.connect("new", -1),
        "labels must be numbers, strings": lambda: agent.connect(frozenset(), 7),
        "agent must be a neighbour of 0, got 'x'": lambda: agent.disconnect("x"),
        "agent must not be in the network yet, got 0": lambda: agent.join({}),
    }
    for words, change in wrong.items():
        with pytest.raises(ValueError, match=words):
            change()
    assert content(agent) == before
    with pytest.raises(ValueError, match="agent must have joined a network, got 'new'"):
        _ = FieldAgent("new", 4, agent.settings).clique


def test_agents_with_weights_of_their_own_have_the_neighbours_that_they_have():
    weights = np.array([[0.4, 0.6], [0.5, 0.5]])
    net = mtcool.mt_co2ol(
        mtcool.graphs.cliques([2]), 2, weights=weights, learner=FTRL(), messages=mtcool.Messages()
    )
    agent = net.agent(0)
    assert agent.weights == {0: 0.4, 1: 0.6}
    for change in (lambda: agent.connect(2, 2), lambda: agent.disconnect(1), agent.leave):
        with pytest.raises(ValueError, match="weights must be uniform in a network whose graph"):
            change()


def test_agents_refuse_what_a_network_refuses():
    carrier = carrier_of(network())
    carrier.leave(3)
    wrong = {
        "agent must be in the network, got 3": lambda: carrier.update(3, [0.0, 0.0]),
        "neighbour must be a new one, got 1": lambda: carrier.connect(0, 1),
        "agent must be a neighbour of 1, got 2": lambda: carrier.disconnect(1, 2),
        "gradient must have norm at most": lambda: carrier.update(0, [3.0, 4.0]),
    }
    before = [content(agent) for agent in carrier.agents.values()]
    for words, act in wrong.items():
        with pytest.raises(ValueError, match=words):
            act()
    assert [content(agent) for agent in carrier.agents.values()] == before


# --- copies, and networks ---------------------------------------------------------------------


@pytest.mark.parametrize("learner", [MTFTRLKT(), MTFTRL()])
@pytest.mark.parametrize("copied", [copy.copy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_goes_on_to_the_bit_with_the_code_that_is_compiled(learner, copied):
    delays = mtcool.Delays(rows=mtcool.Delay(mean=1.0))
    carrier = carrier_of(network(learner, delays=delays, partners=2, choose="best", bits=9))
    for near in ([0, 1], [0]):  # cliques double
        carrier.join(len(carrier.agents), near)
    play(carrier, agents=range(6))
    names = ("read_row", "learn_credited", "raise_alone", "grow_alone")
    compiled = {name: len(getattr(kernels, name).signatures) for name in names}
    agent = carrier.agents[0]
    assert agent.clique.doublings == 1
    again = copied(agent)
    assert content(again) == content(agent)
    before = content(again)
    carrier.agents[0] = copied(agent)
    carrier.connect(0, 5) if 5 not in agent.neighbours else carrier.disconnect(0, 5)
    play(carrier, 9, 1, agents=range(6))
    assert content(again) == before
    assert content(carrier.agents[0]) != before
    assert compiled == {name: len(getattr(kernels, name).signatures) for name in names}


def test_a_network_with_something_under_way_is_not_cut():
    net = network(delays=mtcool.Delays(gradients=2, labels=3))
    net.update(0, [0.5, 0.0])
    with pytest.raises(ValueError, match="got 3 messages and 0 labels that are still to come"):
        net.agents()
    late = network(delays=mtcool.Delays(labels=3))
    mtcool.simulate(late, mtcool.Stream([0], mtcool.streams.linear([[0.5, 0.0]])))
    with pytest.raises(ValueError, match="got 0 messages and 1 labels that are still to come"):
        late.agent(2)


def test_gradients_from_before_the_cut_are_old():
    net = network()
    agents = net.agents()
    activation = agents[3].activate()
    activation.predict({0: agents[0].receive(activation.requests[0])})
    message = activation.learn([0.5, 0.0])[0]
    net.update(3, [0.5, 0.0])
    agent = net.agent(0)
    before = content(agent)
    agent.receive(message)
    assert content(agent) == before


def test_a_network_of_agents_knows_what_was_lost(tmp_path):
    """What agents promised and cliques did not receive; late is what may have been late."""
    net = network(MTFTRL(), delays=mtcool.Delays(lost=0.3))
    play(net)
    carrier = carrier_of(net)
    for each in (net, carrier):
        play(each, 30, 1)
    again = mtcool.Network.from_agents(carrier.agents.values(), STAR)
    found, expected = again.received(), net.received()
    for name in ("updates", "lagged", "squares", "lag", "bound", "first_bound", "slots"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    assert expected.lost.max() > 1.0
    np.testing.assert_allclose(found.lost, expected.lost, rtol=1e-9)
    assert (found.late >= expected.late).all()
    again.save(tmp_path / "net.npz")
    np.testing.assert_array_equal(mtcool.load(tmp_path / "net.npz").received().lost, found.lost)


def test_agents_are_put_together_when_nothing_is_under_way_any_more():
    """Silent rounds let everything arrive."""
    net = network(MTFTRL(), delays=mtcool.Delays(gradients=3, rows=1), budget=60)
    carrier = carrier_of(net)
    for each in (net, carrier):
        play(each, 100)
    assert carrier.under_way == 0
    again = mtcool.Network.from_agents(carrier.agents.values(), STAR)
    assert net.received().lost.max() < 1e-9
    np.testing.assert_array_equal(again.received().lost, np.zeros(4))
    for name in range(4):
        np.testing.assert_array_equal(again.predict(name), net.predict(name))


def test_agents_may_begin_with_one_of_them():
    settings = network().settings
    carrier = Carrier([FieldAgent("first", 0, settings)])
    with pytest.raises(ValueError, match="agent must be in the network, got 'first'"):
        carrier.update("first", [0.5, 0.0])
    carrier.join("first")
    carrier.join("second", ["first"])
    for name in ("first", "second", "first"):
        carrier.update(name, [0.5, 0.0])
    near = mtcool.Graph.from_edges([("first", "second")], ["first", "second"])
    net = mtcool.Network.from_agents(carrier.agents.values(), near)
    assert net.names.start.size == 1
    for name in near.labels:
        np.testing.assert_array_equal(net.predict(name), carrier.update(name, [0.0, 0.0]))
        net.update(name, [0.0, 0.0])


def test_probabilities_are_kept_by_those_that_were_there():
    q = (0.25,) * 4
    net = mtcool.mt_co2ol(
        mtcool.graphs.complete(4),
        1,
        learner=MTFTRLKT(),
        rates="adaptive",
        weights="proportional",
        q=q,
        messages=mtcool.Messages(),
    )
    net.join("new", [0])
    assert [agent.settings.q for agent in net.agents().values()] == [(0.25,)] * 4 + [()]
    again = mtcool.Network.from_agents(net.agents().values(), net.graph)
    assert again.settings == net.settings


def test_agents_that_do_not_belong_together_form_no_network():
    carrier = carrier_of(network())
    carrier.leave(1)
    there = [carrier.agents[name] for name in (0, 2, 3)]
    left = mtcool.Graph.from_edges([(0, 2), (0, 3)], [0, 2, 3])
    with pytest.raises(ValueError, match="got 2 of index 2 in place 1: one that has left"):
        mtcool.Network.from_agents(there, left)
    carrier.join(1)
    with pytest.raises(ValueError, match="got 0, which does not know 1"):
        mtcool.Network.from_agents(carrier.agents.values(), STAR)
    alone = network(graph=mtcool.graphs.edgeless(4)).agents()
    with pytest.raises(ValueError, match="got 0, which has a row of 1"):
        mtcool.Network.from_agents(
            [carrier.agents[0], alone[1], carrier.agents[2], carrier.agents[3]],
            mtcool.Graph.from_edges([(0, 2), (0, 3)], range(4)),
        )
