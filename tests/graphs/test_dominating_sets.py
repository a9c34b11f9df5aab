"""Dominating sets: brute force on small graphs, known values on large ones."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtcool.graphs import (
    Graph,
    cliques,
    complete,
    edgeless,
    erdos_renyi,
    grid,
    is_dominating,
    ring,
    smallest_dominating_set,
    star,
)

small_graphs = st.builds(
    erdos_renyi, st.integers(1, 9), st.floats(0, 1), seed=st.integers(0, 2**32)
)


@given(small_graphs)
@settings(deadline=None, max_examples=60)
def test_smallest_dominating_set_is_as_small_as_brute_force_finds(graph):
    found = smallest_dominating_set(graph)
    assert is_dominating(graph, found)
    assert np.all(np.diff(found) > 0)
    oracle = graph.to_networkx()
    smaller = combinations(oracle, len(found) - 1)
    assert not any(nx.is_dominating_set(oracle, nodes) for nodes in smaller)


@given(small_graphs, st.data())
@settings(deadline=None)
def test_is_dominating_agrees_with_networkx(graph, data):
    nodes = data.draw(st.sets(st.integers(0, graph.size - 1)))
    assert is_dominating(graph, nodes) == nx.is_dominating_set(graph.to_networkx(), nodes)


@pytest.mark.parametrize(
    ("graph", "gamma"),
    [
        (complete(40), 1),
        (star(40), 1),
        (edgeless(30), 30),
        (cliques([5, 1, 7]), 3),
        (ring(100), 34),
        (grid(7, 7), 12),
        (grid(8, 8), 16),
    ],
)
def test_domination_numbers_of_known_graphs(graph, gamma):
    found = smallest_dominating_set(graph)
    assert found.dtype == np.int64
    assert len(found) == gamma
    assert is_dominating(graph, found)


def test_components_add_up_in_the_order_of_the_nodes():
    # Two rings of six, their nodes interleaved, and a lone node.
    edges = [(i, (i + 2) % 12) for i in range(12)]
    graph = Graph.from_edges(edges, size=13)
    found = smallest_dominating_set(graph)
    assert len(found) == 2 + 2 + 1
    assert is_dominating(graph, found)
    assert found[-1] == 12


def test_a_hundred_thousand_cliques_need_no_solver():
    found = smallest_dominating_set(cliques([2] * 100_000), time_limit=1e-9)
    np.testing.assert_array_equal(found, np.arange(0, 200_000, 2))


def test_networkx_graphs_are_answered_by_node_index():
    petersen = nx.relabel_nodes(nx.petersen_graph(), str)
    found = smallest_dominating_set(petersen)
    assert len(found) == 3
    assert is_dominating(petersen, found)
    assert nx.is_dominating_set(petersen, [list(petersen)[i] for i in found])


def test_without_a_proof_in_time_the_error_says_what_to_do():
    with pytest.raises(TimeoutError, match=r"time_limit=0\.01 .*pass dominating_set="):
        smallest_dominating_set(erdos_renyi(150, 0.1, seed=1), time_limit=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smallest_dominating_set(7), "graph must be .*got 7"),
        (lambda: smallest_dominating_set(ring(3), time_limit=0), "time_limit must be positive"),
        (lambda: is_dominating(ring(3), [3]), "nodes must be between 0 and 2, got 3"),
        (lambda: is_dominating(ring(3), [-1]), "nodes must be between 0 and 2, got -1"),
        (lambda: is_dominating(ring(3), ["a"]), "nodes must be whole numbers, got .*'a'"),
        (lambda: is_dominating(ring(3), 1), "nodes must be an array of node indices, got 1"),
        (lambda: is_dominating(ring(3), [True]), "nodes must be whole numbers, got .*True"),
    ],
)
def test_bad_arguments_are_refused_by_name_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
