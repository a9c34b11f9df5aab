"""Bad input to networks in the field: one sentence that names it, and nothing changed."""

import sys
import threading

import networkx as nx
import numpy as np
import pytest

import mtcool
from mtcool import Delay, Delays, Messages
from mtcool.changes import Schedule, connect, join, leave
from mtcool.learners import KT

simulation = sys.modules["mtcool.simulation.simulate"]  # the function has the same name


def made(graph=None, dim=1, **options):
    graph = nx.path_graph(["a", "b", "c"]) if graph is None else graph
    return mtcool.mt_co2ol(graph, dim, **{"learner": KT()} | options)


CHANGES = [
    (lambda net: net.connect("a", "z"), r"agent must be a node of the graph, got 'z'"),
    (lambda net: net.connect("a", "b"), r"must not be connected yet, got 'a' and 'b'"),
    (lambda net: net.connect("a", "a"), r"must be different, got 'a' twice"),
    (lambda net: net.connect("a", []), r"got \[\]"),
    (lambda net: net.disconnect("a", "c"), r"must be connected, got 'a' and 'c'"),
    (lambda net: net.join("a", ["b"]), r"must not be in the network yet, got 'a'"),
    (lambda net: net.join("d", ["z"]), r"got 'z'"),
    (lambda net: net.join("d", ["a", "a"]), r"neighbours must be different"),
    (lambda net: net.join("d", "ab"), r"neighbours must be names of agents, got 'ab'"),
    (lambda net: net.join("d", 3), r"neighbours must be names of agents, got 3"),
    (lambda net: net.join(["d"], ["a"]), r"agent must .*got \['d'\]"),
    (lambda net: net.leave("z"), r"got 'z'"),
]


@pytest.mark.parametrize(("change", "sentence"), CHANGES)
def test_an_impossible_change_is_refused_and_changes_nothing(change, sentence):
    net, twin = made(), made()
    for one in (net, twin):
        one.update("b", [0.5])
        one.connect("a", "c")
        one.disconnect("a", "c")
    with pytest.raises(ValueError, match=sentence):
        change(net)
    assert net.names.labels == twin.names.labels == ("a", "b", "c")
    assert net.graph.edge_count == 2
    for name in "abc":
        np.testing.assert_array_equal(net.predict(name), twin.predict(name))


def test_who_has_left_cannot_be_active_leave_again_or_be_met():
    net = made()
    net.leave("c")
    for act in (
        lambda: net.predict("c"),
        lambda: net.update("c", [0.1]),
        lambda: net.leave("c"),
        lambda: net.connect("a", "c"),
    ):
        with pytest.raises(ValueError, match=r"got 'c', which is not there now"):
            act()


def test_the_last_agent_stays():
    net = made()
    net.leave("a")
    net.leave("b")
    with pytest.raises(ValueError, match=r"must not be the last one to leave, got 'c'"):
        net.leave("c")


SETTINGS = [
    ({"messages": "few"}, r"messages must be an mtcool\.Messages, got 'few'"),
    ({"delays": 3}, r"delays must be an mtcool\.Delays, got 3"),
    ({"messages": Messages(), "lipschitz": "adaptive"}, r"lipschitz must be a number"),
    ({"messages": Messages(), "rates": "stochastic", "q": [1 / 3] * 3}, r"rates must be one of"),
    ({"messages": Messages(), "weights": "delegation"}, r"weights must be positive"),
    ({"seed": 3}, r"seed applies only to"),
]


@pytest.mark.parametrize(("options", "sentence"), SETTINGS)
def test_settings_that_do_not_go_together_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        made(**options)


def test_graphs_change_only_where_weights_are_uniform():
    weights = np.array([[0.9, 0.1, 0.0], [0.2, 0.6, 0.2], [0.0, 0.5, 0.5]])
    with pytest.raises(ValueError, match=r"weights must be uniform in a network whose graph"):
        made(weights=weights).connect("a", "c")


def test_other_algorithms_say_that_their_graph_cannot_change():
    for net in (mtcool.i_ftrl(nx.path_graph(3), 1), mtcool.st_ftrl(nx.path_graph(3), 1)):
        with pytest.raises(ValueError, match=r"changes of the graph are for mt_co2ol only"):
            net.connect(0, 2)
        assert net.graph.edge_count == 2


STREAM = mtcool.Stream([0, 1, 3, 0], mtcool.streams.linear(np.ones((4, 1))), labels="abcd")

SCHEDULES = [
    (Schedule([join(3, "d", ["a"])]), r"got 'd' in round 2, when it is not there"),
    (Schedule([join(1, "d", ["a"]), leave(2, "d")]), r"got 'd' in round 2"),
    (Schedule([join(1, "d"), connect(2, "a", "b")]), r"schedule\[1\] must .*'a' and 'b'"),
    ([connect(0, "a", "c")], r"changes must be an mtcool\.changes\.Schedule"),
]


@pytest.mark.parametrize(("schedule", "sentence"), SCHEDULES)
def test_a_schedule_that_does_not_fit_is_refused_before_anything_is_learned(schedule, sentence):
    net = made()
    with pytest.raises(ValueError, match=sentence):
        mtcool.simulate(net, STREAM, changes=schedule)
    assert net.graph.edge_count == 2
    assert not net.predict("a").any()


@pytest.mark.parametrize("change", [change for change, _ in CHANGES])
def test_a_refused_change_leaves_a_plain_network_plain(change):
    net = made()
    with pytest.raises(ValueError, match="got"):
        change(net)
    assert net.exchange.in_the_field() is None
    assert net.settings.field is None


@pytest.mark.parametrize("schedule", [schedule for schedule, _ in SCHEDULES])
def test_a_refused_schedule_leaves_a_plain_network_plain(schedule):
    net = made()
    with pytest.raises(ValueError, match="got"):
        mtcool.simulate(net, STREAM, changes=schedule)
    assert net.exchange.in_the_field() is None


def test_weights_that_are_not_uniform_leave_a_plain_network_plain():
    net = made(weights=np.array([[0.9, 0.1, 0.0], [0.2, 0.6, 0.2], [0.0, 0.5, 0.5]]))
    for change in (lambda: net.connect("a", "c"), lambda: net.join("d", ["a"])):
        with pytest.raises(ValueError, match=r"weights must be uniform in a network whose graph"):
            change()
    with pytest.raises(ValueError, match=r"weights must be uniform in a network whose graph"):
        mtcool.simulate(net, STREAM, changes=Schedule([join(0, "d", ["a"])]))
    assert net.exchange.in_the_field() is None


def test_a_schedule_with_an_agent_that_left_before_says_so():
    net = made()
    net.leave("c")
    stream = mtcool.Stream([0, 1], mtcool.streams.linear(np.ones((2, 1))), labels="ab")
    for name, why in (("c", "who has left"), ("z", "whom nobody knows")):
        with pytest.raises(ValueError, match=rf"present, got '{name}', {why}"):
            mtcool.simulate(net, stream, changes=Schedule([connect(1, "a", name)]))
    mtcool.simulate(net, stream, changes=Schedule([join(1, "c", ["a"])]))
    assert net.graph.labels == ("a", "b", "c")


@pytest.mark.parametrize("names", [range(4), "abcd"])
def test_streams_for_those_who_stayed_need_labels(names):
    """The second of those who are there is the third of all that the network knows."""
    net = made(nx.path_graph(list(names)))
    net.leave(names[1])
    agents = mtcool.changes.activations(net.graph, Schedule([]), 20, seed=0)
    losses = mtcool.streams.linear(np.ones((20, 1)))
    with pytest.raises(ValueError, match=rf"labelled after {names[1]!r} has left, .*no labels"):
        mtcool.simulate(net, mtcool.Stream(agents, losses))
    trace = mtcool.simulate(net, mtcool.Stream(agents, losses, labels=net.graph.labels))
    expected = np.insert(np.bincount(agents, minlength=3), 1, 0)
    assert trace.agent_activations.tolist() == expected.tolist()


def test_streams_need_no_labels_if_the_last_have_left():
    net = made(nx.path_graph(4))
    net.leave(3)
    stream = mtcool.Stream([0, 2], mtcool.streams.linear(np.ones((2, 1))))
    assert mtcool.simulate(net, stream).agent_activations.tolist() == [1, 0, 1, 0]


def test_a_file_of_changes_is_refused_by_line(tmp_path):
    path = tmp_path / "changes.csv"
    path.write_text("time,event,agent,others\n3,connect,a,c\n5,connect,a,b\n")
    schedule = mtcool.changes.read_changes(path)
    with pytest.raises(ValueError, match=r"line 3 of .*changes\.csv must .*'a' and 'b'"):
        mtcool.simulate(made(), STREAM, changes=schedule)


def test_delays_of_edges_may_name_agents_that_come_later():
    law = Delay(edges={("a", "new"): 2.0})
    net = made(delays=Delays(gradients=law))
    net.join("new", ["a", "b"])
    for _ in range(3):
        net.update("new", [0.5])
    # The clique of b has learned three times, that of a once: two gradients are under way.
    assert net.peers.state.learner.n[:3].tolist() == [1, 3, 0]


def test_a_stream_that_is_refused_leaves_no_names_of_those_who_would_join():
    net = made(nx.path_graph(3))
    stream = mtcool.Stream([0, 1], mtcool.streams.linear(np.ones((2, 1))))
    with pytest.raises(ValueError, match="stream must be labelled"):
        mtcool.simulate(net, stream, changes=Schedule([join(1, "new", [0])]))
    assert list(net.names.labels) == [0, 1, 2]


def test_a_network_that_never_changed_does_not_change_when_asked_what_it_received():
    net = made(rates="adaptive")
    with pytest.raises(ValueError, match="network must have messages, delays or changes"):
        net.received()
    assert net.settings.field is None


def test_no_other_thread_changes_the_graph_between_the_checks_of_a_stream_and_its_rounds(
    monkeypatch,
):
    graph, net, threads = nx.path_graph(["a", "b", "c"]), made(lipschitz=9.0), []
    stream = mtcool.streams.quadratic_stream(graph, np.zeros((3, 1)), rounds=9, seed=0)
    check = simulation.check_present

    def check_and_leave(*given):
        check(*given)
        threads.append(threading.Thread(target=net.leave, args=["c"]))
        threads[0].start()
        threads[0].join(timeout=0.2)

    monkeypatch.setattr(simulation, "check_present", check_and_leave)
    mtcool.simulate(net, stream, changes=Schedule([connect(2, "a", "c")]))
    threads[0].join()
    assert list(net.graph.labels) == ["a", "b"]
