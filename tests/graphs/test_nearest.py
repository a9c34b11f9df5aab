"""Graphs of the nearest."""

import numpy as np
import pytest

from mtcool.graphs.nearest import nearest, on_the_sphere


def test_each_has_its_nearest_among_its_neighbours():
    random = np.random.default_rng(0)
    points = random.normal(size=(30, 2))
    graph = nearest(points, 4)
    asked = 0
    for i in range(30):
        distance = np.linalg.norm(points - points[i], axis=1)
        closest = set(np.argsort(distance)[:5].tolist())
        asked += len(closest) - 1
        assert closest <= set(graph.neighbours(i).tolist())
    assert graph.edge_count <= asked


def all_pairs(points, wanted):
    """Who asks for whom, by all distances; of equally near ones the first."""
    asked = set()
    for i in range(len(points)):
        distance = ((points - points[i]) ** 2).sum(axis=1)
        distance[i] = np.inf
        asked |= {frozenset((i, int(j))) for j in np.argsort(distance, kind="stable")[:wanted]}
    return asked


@pytest.mark.parametrize("wanted", [1, 2, 5, 39, 60])
@pytest.mark.parametrize("kind", ["grid", "one place", "pairs", "anywhere"])
def test_of_equally_near_points_the_first_are_taken(kind, wanted):
    random = np.random.default_rng(0)
    points = {
        "grid": random.integers(0, 4, (40, 2)).astype(float),
        "one place": np.ones((40, 2)),
        "pairs": np.repeat(random.normal(size=(20, 3)), 2, axis=0),
        "anywhere": random.normal(size=(40, 1)),
    }[kind]
    graph = nearest(points, wanted)
    found = {frozenset((i, j)) for i in range(40) for j in graph.neighbours(i).tolist() if i != j}
    assert found == all_pairs(points, min(wanted, 39))


def test_few_points_are_all_joined():
    assert nearest([[0.0], [1.0], [5.0]], 7).edge_count == 3
    assert nearest([[0.0]], 7).edge_count == 0


def test_nearness_on_the_sphere_is_that_of_the_great_circle():
    # Suva and Apia are near each other across the date line; Sydney is far from both.
    suva, apia, sydney = on_the_sphere([-18.1, -13.8, -33.9], [178.4, -171.8, 151.2])
    angle = np.degrees(np.arccos([suva @ apia, suva @ sydney]))
    np.testing.assert_allclose(angle, [10.4, 29.2], atol=0.3)
    assert np.linalg.norm(suva - apia) < np.linalg.norm(suva - sydney)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="neighbours must be a whole number"):
        nearest([[0.0], [1.0]], 0.5)
    with pytest.raises(ValueError, match="points must be a matrix"):
        nearest([0.0, 1.0], 1)
    with pytest.raises(ValueError, match="points must have coordinates"):
        nearest(np.empty((3, 0)), 1)
    with pytest.raises(ValueError, match="longitude must have shape"):
        on_the_sphere([0.0], [0.0, 1.0])
