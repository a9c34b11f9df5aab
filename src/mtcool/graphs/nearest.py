"""Graphs of things that have a place: each is joined to those nearest to it."""

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from mtcool.graphs.graph import Graph
from mtcool.types import Floats, Integers
from mtcool.validation import count, matrix, numbers, vector

ALIKE = 1.0 + 1e-9
"""Distances within this factor of each other are compared exactly."""


def nearest(points: ArrayLike, neighbours: int, labels: Iterable[Hashable] | None = None) -> Graph:
    """Join each point to those nearest to it; an edge needs only one of its ends to ask for it.

    Parameters
    ----------
    points
        One row of coordinates for each agent; distances are Euclidean.
    neighbours
        How many others each agent asks for. Of equally near ones the first are taken.
    labels
        Names of the agents, in the order of the rows.

    Examples
    --------
    >>> nearest([[0.0], [1.0], [10.0]], 1, labels="abc").to_networkx().edges
    EdgeView([('a', 'b'), ('b', 'c')])
    """
    places = matrix("points", points, (None, None))
    if places.shape[1] == 0:
        raise ValueError(f"points must have coordinates, got shape {places.shape}")
    size = len(places)
    wanted = min(count("neighbours", neighbours), size - 1)
    pairs = _pairs(places, wanted) if size > 1 else np.empty((0, 2), np.int64)
    graph = Graph.from_edges(pairs, size=size)
    return graph if labels is None else Graph(graph.ptr, graph.idx, labels)


def on_the_sphere(latitude: ArrayLike, longitude: ArrayLike) -> Floats:
    """Degrees as points of the unit sphere in space, where nearer is nearer by great circle too.

    Parameters
    ----------
    latitude, longitude
        In degrees, one of each for every place.

    Examples
    --------
    >>> on_the_sphere([0.0, 90.0], [0.0, 0.0]).round(9)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    north = np.radians(numbers("latitude", latitude))
    east = np.radians(vector("longitude", longitude, north.size))
    across = np.cos(north)
    return np.column_stack([across * np.cos(east), across * np.sin(east), np.sin(north)])


def _pairs(places: Floats, wanted: int) -> Integers:
    """Each point with those that it asks for."""
    from scipy.spatial import cKDTree  # which is slow to import

    tree = cKDTree(places)
    # Two more: the point itself, and the first that is not asked for, which may be as near.
    distance, found = map(np.asarray, tree.query(places, k=min(wanted + 2, len(places))))
    pairs = []
    for i, (far, others) in enumerate(zip(distance, found, strict=True)):
        if i not in others or (len(far) > wanted + 1 and far[-1] <= far[-2] * ALIKE):
            others = tree.query_ball_point(places[i], far[-1] * ALIKE, return_sorted=True)
            others = np.array(others)
            off = ((places[others] - places[i]) ** 2).sum(axis=1)
            others = others[np.argsort(off, kind="stable")]
        pairs += [(i, int(j)) for j in others[others != i][:wanted]]
    return np.array(pairs, np.int64)
