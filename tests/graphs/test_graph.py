"""The graph itself, with networkx as the oracle."""

import copy
import pickle
import re
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtcool.graphs import Graph, as_graph, complete, edgeless, erdos_renyi, grid, ring, star


@st.composite
def networkx_graphs(draw):
    """Graphs with loops, parallel edges and labels in any order."""
    labels = draw(st.lists(st.integers(-5, 5) | st.text(max_size=2), min_size=1, unique=True))
    ends = st.sampled_from(labels)
    graph = draw(st.sampled_from([nx.Graph, nx.MultiGraph]))()
    graph.add_nodes_from(labels)
    graph.add_edges_from(draw(st.lists(st.tuples(ends, ends))))
    return graph


@given(networkx_graphs())
@settings(deadline=None, max_examples=50)
def test_neighbourhoods_are_those_of_networkx_with_the_node_itself(oracle):
    graph = Graph.from_networkx(oracle)
    assert list(graph.labels) == list(oracle)
    for i, label in enumerate(oracle):
        named = {graph.labels[j] for j in graph.neighbours(i)}
        assert named == set(oracle[label]) | {label}
        assert np.all(np.diff(graph.neighbours(i)) > 0)
        assert graph.neighbourhood_sizes[i] == len(named)
        assert graph.index(label) == i


@given(networkx_graphs())
@settings(deadline=None, max_examples=50)
def test_to_networkx_gives_back_the_simple_graph(oracle):
    simple = nx.Graph(oracle)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    back = Graph.from_networkx(oracle).to_networkx()
    assert list(back) == list(oracle)
    assert nx.utils.graphs_equal(back, simple)
    assert Graph.from_networkx(oracle).edge_count == simple.number_of_edges()


@given(networkx_graphs())
@settings(deadline=None, max_examples=50)
def test_laplacian_is_that_of_networkx_and_ignores_loops(oracle):
    graph = Graph.from_networkx(oracle)
    want = nx.laplacian_matrix(graph.to_networkx()).toarray()
    np.testing.assert_array_equal(graph.laplacian().toarray(), want)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1), st.randoms())
def test_order_direction_and_copies_of_edges_do_not_matter(edges, random):
    shuffled = [edge if random.random() < 0.5 else edge[::-1] for edge in edges * 2]
    random.shuffle(shuffled)
    a, b = Graph.from_edges(np.array(edges)), Graph.from_edges(shuffled)
    np.testing.assert_array_equal(a.ptr, b.ptr)
    np.testing.assert_array_equal(a.idx, b.idx)
    assert a.size == np.max(edges) + 1


@given(st.permutations("abcdef"), st.lists(st.tuples(*[st.sampled_from("abcdef")] * 2)))
def test_edges_by_label_are_edges_by_index_renamed(labels, edges):
    by_label = Graph.from_edges(edges, labels=labels)
    by_index = Graph.from_edges([(labels.index(u), labels.index(v)) for u, v in edges], size=6)
    np.testing.assert_array_equal(by_label.idx, by_index.idx)
    assert by_label.labels == tuple(labels)


def test_labels_that_count_from_zero_are_kept_as_a_range():
    assert Graph.from_networkx(nx.path_graph(4)).labels == range(4)
    assert Graph.from_edges([(0, 1)], labels=range(3)).labels == range(3)
    assert Graph.from_edges([(0, 1)], labels=np.arange(3)).labels == range(3)
    assert Graph.from_edges([(1, 0)], labels=[1, 0]).labels == (1, 0)
    assert Graph.from_edges([(0.0, 1.0)], labels=[0.0, 1.0]).labels == (0.0, 1.0)
    assert Graph.from_edges([(False, True)], labels=[False, True]).labels == (False, True)


KNOWN = (3, np.int64(3), np.uint8(3), 3.0, np.float64(3), True, Fraction(3), Decimal(3), 3 + 0j)
UNKNOWN = (-1, 5, 2.5, "3", None, (3,), float("nan"), float("inf"), 2**61 + 2, np.str_("a"))


@pytest.mark.parametrize("labels", [range(5), (4, 3, 2, 1, 0)], ids=["range", "tuple"])
@pytest.mark.parametrize("agent", KNOWN + UNKNOWN)
def test_agents_are_looked_up_as_keys_of_a_dictionary(labels, agent):
    graph = Graph.from_edges([], labels=labels)
    positions = {label: i for i, label in enumerate(labels)}
    if agent in positions:
        found = graph.index(agent)
        assert found == positions[agent]
        assert type(found) is int
    else:
        message = f"agent must be a node of the graph, got {agent!r}"
        with pytest.raises(ValueError, match=re.escape(message)):
            graph.index(agent)


@pytest.mark.parametrize("labels", [range(2), "ab"])
def test_an_unhashable_agent_is_refused(labels):
    with pytest.raises(ValueError, match=r"agent must be a node of the graph, got \[1\]"):
        Graph.from_edges([], labels=labels).index([1])


def test_a_graph_cannot_be_changed():
    graph = star(4)
    for array in (graph.ptr, graph.idx, graph.neighbourhood_sizes, graph.neighbours(0)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(AttributeError):
        graph.ptr = np.zeros(3)
    assert (graph.ptr.dtype, graph.idx.dtype) == (np.int64, np.int32)


def test_a_graph_does_not_share_the_arrays_it_was_made_of():
    ptr, idx = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)
    graph = Graph(ptr, idx)
    ptr[:] = idx[:] = 0
    np.testing.assert_array_equal(graph.idx, [0, 1])
    matrix = graph.matrix([1.0, 0.0])
    matrix.eliminate_zeros()
    np.testing.assert_array_equal(graph.idx, [0, 1])


@pytest.mark.parametrize("again", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_a_copy_is_equal_and_still_read_only(again):
    graph = Graph.from_edges([("a", "b")], labels="abc")
    other = again(graph)
    assert other.labels == graph.labels
    assert other.index("c") == 2
    np.testing.assert_array_equal(other.idx, graph.idx)
    assert not other.ptr.flags.writeable
    assert not other.idx.flags.writeable


def test_many_random_edges_are_merged_exactly():
    rng = np.random.default_rng(5)
    edges = rng.integers(200_000, size=(600_000, 2))
    graph = Graph.from_edges(edges, size=200_000)
    low, high = edges.min(axis=1), edges.max(axis=1)
    distinct = np.unique((low * 200_000 + high)[low != high])
    assert graph.edge_count == distinct.size
    assert graph.idx.size == 2 * distinct.size + 200_000
    assert isinstance(graph.labels, range)


def test_as_graph_keeps_a_graph_and_converts_networkx():
    graph = ring(5)
    assert as_graph(graph) is graph
    np.testing.assert_array_equal(as_graph(nx.cycle_graph(5)).idx, graph.idx)


def test_repr_says_how_large():
    assert repr(grid(2, 2)) == "Graph(4 agents, 4 edges)"
    assert (complete(5).edge_count, edgeless(3).edge_count) == (10, 0)


@pytest.mark.parametrize("graph", [None, "ring", [(0, 1)], np.eye(3)])
def test_what_is_no_graph_is_refused(graph):
    with pytest.raises(ValueError, match="graph must be a networkx graph"):
        as_graph(graph)
    with pytest.raises(ValueError, match="graph must be a networkx graph"):
        Graph.from_networkx(graph)


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (nx.DiGraph([(0, 1)]), "undirected"),
        (nx.MultiDiGraph([(0, 1)]), "undirected"),
        (nx.Graph(), "must have a node"),
    ],
)
def test_directed_and_empty_graphs_are_refused(graph, why):
    with pytest.raises(ValueError, match=f"graph must.*{why}|graph {why}"):
        as_graph(graph)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": []}, "edges must not be empty"),
        ({"edges": [(0, -1)]}, "edges must be between 0 and .*got -1"),
        ({"edges": [(0, 3)], "size": 3}, "edges must be between 0 and 2, got 3"),
        ({"edges": [(0, 2**40)]}, "edges must be between 0 and .*got 1099511627776"),
        ({"edges": [(0, 2**70)]}, "edges must be"),
        ({"edges": [(0, 1.5)]}, "edges must be whole numbers, got .*0.0"),
        ({"edges": [(True, False)]}, "edges must be whole numbers, got .*True"),
        ({"edges": [("a", "b")], "size": 2}, "edges must be whole numbers, got .*'a'"),
        ({"edges": [("a", 1)]}, "edges must be strings if labels are not given, got 1"),
        ({"edges": [("a", "b"), 7]}, "edges must be strings if labels are not given, got 7"),
        ({"edges": [("a", "b"), ("a", [])]}, r"edges must be strings .*, got \[\]"),
        ({"edges": [("a", "b", "c")]}, "edges must be pairs of labels, got"),
        ({"edges": ["ab", "bc"]}, "edges must be whole numbers, got .*'ab'"),
        ({"edges": [(0, 1, 2)]}, "edges must be pairs of nodes, got an array of shape"),
        ({"edges": [0, 1]}, "edges must be pairs of nodes"),
        ({"edges": [(0, 1), (2,)]}, "edges must be an array of node indices"),
        ({"edges": 7}, "edges must be an array of node indices, got 7"),
        ({"edges": [], "size": 0}, "size must be a whole number of at least 1, got 0"),
        ({"edges": [], "size": 2**31}, "size must be at most 2147483647, got 2147483648"),
        ({"edges": [], "size": 2, "labels": "ab"}, "size must not be given .*got 2"),
        ({"edges": [], "labels": ""}, "labels must not be empty, got ''"),
        ({"edges": [], "labels": range(0)}, "labels must not be empty"),
        ({"edges": [], "labels": 5}, "labels must be a sequence of names, got 5"),
        ({"edges": [], "labels": "aba"}, "labels must be distinct, got 'a' twice"),
        ({"edges": [], "labels": [0, True, 1]}, "labels must be distinct, got 1 twice"),
        ({"edges": [], "labels": [[1], [2]]}, r"labels must be hashable, got \[1\]"),
        ({"edges": [("a", "z")], "labels": "ab"}, "edges must be pairs of labels, got .*'z'"),
        ({"edges": [("a",)], "labels": "ab"}, "edges must be pairs of labels, got"),
        ({"edges": [("a", [])], "labels": "ab"}, "edges must be pairs of labels, got"),
        ({"edges": 3, "labels": "ab"}, "edges must be pairs of labels, got 3"),
    ],
)
def test_bad_edges_are_refused_by_name_and_value(arguments, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_edges(**arguments)


@pytest.mark.parametrize(
    ("ptr", "idx", "message"),
    [
        ([0], [], "ptr must start at 0"),
        ([[0, 1]], [0], "ptr must start at 0"),
        ([1, 2], [0, 0], "ptr must start at 0"),
        ([0, 0, 1], [1], "ptr must start at 0 and ascend"),
        ([0, 2, 1], [0], "ptr must start at 0 and ascend"),
        ([0, -1], [0], "ptr must be between 0 .*got -1"),
        ([0, 1], [1], "idx must be between 0 and 0, got 1"),
        ([0, 1], [0, 0], r"idx must have shape \(1,\)"),
        ([0, 2], [0, 0], "idx must ascend within a row, got row 0"),
        ([0, 1, 3], [0, 1, 0], "idx must ascend within a row, got row 1"),
        ([0, 1, 2], [0, 0], "idx must list a node in its own row, got row 1"),
        ([0, 2, 3], [0, 1, 1], "idx must be symmetric"),
    ],
)
def test_arrays_that_are_no_closed_neighbourhoods_are_refused(ptr, idx, message):
    with pytest.raises(ValueError, match=message):
        Graph(ptr, idx)


def test_labels_must_be_as_many_as_rows():
    with pytest.raises(ValueError, match="labels must name 2 agents, got 3"):
        Graph([0, 1, 2], [0, 1], labels="abc")


@pytest.mark.parametrize("node", [-1, 4, 1.5, "a", True])
def test_a_node_index_outside_the_graph_is_refused(node):
    with pytest.raises(ValueError, match=f"node must be .*{node!r}"):
        ring(4).neighbours(node)


def test_entries_of_a_matrix_must_be_as_many_as_neighbours():
    with pytest.raises(ValueError, match=r"entries must have shape \(12,\), got shape \(3,\)"):
        ring(4).matrix([1, 2, 3])


def test_relabelling_moves_the_neighbourhoods_along():
    graph = erdos_renyi(12, 0.3, seed=3)
    order = np.random.default_rng(0).permutation(12)
    oracle = graph.to_networkx()
    moved = Graph.from_edges(list(oracle.edges), labels=order.tolist())
    for i in range(12):
        named = {moved.labels[j] for j in moved.neighbours(moved.index(i))}
        assert named == set(graph.neighbours(i).tolist())
