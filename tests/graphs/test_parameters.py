"""Graph parameters: certificates, brute force on small graphs, known graphs, honest intervals."""

import itertools
import time

import networkx as nx
import numpy as np
import pytest
import states
from hypothesis import given, settings
from hypothesis import strategies as st

from mtcool import graphs
from mtcool.graphs import parameters

KNOWN = {
    # graph: alpha, alpha_2, gamma
    "Petersen": (nx.petersen_graph(), 4, 1, 3),
    "cycle of 7": (nx.cycle_graph(7), 3, 2, 3),
    "cycle of 9": (nx.cycle_graph(9), 4, 3, 3),
    "path of 10": (nx.path_graph(10), 5, 4, 4),
    "cube": (nx.hypercube_graph(3), 4, 2, 2),
    "hypercube of dimension 4": (nx.hypercube_graph(4), 8, 2, 4),
    "star": (nx.star_graph(6), 6, 1, 1),
    "complete": (nx.complete_graph(6), 1, 1, 1),
    "complete bipartite": (nx.complete_bipartite_graph(3, 5), 5, 1, 2),
    "union of cliques": (graphs.cliques([3, 1, 4]), 3, 3, 3),
    "edgeless": (graphs.edgeless(5), 5, 5, 5),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_graphs(name):
    graph, alpha, alpha_2, gamma = KNOWN[name]
    assert int(graphs.independence_number(graph)) == alpha
    assert int(graphs.k_independence_number(graph, 2)) == alpha_2
    assert int(graphs.domination_number(graph)) == gamma


def distances(graph):
    found = dict(nx.all_pairs_shortest_path_length(graph))
    return lambda u, v: found[u].get(v, np.inf)


def by_brute_force(graph):
    """alpha, alpha_2, alpha_3 and gamma of a small networkx graph, from their definitions."""
    far, nodes = distances(graph), list(graph)
    subsets = [s for r in range(len(nodes) + 1) for s in itertools.combinations(nodes, r)]
    alphas = [
        max(len(s) for s in subsets if all(far(u, v) > k for u, v in itertools.combinations(s, 2)))
        for k in (1, 2, 3)
    ]
    gamma = min(len(s) for s in subsets if all(any(far(u, v) <= 1 for v in s) for u in nodes))
    return (*alphas, gamma)


small_graphs = st.builds(
    lambda n, p, seed: nx.gnp_random_graph(n, p, seed=seed),
    st.integers(1, 10),
    st.floats(0.0, 1.0),
    st.integers(0, 2**31),
)


@given(small_graphs)
@settings(max_examples=40, deadline=None)
def test_brute_force_agrees(graph):
    *alphas, gamma = by_brute_force(graph)
    for k, alpha in zip((1, 2, 3), alphas, strict=True):
        found = graphs.k_independence_number(graph, k)
        assert int(found) == alpha == len(found.witness)
        assert graphs.is_k_independent(graph, found.witness, k)
        greedy = graphs.k_independence_number(graph, k, method="greedy")
        assert greedy.lower <= alpha <= greedy.upper
    found = graphs.domination_number(graph)
    assert int(found) == gamma == len(found.witness)
    assert graphs.is_dominating(graph, found.witness)
    greedy = graphs.domination_number(graph, method="greedy")
    assert greedy.lower <= gamma <= greedy.upper
    assert graphs.clique_cover_bound(graph) >= alphas[0]


@given(small_graphs, st.integers(1, 4), st.data())
@settings(max_examples=60, deadline=None)
def test_independence_is_a_matter_of_distance(graph, k, data):
    nodes = data.draw(st.lists(st.sampled_from(list(graph)), unique=True))
    far = distances(graph)
    want = all(far(u, v) > k for u, v in itertools.combinations(nodes, 2))
    assert graphs.is_k_independent(graph, nodes, k) == want


@given(small_graphs)
@settings(max_examples=40, deadline=None)
def test_a_greedy_cover_is_a_partition_into_cliques(graph):
    cover = graphs.greedy_clique_cover(graphs.as_graph(graph))
    for u, v in itertools.combinations(graph, 2):
        assert cover[u] != cover[v] or graph.has_edge(u, v)


def test_when_the_time_is_over_an_interval_is_certified():
    graph = graphs.erdos_renyi(200, 0.05, seed=1)
    began = time.monotonic()
    alpha = graphs.independence_number(graph, time_limit=0.5)
    gamma = graphs.domination_number(graph, time_limit=0.5)
    assert time.monotonic() - began < 30.0
    assert graphs.is_k_independent(graph, alpha.witness)
    assert graphs.is_dominating(graph, gamma.witness)
    assert alpha.lower == len(alpha.witness) <= alpha.upper
    assert gamma.lower <= gamma.upper == len(gamma.witness)
    assert gamma.lower <= alpha.upper


def test_no_answer_without_a_proof(monkeypatch):
    """A solver that finds nothing in time leaves the greedy certificates."""
    monkeypatch.setattr("mtcool.graphs.integer_programs._solve", lambda *_, **__: (None, None))
    alpha = graphs.independence_number(graphs.ring(9))
    assert (alpha.lower, alpha.exact) == (4, False)
    with pytest.raises(ValueError, match=r"must be exact to be a number, got \[4, "):
        int(alpha)
    gamma = graphs.domination_number(graphs.grid(5, 5))
    assert gamma.lower <= 7 <= gamma.upper


def test_a_bound_that_contradicts_a_known_set_is_not_believed(monkeypatch):
    monkeypatch.setattr("mtcool.graphs.integer_programs._solve", lambda *_, **__: (None, -2.0))
    with pytest.raises(RuntimeError, match="proved at most 2 agents, but 4 are known"):
        graphs.independence_number(graphs.ring(9))
    monkeypatch.setattr("mtcool.graphs.integer_programs._solve", lambda *_, **__: (None, 9.0))
    with pytest.raises(RuntimeError, match="proved at least 9 agents"):
        graphs.domination_number(graphs.ring(9))


def test_balls_that_are_too_large_are_left_to_greedy_certificates():
    alpha_2 = graphs.k_independence_number(graphs.star(100_000), 2)
    assert int(alpha_2) == 1


@pytest.mark.parametrize("wrong", [np.array([0, 1]), np.array([0])])
def test_an_answer_that_fails_its_check_never_leaves(monkeypatch, wrong):
    proof = parameters.Proof(2, 2, wrong)
    monkeypatch.setattr(parameters, "most_independent", lambda *_: proof)
    with pytest.raises(RuntimeError, match="fails its check"):
        graphs.independence_number(graphs.ring(6))


def test_greedy_bounds_of_a_million_agents():
    graph = graphs.regular(1_000_000, 4, seed=0)
    began = time.process_time()
    alpha = graphs.independence_number(graph, method="greedy")
    gamma = graphs.domination_number(graph, method="greedy")
    assert time.process_time() - began < 60.0
    assert gamma.lower <= gamma.upper <= alpha.lower <= alpha.upper
    assert gamma.lower >= 200_000
    assert alpha.lower >= 250_000


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: graphs.k_independence_number(graphs.ring(5), 0), "k must be a whole number"),
        (lambda: graphs.independence_number(graphs.ring(5), method="guess"), "method must be one"),
        (lambda: graphs.domination_number(graphs.ring(5), time_limit=0), "time_limit must be pos"),
    ],
)
def test_bad_arguments_are_refused_by_name_and_value(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_states_of_the_usa_take_well_under_a_second():
    graph = graphs.as_graph(nx.Graph(states.EDGES))
    assert (graph.size, graph.edge_count) == (48, 107)
    graphs.independence_number(graphs.ring(5))  # imports and compiles
    graphs.domination_number(graphs.ring(5))
    began = time.process_time()  # others may want the machine, too
    alpha, gamma = graphs.independence_number(graph), graphs.domination_number(graph)
    assert time.process_time() - began < 1.0
    assert (int(alpha), int(gamma)) == (18, 10)
    assert graphs.k_independence_number(graph, 2).upper <= int(gamma) <= int(alpha)
