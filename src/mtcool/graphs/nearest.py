"""Graphs of things that have a place: each is joined to those nearest to it."""

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from mtcool.graphs.graph import Graph
from mtcool.types import Floats
from mtcool.validation import count, matrix, numbers, vector


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
    size = len(places)
    wanted = min(count("neighbours", neighbours), size - 1)
    pairs = [(i, j) for i in range(size) for j in _closest(places, i, wanted)]
    graph = Graph.from_edges(np.array(pairs, np.int64).reshape(-1, 2), size=size)
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


def _closest(places: Floats, i: int, wanted: int) -> list[int]:
    distance = ((places - places[i]) ** 2).sum(axis=1)
    distance[i] = np.inf
    return [int(j) for j in np.argsort(distance, kind="stable")[:wanted]]
