"""Series of graphs: the schedule leads from each to the next."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtcool.changes import from_graphs
from mtcool.graphs import as_graph, ring

LABELS = ["rome", 2, ("a", 1), "oslo", 5]


@st.composite
def networks(draw):
    graph = nx.Graph()
    graph.add_nodes_from(draw(st.lists(st.sampled_from(LABELS), min_size=1, unique=True)))
    ends = st.sampled_from(list(graph))
    graph.add_edges_from(draw(st.lists(st.tuples(ends, ends), max_size=8)))
    return graph


def simple(graph):
    return as_graph(graph).to_networkx()


@given(st.lists(networks(), min_size=1, max_size=5))
def test_at_its_time_and_until_the_next_every_graph_is_the_network(graphs):
    times = [3 * k for k in range(len(graphs))]
    schedule = from_graphs(times, graphs)
    for time, graph in zip(times, graphs, strict=True):
        for moment in (time, time + 2):
            found = schedule.graph_at(graphs[0], moment).to_networkx()
            assert nx.utils.graphs_equal(found, simple(graph))


@given(networks(), networks())
def test_there_are_no_more_changes_than_differences(old, new):
    events = [change.event for change in from_graphs([0, 1], [old, new])]
    joining, leaving = set(new) - set(old), set(old) - set(new)
    before, after = (set(map(frozenset, simple(graph).edges)) for graph in (old, new))
    assert events.count("join") == len(joining)
    assert events.count("leave") == len(leaving)
    assert events.count("connect") == sum(not edge & joining for edge in after - before)
    assert events.count("disconnect") == sum(not edge & leaving for edge in before - after)


@given(networks(), networks())
def test_who_stays_has_never_fewer_neighbours_on_the_way_than_before_or_after(old, new):
    schedule = from_graphs([0, 1], [old, new])
    for k in range(len(schedule) + 1):
        degrees = dict(schedule[:k].graph_at(old, 1).to_networkx().degree)
        for agent in set(old) & set(new):
            ends = simple(old).degree[agent], simple(new).degree[agent]
            assert degrees[agent] >= min(ends)


@pytest.mark.parametrize(
    ("times", "graphs", "complaint"),
    [
        ([], [], "graphs must not be empty"),
        ([0], [ring(3), ring(4)], r"times must have shape \(2,\)"),
        ([0, "x"], [ring(3), ring(4)], "times must be an array of numbers"),
        ([5, 4], [ring(3), ring(3)], "times must ascend, got 4 after 5"),
        ([0, float("nan")], [ring(3), ring(3)], "times must be finite"),
        ([-2, -1], [ring(3), ring(4)], "time must not be negative, got -1"),
        (3, [ring(3)], "times must be a sequence, got 3"),
        ([0], 3, "graphs must be a sequence, got 3"),
        ([0], [3], "graph must be a networkx graph"),
        ([0], [nx.DiGraph([(0, 1)])], "graph must be undirected"),
    ],
)
def test_what_is_no_series_of_graphs_is_refused(times, graphs, complaint):
    with pytest.raises(ValueError, match=complaint):
        from_graphs(times, graphs)
