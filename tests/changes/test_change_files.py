"""Schedules in files: what is written is read, as people write it, or refused by its line."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.changes.histories import histories

from mtcool.changes import Change, Schedule, connect, disconnect, join, leave
from mtcool.changes import read_changes as read
from mtcool.changes import write_changes as write
from mtcool.graphs import Graph, ring

HEAD = "time,event,agent,others\n"
ONE_LINE = st.text(min_size=1).filter(lambda text: text.splitlines() == [text] == [text.strip()])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("changes") / "changes.csv"


def as_text(change):
    return Change(change.time, change.event, tuple(map(str, change.agents)))


@given(names=st.lists(ONE_LINE, min_size=1, max_size=5, unique=True), time=st.floats(0, 1e6))
def test_any_names_of_one_line_come_back(names, time, path):
    schedule = Schedule([join(time, names[0], names[1:]), leave(time, names[-1])])
    write(schedule, path)
    assert read(path) == schedule


@given(history=histories(names=["rome", "new york, ny", "a;b"], strangers=["oslo", 'the "other"']))
def test_a_schedule_comes_back(history, path):
    start, changes, _ = history
    write(Schedule(changes), path)
    assert list(read(path)) == changes
    read(path).check(start)


@given(history=histories(names=[0, 1, 2], strangers=[3, -4]))
def test_whole_numbers_come_back_as_text_and_mean_the_same_agents(history, path):
    start, changes, _ = history
    write(Schedule(changes), path)
    found = read(path)
    assert list(found) == [as_text(change) for change in changes]
    assert list(found.agents(start)) == list(Schedule(changes).agents(start))
    for one, other in zip(found.compile(start), Schedule(changes).compile(start), strict=True):
        assert (one == other).all()


READ = {
    "plain": HEAD + "3,connect,a,b\n3.5,join,c,a;b\n4,leave,a,\n5,disconnect,c,b\n",
    "blanks": "time, event, agent, others\n3, connect, a, b\n3.5,join,c, a ; b\n 4 ,leave,a\n"
    "5,disconnect,c,b",
    "a mark, capitals and empty lines": "\ufeffTime,EVENT,Agent,Others\r\n\r\n3,Connect,a,b\r\n"
    "3.5,join,c,a;b\r\n,,,\r\n4.0,LEAVE,a,\r\n5,disconnect,c,b\r\n\r\n",
    "columns in another order": "others,agent,why,event,time\nb,a,love,connect,3\na;b,c,,join,3.5\n"
    ",a,,leave,4\nb,c,,disconnect,5\n",
    "semicolons": 'time;event;agent;others\n3;connect;a;b\n3.5;join;c;"a;b"\n4;leave;a;\n'
    "5;disconnect;c;b\n",
    "tabs": "time\tevent\tagent\tothers\n3\tconnect\ta\tb\n3.5\tjoin\tc\ta;b\n4\tleave\ta\n"
    "5\tdisconnect\tc\tb\n",
    "quotes": HEAD + '3,connect,"a","b"\n3.5,join,c,"""a"";b"\n4,leave,a,\n5,disconnect,c,b\n',
}


@pytest.mark.parametrize("name", READ)
def test_files_are_read_as_people_write_them(name, path):
    path.write_text(READ[name], encoding="utf-8", newline="")
    expected = [
        connect(3, "a", "b"),
        join(3.5, "c", ["a", "b"]),
        leave(4, "a"),
        disconnect(5, "c", "b"),
    ]
    assert list(read(path)) == expected


def test_a_file_without_changes_is_a_schedule_without_changes(path):
    path.write_text(HEAD)
    assert len(read(path)) == 0


REFUSED = {
    "nothing": (
        "",
        "line 1 of changes.csv must be a header with the columns time, event, agent, o",
    ),
    "no header": ("3,connect,a,b\n", "line 1 of changes.csv must be a header"),
    "a column twice": ("time,event,agent,others,time\n", "must be a header .* each once"),
    "no time": (HEAD + ",leave,a,\n", "line 2 of changes.csv must be a change: time must be a num"),
    "a word for a time": (HEAD + "soon,leave,a,\n", "line 2 .* time must be a number, got 'soon'"),
    "NaN": (HEAD + "1,leave,a,\nnan,leave,b,\n", "line 3 of .* time must be finite, got nan"),
    "before the start": (HEAD + "-1,leave,b,\n", "line 2 of .* time must not be negative, got -1"),
    "backwards": (
        HEAD + "2,leave,a,\n1,leave,b,\n",
        "line 3 of .* must not go back in time, got 1",
    ),
    "another event": (HEAD + "1,marry,a,b\n", "line 2 of .* event must be one of .* got 'marry'"),
    "one end": (HEAD + "1,connect,a,\n", "line 2 of .* agents must be two agents to connect"),
    "three ends": (HEAD + "1,connect,a,b;c\n", "line 2 of .* two agents to connect, got .*'c'"),
    "a loop": (HEAD + "1,connect,a,a\n", "line 2 of .* agents must be different"),
    "no name": (HEAD + "1,join,,a\n", "line 2 of .* agents must have names"),
    "an empty name": (HEAD + "1,join,a,b;;c\n", "line 2 of .* agents must have names"),
    "too many cells": (
        "time;event;agent;others\n1;join;a;b;c\n",
        "line 2 of .* 4 cells at most, got 5",
    ),
    "an open quote": (HEAD + '1,leave,a,\n2,leave,"b,\n', "line 3 of .* must be a row of a table"),
    "an open quote inside": (HEAD + '1,join,a,"""b"\n', "line 2 of .* others must be names with ;"),
    "below a name of two lines": (HEAD + '1,leave,"a\nb",\n1,wed,a,\n', "line 4 of .* event must"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_change_is_refused_by_its_line(name, path):
    text, complaint = REFUSED[name]
    path.write_text(text)
    with pytest.raises(ValueError, match=complaint):
        read(path)


def test_a_change_that_does_not_fit_the_graph_is_refused_by_its_line(path):
    path.write_text(HEAD + "1,connect,0,2\n\n2,connect,2,0\n")
    with pytest.raises(
        ValueError, match=r"^line 4 of changes\.csv must connect agents that have no"
    ):
        read(path).check(ring(4))
    with pytest.raises(ValueError, match=r"^line 4 of changes\.csv must"):
        read(path)[1:].compile(Graph.from_edges([("0", "2")]))


@pytest.mark.parametrize("name", ["", " a", "a\nb", "a\x85", "\ud800", 1.5, None, True, ("a", 1)])
def test_a_name_that_would_not_come_back_is_not_written(name, path):
    path.write_text("precious")
    with pytest.raises(ValueError, match="agents must be whole numbers, or a line of text"):
        write(Schedule([leave(1, name)]), path)
    assert path.read_text() == "precious"


def test_paths_and_schedules_of_a_wrong_kind_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"path must be a file, got .*nowhere"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(ValueError, match="path must be that of a file, got None"):
        read(None)
    with pytest.raises(ValueError, match="schedule must be a Schedule, got \\[\\]"):
        write([], tmp_path / "x.csv")
    with pytest.raises(ValueError, match="path must be that of a file, got None"):
        write(Schedule([]), None)
    (tmp_path / "latin.csv").write_bytes(HEAD.encode() + b"1,leave,Z\xfcrich,\n")
    with pytest.raises(ValueError, match="path must be a file of UTF-8 text"):
        read(tmp_path / "latin.csv")


def test_names_of_a_graph_file_and_of_a_schedule_file_are_the_same(tmp_path):
    nx.write_graphml(nx.path_graph(3), tmp_path / "net.graphml")
    (tmp_path / "changes.csv").write_text(HEAD + "1,connect,0,2\n2,join,3,0;1\n")
    from mtcool.graphs import read_graph

    graph = read_graph(tmp_path / "net.graphml")
    assert read(tmp_path / "changes.csv").agents(graph) == ("0", "1", "2", "3")
