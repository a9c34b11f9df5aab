"""Which clique each entry (i, j) of a graph listens to: two ways to divide a graph into cliques."""

import numpy as np

from mtcool.graphs.graph import Graph
from mtcool.types import Indices


def one_for_each_agent(graph: Graph) -> Indices:
    """Entry (i, j) listens to clique j, the neighbourhood of agent j.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> one_for_each_agent(star(3)).tolist()
    [0, 1, 2, 0, 1, 0, 2]
    """
    return graph.idx.view(np.uint32)


def one_for_each_pair(graph: Graph) -> Indices:
    """Entry (i, j) listens to the clique of i and j; the clique of i = j has one row.

    Agent i's own clique has number i, the edges follow in the order of their smaller end.

    Examples
    --------
    >>> from mtcool.graphs import star
    >>> one_for_each_pair(star(3)).tolist()
    [0, 3, 4, 3, 1, 4, 2]
    """
    i = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    low, high = np.minimum(i, graph.idx), np.maximum(i, graph.idx)
    clique = low.astype(np.int64)
    edges = low != high
    _, number = np.unique(low[edges] * graph.size + high[edges], return_inverse=True)
    clique[edges] = graph.size + number
    return clique.astype(np.uint32)
