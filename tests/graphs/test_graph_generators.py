"""Generators: deterministic ones equal networkx's, random ones follow their law."""

import math
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mtcool.graphs import (
    circulant,
    cliques,
    complete,
    edgeless,
    erdos_renyi,
    generators,
    grid,
    regular,
    ring,
    star,
)
from mtcool.graphs.random_regular import mend


def edge_set(graph):
    return set(graph.to_networkx().edges)


@pytest.mark.parametrize(
    ("graph", "oracle"),
    [
        (circulant(9, 4), nx.circulant_graph(9, [1, 2])),
        (circulant(9, 8), nx.complete_graph(9)),
        (circulant(5, 0), nx.empty_graph(5)),
        (ring(3), nx.cycle_graph(3)),
        (ring(8), nx.cycle_graph(8)),
        (cliques([3, 1, 4]), nx.disjoint_union_all(map(nx.complete_graph, [3, 1, 4]))),
        (complete(1), nx.complete_graph(1)),
        (complete(6), nx.complete_graph(6)),
        (edgeless(4), nx.empty_graph(4)),
        (star(1), nx.empty_graph(1)),
        (star(6), nx.star_graph(5)),
        (grid(3, 4), nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4))),
        (grid(1, 4), nx.path_graph(4)),
        (grid(5, 1), nx.path_graph(5)),
        (grid(1, 1), nx.empty_graph(1)),
        (erdos_renyi(7, 0, seed=0), nx.empty_graph(7)),
        (erdos_renyi(7, 1, seed=0), nx.complete_graph(7)),
        (erdos_renyi(1, 0.5, seed=0), nx.empty_graph(1)),
        (erdos_renyi(50, 5e-324, seed=0), nx.empty_graph(50)),
        (regular(1, 0, seed=0), nx.empty_graph(1)),
        (regular(2, 1, seed=0), nx.complete_graph(2)),
        (regular(7, 6, seed=0), nx.complete_graph(7)),
    ],
)
def test_generator_gives_the_same_graph_as_networkx(graph, oracle):
    assert graph.labels == range(len(oracle))
    assert nx.utils.graphs_equal(graph.to_networkx(), oracle)


def probabilities_of_graphs(n, p):
    """The law of G(n, p) over all labelled graphs, by the number of edges of each."""
    pairs = math.comb(n, 2)
    edges = np.array([bin(code).count("1") for code in range(2**pairs)])
    return p**edges * (1 - p) ** (pairs - edges)


@pytest.mark.parametrize("block", [2, 1 << 20], ids=["small blocks", "one block"])
def test_erdos_renyi_follows_the_law_of_independent_edges_and_no_other(monkeypatch, block):
    monkeypatch.setattr(generators, "_BLOCK", block)
    rng, draws = np.random.default_rng(11), 2000
    bit = {pair: 1 << k for k, pair in enumerate(combinations(range(4), 2))}
    codes = [sum(bit[e] for e in edge_set(erdos_renyi(4, 0.4, rng))) for _ in range(draws)]
    seen = np.bincount(codes, minlength=64)
    assert stats.chisquare(seen, draws * probabilities_of_graphs(4, 0.4)).pvalue > 1e-3
    assert stats.chisquare(seen, draws * probabilities_of_graphs(4, 0.5)).pvalue < 1e-6


def test_large_erdos_renyi_has_binomial_edge_count_and_degrees():
    n, p = 200_000, 12 / 200_000
    graph = erdos_renyi(n, p, seed=7)
    pairs = math.comb(n, 2)
    assert abs(graph.edge_count - pairs * p) < 4 * math.sqrt(pairs * p * (1 - p))
    variance = (n - 1) * p * (1 - p)
    error = math.sqrt((2 * variance**2 + variance) / n)
    assert abs(graph.neighbourhood_sizes.var() - variance) < 4 * error


def test_ranks_of_pairs_are_exact_where_square_roots_are_rounded():
    v = np.array([2, 3, 10**6, 94_906_267, 2**31 - 2])
    first, last = v * (v - 1) // 2, v * (v + 1) // 2 - 1
    want_first, want_last = np.stack((0 * v, v), 1), np.stack((v - 1, v), 1)
    np.testing.assert_array_equal(generators._pairs(first), want_first)
    np.testing.assert_array_equal(generators._pairs(last), want_last)


@given(st.integers(1, 15), st.integers(0, 14), st.integers(0, 2**32))
@settings(deadline=None)
def test_regular_graph_has_equal_degrees(n, degree, seed):
    degree = min(degree, n - 1)
    degree -= n * degree % 2
    assert np.all(regular(n, degree, seed).neighbourhood_sizes == degree + 1)


@pytest.mark.parametrize(("n", "degree"), [(1001, 500), (1000, 499), (1000, 500), (200_000, 6)])
def test_large_regular_graph_has_equal_degrees(n, degree):
    assert np.all(regular(n, degree, seed=3).neighbourhood_sizes == degree + 1)


@pytest.mark.parametrize("degree", [3, 4])
def test_regular_graph_has_no_favourite_pairs(degree):
    n, draws, rng = 8, 1500, np.random.default_rng(2)
    seen = sum(regular(n, degree, rng).laplacian().toarray() for _ in range(draws))
    p = degree / (n - 1)
    off_diagonal = -seen[np.triu_indices(n, 1)] / draws
    assert np.abs(off_diagonal - p).max() < 4 * math.sqrt(p * (1 - p) / draws)


def test_regular_draws_triangles_about_as_often_as_the_uniform_law():
    # Among the 70 labelled 2-regular graphs on 6 nodes, 10 are two triangles and 60 a hexagon.
    rng, draws = np.random.default_rng(4), 1500
    connected = [nx.is_connected(regular(6, 2, rng).to_networkx()) for _ in range(draws)]
    assert abs(np.mean(connected) - 60 / 70) < 0.05


@pytest.mark.parametrize(
    "pairs",
    [
        [(i, i) for i in range(5)],
        [(0, 0), (1, 1), (2, 3), (2, 4), (3, 4)],
        [(0, 1), (0, 1), (2, 3), (2, 3), (4, 4)],
    ],
    ids=["loops only", "two loops", "copies and a loop"],
)
def test_any_multigraph_of_degree_two_is_mended(pairs):
    for seed in range(20):
        mended = mend(np.array(pairs), 5, np.random.default_rng(seed))
        assert len({frozenset(pair) for pair in mended.tolist()}) == 5
        assert np.all(np.bincount(mended.ravel()) == 2)
        assert np.all(mended[:, 0] != mended[:, 1])


@pytest.mark.parametrize("make", [lambda s: erdos_renyi(40, 0.2, s), lambda s: regular(40, 5, s)])
def test_a_seed_gives_the_same_graph_and_another_seed_another(make):
    assert edge_set(make(1)) == edge_set(make(1)) == edge_set(make(np.random.default_rng(1)))
    assert edge_set(make(1)) != edge_set(make(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: erdos_renyi(0, 0.5, 1), "n must be a whole number of at least 1, got 0"),
        (lambda: erdos_renyi(5, 1.5, 1), "p must be at most 1, got 1.5"),
        (lambda: erdos_renyi(5, -0.1, 1), "p must not be negative, got -0.1"),
        (lambda: erdos_renyi(5, float("nan"), 1), "p must be finite, got nan"),
        (lambda: erdos_renyi(5, 0.5, None), "seed must be a whole number .*got None"),
        (lambda: erdos_renyi(5, 0.5, -1), "seed must be a whole number .*got -1"),
        (lambda: erdos_renyi(5, 0.5, "a"), "seed must be a whole number .*got 'a'"),
        (lambda: regular(5, 5, 1), "degree must be below n = 5, got 5"),
        (lambda: regular(5, 3, 1), "degree must be even when n = 5 is odd, got 3"),
        (lambda: regular(5, -2, 1), "degree must be a whole number of at least 0, got -2"),
        (lambda: circulant(6, 3), "degree must be even and below n = 6, got 3"),
        (lambda: circulant(6, 6), "degree must be even and below n = 6, got 6"),
        (lambda: ring(2), "n must be a whole number of at least 3, got 2"),
        (lambda: cliques([]), r"sizes must be a list of sizes of at least 1, got \[\]"),
        (lambda: cliques([2, 0]), r"sizes must be .*got \[2, 0\]"),
        (lambda: cliques([2, -1]), "sizes must be between 0 .*got -1"),
        (lambda: cliques([2.5]), "sizes must be whole numbers, got .*2.5"),
        (lambda: cliques([[2]]), r"sizes must be a list .*got \[\[2\]\]"),
        (lambda: cliques(3), "sizes must be .*got 3"),
        (lambda: complete(0), "n must be a whole number of at least 1, got 0"),
        (lambda: edgeless(2.5), "n must be a whole number of at least 1, got 2.5"),
        (lambda: star(0), "n must be a whole number of at least 1, got 0"),
        (lambda: grid(0, 3), "rows must be a whole number of at least 1, got 0"),
        (lambda: grid(3, "b"), "columns must be a whole number of at least 1, got 'b'"),
    ],
)
def test_bad_arguments_are_refused_by_name_and_value(make, message):
    with pytest.raises(ValueError, match=message):
        make()
