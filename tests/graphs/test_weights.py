"""Weights: against their formulas entry by entry, and what is refused."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mtcool.graphs import (
    Graph,
    circulant,
    complete,
    delegation_weights,
    edgeless,
    entry_weights,
    erdos_renyi,
    proportional_weights,
    ring,
    smallest_dominating_set,
    star,
    uniform_weights,
)

graphs = st.builds(erdos_renyi, st.integers(1, 12), st.floats(0, 1), seed=st.integers(0, 2**32))


def activations(graph, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(graph.size))


def by_formula(graph, weight):
    """The matrix with weight(i, j, N_i) on the closed neighbourhoods."""
    matrix = np.zeros((graph.size, graph.size))
    for i in range(graph.size):
        around = graph.neighbours(i)
        for j in around:
            matrix[i, j] = weight(i, j, around)
    return matrix


@given(graphs)
@settings(deadline=None)
def test_uniform_weights_are_one_over_the_size_of_the_neighbourhood(graph):
    want = by_formula(graph, lambda i, j, around: 1 / len(around))
    np.testing.assert_array_equal(uniform_weights(graph).toarray(), want)


@given(graphs)
@settings(deadline=None)
def test_delegation_gives_all_weight_to_the_first_dominating_neighbour(graph):
    chosen = smallest_dominating_set(graph)
    want = by_formula(graph, lambda i, j, around: float(j == np.intersect1d(around, chosen)[0]))
    np.testing.assert_array_equal(delegation_weights(graph).toarray(), want)


@given(graphs, st.integers(0, 2**32))
@settings(deadline=None)
def test_proportional_weights_are_the_share_of_activations(graph, seed):
    q = activations(graph, seed)
    want = by_formula(graph, lambda i, j, around: q[j] / q[around].sum())
    np.testing.assert_allclose(proportional_weights(graph, q).toarray(), want, rtol=1e-13)


@given(graphs)
@settings(deadline=None)
def test_every_matrix_has_one_entry_per_neighbour_in_order(graph):
    q = activations(graph)
    matrices = [uniform_weights(graph), delegation_weights(graph), proportional_weights(graph, q)]
    for word, matrix in zip(["uniform", "delegation", "proportional"], matrices, strict=True):
        np.testing.assert_array_equal(matrix.indptr, graph.ptr)
        np.testing.assert_array_equal(matrix.indices, graph.idx)
        np.testing.assert_array_equal(entry_weights(graph, word, q=q), matrix.data)


@pytest.mark.parametrize(
    "form",
    [
        lambda m: m,
        lambda m: m.toarray(),
        lambda m: m.toarray().tolist(),
        lambda m: np.asfortranarray(m.toarray()),
        lambda m: np.matrix(m.toarray()),
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
        sparse.lil_array,
        sparse.dok_array,
        sparse.dia_array,
    ],
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_in_any_form_gives_its_entries(form):
    graph = erdos_renyi(15, 0.3, seed=2)
    matrix = delegation_weights(graph)
    np.testing.assert_array_equal(entry_weights(graph, form(matrix)), matrix.data)


def test_copies_of_an_entry_add_up_and_the_matrix_is_left_alone():
    rows, columns = [0, 0, 0, 1, 1], [0, 1, 1, 0, 1]
    given_matrix = sparse.coo_array(([0.5, 0.2, 0.3, 0.0, 1.0], (rows, columns)))
    np.testing.assert_array_equal(entry_weights(complete(2), given_matrix), [0.5, 0.5, 0, 1])
    unmerged = sparse.csr_array(([0.2, 0.3, 0.5, 1.0], [1, 1, 0, 1], [0, 3, 4]), shape=(2, 2))
    np.testing.assert_array_equal(entry_weights(complete(2), unmerged), [0.5, 0.5, 0, 1])
    assert unmerged.nnz == 4


def test_a_stored_zero_off_the_neighbourhood_is_no_weight():
    matrix = sparse.csr_array(([1.0, 0.0, 1.0], ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    np.testing.assert_array_equal(entry_weights(edgeless(2), matrix), [1, 1])


def test_equal_activations_give_exactly_uniform_weights():
    graph = erdos_renyi(30, 0.4, seed=1)
    for q in (np.full(30, 1 / 30), np.full(30, 1e308), np.full(30, 5e-324)):
        got = entry_weights(graph, "proportional", q=q)
        np.testing.assert_array_equal(got, entry_weights(graph, "uniform"))


def test_delegation_takes_any_dominating_set_in_any_form():
    path = Graph.from_networkx(nx.path_graph(4))
    want = [[0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    for chosen in ([1, 3], {3, 1}, np.array([3, 1, 1]), iter([1, 3])):
        np.testing.assert_array_equal(delegation_weights(path, chosen).toarray(), want)


def test_relabelling_moves_the_weights_along():
    graph = erdos_renyi(10, 0.4, seed=5)
    order = np.random.default_rng(1).permutation(10)
    moved = Graph.from_edges(list(graph.to_networkx().edges), labels=order.tolist())
    q = activations(graph)
    for matrix, other in [
        (uniform_weights(graph), uniform_weights(moved)),
        (proportional_weights(graph, q), proportional_weights(moved, q[order])),
    ]:
        np.testing.assert_allclose(other.toarray(), matrix.toarray()[np.ix_(order, order)])


def test_a_large_sparse_matrix_is_never_made_dense():
    graph = circulant(200_000, 4)
    matrix = uniform_weights(graph)
    np.testing.assert_array_equal(entry_weights(graph, matrix), matrix.data)


def test_networkx_graphs_are_taken_too():
    np.testing.assert_array_equal(
        entry_weights(nx.star_graph(3), "delegation"), [1, 0, 0, 0] + [1, 0] * 3
    )


def changed(i, j, value):
    matrix = uniform_weights(star(3)).toarray()
    matrix[i, j] = value
    return matrix


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_array])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (changed(0, 1, np.nan), "weights must be finite, got an entry nan"),
        (changed(0, 1, np.inf), "weights must be finite, got an entry inf"),
        (changed(0, 1, -0.25), "weights must not be negative, got -0.25"),
        (changed(1, 2, 0.125), "weights must be zero off the .*got 0.125 from 1 to 2"),
        (changed(1, 1, 0.25), "weights must sum to 1 in every row, got 0.75 for 1"),
        (changed(1, 1, 0.5 + 1e-8), "weights must sum to 1 in every row, got 1.00000001"),
        (np.zeros((3, 3)), "weights must sum to 1 in every row, got 0.0 for 0"),
        (np.eye(4), r"weights must be a matrix of 3 x 3, got shape \(4, 4\)"),
        (np.eye(3)[:2], r"weights must be a matrix of 3 x 3, got shape \(2, 3\)"),
    ],
)
def test_bad_matrices_are_refused_by_value_and_place(form, matrix, message):
    with pytest.raises(ValueError, match=message):
        entry_weights(star(3), form(matrix))


def test_rounding_of_row_sums_is_forgiven():
    assert entry_weights(star(3), changed(1, 1, 0.5 + 1e-12)).sum() == pytest.approx(3)


def test_refusals_name_the_agents_by_label():
    graph = Graph.from_edges([("a", "b")], labels="abc")
    with pytest.raises(ValueError, match=r"got 1\.0 from 'a' to 'c'"):
        entry_weights(graph, np.eye(3)[::-1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: entry_weights(ring(3), "even"), "weights must be one of uniform.*got 'even'"),
        (lambda: entry_weights(ring(3), None), "weights must be"),
        (lambda: entry_weights(ring(3), 1.0), "weights must be a matrix of 3 x 3"),
        (lambda: entry_weights(ring(3), "proportional"), "q must be given .*got None"),
        (lambda: entry_weights([1], "uniform"), r"graph must be .*got \[1\]"),
        (lambda: proportional_weights(ring(3), [1, 1]), r"q must have shape \(3,\)"),
        (lambda: proportional_weights(ring(3), [1, 1, -1]), "q must not be negative, got -1"),
        (lambda: proportional_weights(ring(3), [1, 1, np.nan]), "q must be finite, got .*nan"),
        (lambda: proportional_weights(star(3), [0, 0, 1]), "q must be positive .*around 1"),
        (
            lambda: delegation_weights(star(3), [1]),
            r"dominating_set must meet every neighbourhood, got \[1\]: none around agent 2",
        ),
        (lambda: delegation_weights(star(3), []), "dominating_set must meet every"),
        (lambda: delegation_weights(star(3), [5]), "dominating_set must be between 0 and 2, got 5"),
    ],
)
def test_bad_arguments_are_refused_by_name_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
