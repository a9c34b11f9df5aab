"""The edges of a graph as pairs of node indices."""

from __future__ import annotations

import numpy as np

from mtcool.graphs import Graph
from mtcool.types import Integers


def edges_of(graph: Graph) -> Integers:
    """Every edge once, the smaller index first, as an (E, 2) array in ascending order.

    Examples
    --------
    >>> edges_of(Graph.from_edges([(2, 0), (1, 0)])).tolist()
    [[0, 1], [0, 2]]
    """
    rows = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    above = rows < graph.idx
    return np.stack((rows[above], graph.idx[above]), axis=1)
