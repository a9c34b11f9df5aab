import math
import tracemalloc
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtcool.graphs import Graph
from mtcool.streams import (
    gaussian,
    gaussian_tasks,
    local_variances,
    mean_local_deviation,
    tasks_in_groups,
    tasks_with_variance,
)

# A triangle with a tail, a pair, and a node on its own.
DISCONNECTED = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)], size=7)
CONNECTED = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (0, 2)])
GRAPHS = pytest.mark.parametrize("graph", [CONNECTED, DISCONNECTED], ids=["one", "three"])


@pytest.fixture(params=["diagonalise", "solve"])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "solve":
        monkeypatch.setattr(gaussian, "DENSE_UP_TO", 0)
    return request.param


def covariance(graph: Graph, smoothness: float) -> np.ndarray:
    return np.linalg.inv(np.eye(graph.size) + smoothness * graph.laplacian().toarray())


def deviation(tasks: np.ndarray, law: np.ndarray) -> float:
    """Largest distance of the whitened covariance from the identity, in standard errors.

    Whitened, because the small variances, which smoothness is about, hide behind the large ones.
    """
    draws, identity = tasks.shape[1], np.eye(len(law))
    white = np.linalg.solve(np.linalg.cholesky(law), tasks)
    return float(np.abs((white @ white.T / draws - identity) / np.sqrt(1 + identity)).max()) * (
        math.sqrt(draws)
    )


@GRAPHS
@pytest.mark.parametrize("smoothness", [0.0, 0.5, 20.0])
def test_gaussian_tasks_have_the_covariance_of_the_paper_and_no_other(
    method: str, graph: Graph, smoothness: float
) -> None:
    tasks = gaussian_tasks(graph, 4000, smoothness, seed=1)
    assert deviation(tasks, covariance(graph, smoothness)) < 4.5
    assert deviation(tasks, covariance(graph, 1.3 * smoothness + 0.1)) > 6


@GRAPHS
def test_infinitely_smooth_tasks_are_constant_on_components(method: str, graph: Graph) -> None:
    tasks = gaussian_tasks(graph, 4000, math.inf, seed=2)
    parts = [sorted(part) for part in nx.connected_components(graph.to_networkx())]
    law = np.zeros((graph.size, graph.size))
    for part in parts:
        assert (tasks[part] == tasks[part[0]]).all()
        law[np.ix_(part, part)] = 1 / len(part)
    heads = [part[0] for part in parts]
    assert deviation(tasks[heads], law[np.ix_(heads, heads)]) < 4.5


@GRAPHS
def test_infinity_is_the_limit_of_large_smoothness_under_the_same_seed(
    method: str, graph: Graph
) -> None:
    limit = gaussian_tasks(graph, 3, math.inf, seed=3)
    for smoothness in (1e8, 1e10, 1e12):
        gap = np.abs(gaussian_tasks(graph, 3, smoothness, seed=3) - limit).max()
        assert gap < 10 / math.sqrt(smoothness)


def test_zero_smoothness_is_white_noise(method: str) -> None:
    white = np.random.default_rng(4).standard_normal((7, 2))
    np.testing.assert_allclose(gaussian_tasks(DISCONNECTED, 2, 0.0, seed=4), white, atol=1e-13)


@pytest.mark.parametrize("smoothness", [1.0, 1e4])
def test_large_graphs_have_the_right_energy_and_no_dense_matrix(smoothness: float) -> None:
    edges = nx.barabasi_albert_graph(20_000, 3, seed=1).edges
    graph = Graph.from_edges(list(edges), size=20_000)
    tracemalloc.start()
    tasks = gaussian_tasks(graph, 2, smoothness, seed=5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * graph.size**2 / 50
    # u'Mu is chi-square with N degrees of freedom: mean N, variance 2N.
    energy = (tasks * (tasks + smoothness * (graph.laplacian() @ tasks))).sum(axis=0)
    assert np.abs((energy - graph.size) / math.sqrt(2 * graph.size)).max() < 4


def test_gaussian_tasks_do_not_depend_on_the_order_of_the_nodes() -> None:
    # The square root is symmetric: permuting the nodes and their noise permutes the tasks.
    order = np.array([3, 0, 6, 2, 5, 1, 4])
    laplacian = DISCONNECTED.laplacian()
    white = np.random.default_rng(7).standard_normal((7, 2))
    tasks = gaussian._by_diagonalisation(laplacian, 2.0, white)
    moved = gaussian._by_diagonalisation(laplacian[order][:, order], 2.0, white[order])
    np.testing.assert_allclose(moved, tasks[order], atol=1e-14)


def naive_variances(graph: Graph, tasks: np.ndarray) -> list[float]:
    result = []
    for j in range(graph.size):
        rows = [tasks[i] for i in graph.neighbours(j)]
        mean = sum(rows) / len(rows)
        total = sum(float((row - mean) @ (row - mean)) for row in rows)
        result.append(total / (len(rows) - 1) if len(rows) > 1 else 0.0)
    return result


@settings(deadline=None, max_examples=50)
@given(size=st.integers(1, 8), dim=st.integers(1, 3), p=st.floats(0, 1), seed=st.integers(0, 999))
def test_local_variances_are_those_of_a_plain_loop(
    size: int, dim: int, p: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(rng.random((size, size)) < p, k=1))
    graph = Graph.from_edges(pairs, size=size)
    tasks = rng.standard_normal((size, dim))
    expected = naive_variances(graph, tasks)
    np.testing.assert_allclose(local_variances(graph, tasks), expected, rtol=1e-12, atol=1e-14)
    root = math.sqrt(sum(expected) / size)
    assert mean_local_deviation(graph, tasks) == pytest.approx(root, rel=1e-12)


def test_local_variances_survive_a_far_centre() -> None:
    tasks = np.random.default_rng(8).integers(-5, 5, size=(7, 2)).astype(float)
    near, far = local_variances(DISCONNECTED, tasks), local_variances(DISCONNECTED, tasks + 2.0**30)
    np.testing.assert_allclose(far, near, rtol=1e-6)


def test_local_variances_leave_the_tasks_as_they_are() -> None:
    tasks = np.arange(7.0).reshape(7, 1)
    local_variances(DISCONNECTED, tasks)
    assert (tasks[:, 0] == np.arange(7.0)).all()


@pytest.mark.parametrize("sigma", [1e-6, 0.08, 3.0])
def test_tasks_with_variance_have_that_mean_local_variance(sigma: float) -> None:
    tasks = tasks_with_variance(DISCONNECTED, 2, sigma, seed=9)
    assert local_variances(DISCONNECTED, tasks).mean() == pytest.approx(sigma**2, rel=1e-13)


def test_tasks_of_variance_zero_are_equal_even_without_edges() -> None:
    assert not tasks_with_variance(Graph.from_edges([], size=3), 2, 0.0, seed=0).any()


def test_two_groups_are_at_their_distance_around_the_centre() -> None:
    tasks = tasks_in_groups(Graph.from_edges([], size=40), 3, 0.5, seed=3, centre=2.0)
    groups = np.unique(tasks.round(12), axis=0)
    assert len(groups) == 2
    assert np.linalg.norm(groups[0] - groups[1]) == pytest.approx(0.5)
    assert np.linalg.norm(groups.mean(axis=0)) == pytest.approx(2.0)


def test_tasks_of_a_group_are_spread_around_its_point() -> None:
    tasks = tasks_in_groups(Graph.from_edges([], size=10_000), 4, 0.0, seed=3, spread=0.3)
    # The squares have a relative deviation of 1 / sqrt(2) here, so their mean one of 0.7 %.
    assert (tasks**2).sum(axis=1).mean() == pytest.approx(0.09, rel=0.03)


def test_agents_keep_their_tasks_when_others_come_after_them() -> None:
    few, many = (Graph.from_edges([], size=size) for size in (3, 9))
    made = [tasks_in_groups(graph, 2, 1.0, seed=5, spread=0.1) for graph in (few, many)]
    assert (made[0] == made[1][:3]).all()


@pytest.mark.parametrize(
    "draw",
    [
        lambda seed: gaussian_tasks(CONNECTED, 2, 1.0, seed),
        lambda seed: tasks_in_groups(CONNECTED, 2, 1.0, seed),
        lambda seed: tasks_with_variance(CONNECTED, 2, 1.0, seed),
    ],
)
def test_a_seed_gives_the_same_tasks(draw: Callable) -> None:
    assert (draw(1) == draw(1)).all()
    assert (draw(1) == draw(np.random.default_rng(1))).all()
    assert (draw(1) != draw(2)).any()


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: gaussian_tasks(CONNECTED, 0, 1.0, 0), "dim.*0"),
        (lambda: gaussian_tasks(CONNECTED, 1, -1.0, 0), "smoothness.*-1"),
        (lambda: gaussian_tasks(CONNECTED, 1, math.nan, 0), "smoothness.*nan"),
        (lambda: gaussian_tasks(CONNECTED, 1, -math.inf, 0), "smoothness.*-inf"),
        (lambda: gaussian_tasks(CONNECTED, 1, 1.0, 1.5), r"seed.*1\.5"),
        (lambda: gaussian_tasks(nx.DiGraph([(0, 1)]), 1, 1.0, 0), "graph must be undirected"),
        (lambda: tasks_with_variance(CONNECTED, 0, 1.0, 0), "dim.*0"),
        (lambda: tasks_with_variance(CONNECTED, 1, -1.0, 0), "sigma.*-1"),
        (lambda: tasks_with_variance(CONNECTED, 1, math.inf, 0), "sigma.*inf"),
        (lambda: tasks_with_variance(Graph.from_edges([], size=3), 1, 0.5, 0), r"sigma.*0\.5"),
        (lambda: tasks_with_variance(nx.DiGraph([(0, 1)]), 1, 1.0, 0), "graph must be"),
        (lambda: tasks_in_groups(CONNECTED, 1, -1.0, 0), "gap.*-1"),
        (lambda: tasks_in_groups(CONNECTED, 1, 1.0, 0, spread=math.inf), "spread.*inf"),
        (lambda: tasks_in_groups(CONNECTED, 1, 1.0, 0, centre=-1.0), "centre.*-1"),
        (lambda: local_variances(CONNECTED, np.zeros((4, 1))), "tasks.*5 x any"),
        (lambda: local_variances(CONNECTED, np.full((5, 1), np.nan)), "tasks.*nan"),
        (lambda: mean_local_deviation(CONNECTED, np.zeros(5)), "tasks.*shape"),
        (lambda: mean_local_deviation("path", np.zeros((3, 1))), "graph must be"),
    ],
)
def test_bad_tasks_are_refused(call: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        call()


def test_networkx_graphs_give_the_same_tasks_as_graphs() -> None:
    graph = CONNECTED.to_networkx()
    ours, theirs = (gaussian_tasks(g, 2, 3.0, seed=4) for g in (CONNECTED, graph))
    assert (ours == theirs).all()
    assert (local_variances(graph, ours) == local_variances(CONNECTED, ours)).all()
