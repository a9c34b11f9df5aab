"""Schedules: what they do to a graph, with networkx as the oracle, and what they refuse."""

import math
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from tests.changes.histories import histories

import mtcool
from mtcool.changes import (
    CONNECT,
    DISCONNECT,
    JOIN,
    LEAVE,
    Change,
    Schedule,
    connect,
    disconnect,
    join,
    leave,
)
from mtcool.graphs import Graph, as_graph, edgeless, ring

PATH = nx.path_graph(["rome", "milan", "turin"])


@given(histories())
def test_the_graph_at_a_time_is_that_of_networkx_after_all_changes_up_to_it(history):
    start, changes, after = history
    schedule = Schedule(changes)
    schedule.check(start)
    names = list(schedule.agents(start))
    for time in {0, 0.5, *(change.time for change in changes)}:
        happened = sum(change.time <= time for change in changes)
        expected = after[happened - 1] if happened else start
        found = schedule.graph_at(start, time)
        assert nx.utils.graphs_equal(found.to_networkx(), expected)
        assert list(found.labels) == [name for name in names if name in expected]


@given(histories())
def test_agents_are_those_of_the_graph_then_those_that_join_in_the_order_of_first_joining(history):
    start, changes, _ = history
    joined = [change.agents[0] for change in changes if change.event == "join"]
    assert list(Schedule(changes).agents(start)) == list(dict.fromkeys([*start, *joined]))


@given(histories())
def test_compiled_events_are_the_changes_by_index(history):
    start, changes, _ = history
    schedule = Schedule(changes)
    names, events = schedule.agents(start), schedule.compile(start)
    kinds = {CONNECT: "connect", DISCONNECT: "disconnect", JOIN: "join", LEAVE: "leave"}
    dtypes = (np.int64, np.uint8, np.int64, np.int64, np.int64, np.int32)
    assert tuple(array.dtype for array in events) == dtypes
    assert events.start.shape == (len(changes) + 1,)
    assert events.others.shape == (events.start[-1],)
    for k, change in enumerate(changes):
        assert events.time[k] - 1 < change.time <= events.time[k]
        assert kinds[events.kind[k]] == change.event
        others = events.others[events.start[k] : events.start[k + 1]]
        assert (np.diff(others) > 0).all()
        second = [names[events.second[k]]] if events.second[k] >= 0 else []
        named = [names[events.first[k]], *second, *(names[i] for i in others)]
        assert named[0] == change.agents[0]
        assert set(named) == set(change.agents)
        assert (others.size > 0) <= (change.event == "join")
        assert (events.second[k] >= 0) == (change.event in ("connect", "disconnect"))


def test_compiled_neighbours_ascend_whatever_their_order_was():
    for neighbours in ([16, 8, 1], [1, 8, 16]):
        events = Schedule([join(1, "new", neighbours)]).compile(ring(17))
        assert events.others.tolist() == [1, 8, 16]


@given(histories())
def test_a_schedule_is_a_sequence_that_can_be_cut_compared_and_copied(history):
    _, changes, _ = history
    schedule = Schedule(changes)
    assert list(schedule) == changes
    assert len(schedule) == len(changes)
    assert schedule[:2] == Schedule(changes[:2])
    assert not changes or schedule[-1] == changes[-1]
    copy = pickle.loads(pickle.dumps(schedule))
    assert copy == schedule
    assert hash(copy) == hash(schedule)
    assert schedule != Schedule([*changes, leave(99, "rome")])


def test_the_repr_of_a_change_makes_it_again():
    for change in (connect(1, "a", 2), disconnect(0.5, 1, 2), join(3, "a", [1]), leave(4, "a")):
        assert eval(repr(change)) == change
    assert repr(join(3, "a")) == "join(3, 'a', [])"


def test_whole_times_are_whole_numbers_whatever_they_were():
    for time in (3, 3.0, np.float64(3), np.int32(3)):
        change = leave(time, "rome")
        assert type(change.time) is int
        assert change == leave(3, "rome")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            [connect(1, "rome", "oslo")],
            r"schedule\[0\] must connect agents that are present, got 'o",
        ),
        ([disconnect(1, "oslo", "rome")], "must disconnect agents that are present, got 'oslo'"),
        ([leave(1, "oslo")], "must let an agent leave that is present, got 'oslo'"),
        ([join(1, "oslo", ["paris"])], "must join neighbours that are present, got 'paris'"),
        (
            [connect(1, "rome", "milan")],
            "must connect agents that have no edge, got 'rome' and 'mi",
        ),
        ([disconnect(1, "rome", "turin")], "must disconnect agents that have an edge, got 'rome'"),
        ([join(1, "rome")], "must join an agent that is not present, got 'rome'"),
        (
            [join(1, "oslo"), leave(2, "milan"), connect(2, "rome", "milan")],
            r"schedule\[2\] must connect agents that are present, got 'milan', who has left",
        ),
        (
            [leave(1, "milan"), join(2, "milan", ["rome"]), connect(3, "rome", "milan")],
            r"schedule\[2\] must connect agents that have no edge",
        ),
        (
            [leave(1, "milan"), join(2, "milan"), disconnect(3, "rome", "milan")],
            r"schedule\[2\] must disconnect agents that have an edge",
        ),
        ([leave(1, "rome"), leave(1, "milan"), leave(1, "turin")], r"\[2\] must leave somebody in"),
    ],
)
def test_a_change_that_does_not_fit_is_refused_by_its_number(changes, complaint):
    schedule = Schedule(changes)
    for act in (schedule.check, schedule.agents, schedule.compile):
        with pytest.raises(ValueError, match=complaint):
            act(PATH)
    with pytest.raises(ValueError, match=complaint):
        schedule.graph_at(PATH, 3)
    assert schedule.graph_at(PATH, 0).edge_count == 2


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: connect(1, "rome", "rome"), "agents must be different.*'rome', 'rome'"),
        (lambda: join(1, "rome", ["rome"]), "agents must be different"),
        (lambda: join(1, "rome", ["oslo", "oslo"]), "agents must be different"),
        (lambda: join(1, "oslo", "rome"), "neighbours must be a sequence of names, got 'rome'"),
        (lambda: join(1, "oslo", 3), "neighbours must be a sequence of names, got 3"),
        (lambda: leave(math.nan, "rome"), "time must be finite, got nan"),
        (lambda: leave(math.inf, "rome"), "time must be finite, got inf"),
        (lambda: leave(-1, "rome"), "time must not be negative, got -1"),
        (lambda: leave(True, "rome"), "time must be a number, got True"),
        (lambda: leave("3", "rome"), "time must be a number, got '3'"),
        (lambda: leave(2**53 + 2, "rome"), "time must be at most 9007199254740992"),
        (lambda: leave(3, ["rome"]), "agents must be hashable"),
        (lambda: leave(3, float("nan")), "agents must have names that equal themselves, got"),
        (lambda: Change(1, "marry", ("rome", "oslo")), "event must be one of .*got 'marry'"),
        (lambda: Change(1, "leave", ("rome", "oslo")), "agents must be one agent to leave"),
        (lambda: Change(1, "connect", ("rome",)), "agents must be two agents to connect"),
        (lambda: Change(1, "join", ()), "agents must be one agent or more to join"),
        (lambda: Change(1, "leave", "r"), "agents must be a sequence of names, got 'r'"),
        (
            lambda: Schedule([leave(2, "a"), leave(1, "b")]),
            r"\[1\] must not go back in time, got 1",
        ),
        (lambda: Schedule([(1, "leave", "a")]), "changes must be made by connect.* position 0"),
        (lambda: Schedule(3), "changes must be made by connect.*got 3"),
        (lambda: Schedule([]).graph_at(PATH, -1), "time must not be negative, got -1"),
        (lambda: Schedule([]).check("ring"), "graph must be a networkx graph"),
    ],
)
def test_what_is_no_change_at_all_is_refused_when_it_is_made(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()


def test_text_names_the_agent_whose_number_it_is():
    schedule = Schedule([connect(1, "0", "2"), join(2, "7", ["0"]), leave(3, "7")])
    assert schedule.agents(ring(4)) == (0, 1, 2, 3, 7)
    assert schedule.graph_at(ring(4), 2).to_networkx().has_edge(0, 7)
    assert schedule.compile(ring(4)).first.tolist() == [0, 4, 4]
    ones = nx.path_graph([10, np.int64(20), 30])
    assert Schedule([connect(1, "10", "30"), join(2, "40")]).agents(ones) == (10, 20, 30, 40)


def test_text_is_taken_as_it_is_if_somebody_has_that_name_or_if_it_is_no_number_as_written():
    texts = nx.path_graph(["0", "1", 2])
    schedule = Schedule([connect(1, "0", "2"), join(2, "7"), join(2, "02"), join(3, 7)])
    assert schedule.agents(texts)[:5] == ("0", "1", 2, "7", "02")
    assert schedule.graph_at(texts, 1).to_networkx().has_edge("0", 2)
    assert Schedule([join(1, "04")]).agents(ring(3)) == (0, 1, 2, "04")


def test_two_ways_to_name_an_agent_are_one_agent():
    for change in (connect(1, 0, "0"), join(1, 9, [0, "0"]), join(1, "0")):
        with pytest.raises(ValueError, match=r"schedule\[0\] must (connect two|join)"):
            Schedule([change]).check(ring(4))


def test_agents_that_go_on_counting_are_a_range():
    assert Schedule([join(1, 4), join(2, "5")]).agents(ring(4)) == range(6)
    assert Schedule([]).agents(ring(4)) == range(4)


def test_only_what_changes_is_looked_at():
    """A million agents cost nothing until something happens to them."""
    network = as_graph(edgeless(1_000_000))
    schedule = Schedule([connect(1, 5, 999_999), leave(2, 5)])
    import tracemalloc

    tracemalloc.start()
    schedule.compile(network)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_changes_are_a_room_of_the_package():
    assert mtcool.changes.Schedule is Schedule
    assert isinstance(Schedule([]).graph_at(PATH, 0), Graph)
    assert repr(Schedule([])) == "Schedule(no changes)"
