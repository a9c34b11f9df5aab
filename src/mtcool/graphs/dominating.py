"""Dominating sets: a few agents such that everybody has one of them in the neighbourhood."""

import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from mtcool import validation
from mtcool.graphs.edges import Indices, node_indices
from mtcool.graphs.graph import Graph, GraphLike, Matrix, as_graph


def is_dominating(graph: GraphLike, nodes: ArrayLike | Iterable[int]) -> bool:
    """Whether every closed neighbourhood contains one of `nodes` (node indices).

    >>> from mtcool.graphs import star
    >>> is_dominating(star(5), [0]), is_dominating(star(5), [1, 2, 3])
    (True, False)
    """
    network = as_graph(graph)
    members = members_of(network, "nodes", nodes)
    return bool(np.logical_or.reduceat(members[network.idx], network.ptr[:-1]).all())


def smallest_dominating_set(graph: GraphLike, time_limit: float = 60.0) -> Indices:
    """A dominating set of the least size gamma(G): node indices, ascending.

    Exact, by integer programming on each connected component; proven within `time_limit` seconds
    or refused with a TimeoutError.

    >>> from mtcool.graphs import grid
    >>> len(smallest_dominating_set(grid(4, 4)))
    4
    """
    network = as_graph(graph)
    deadline = time.monotonic() + validation.positive("time_limit", time_limit)
    closed = network.matrix(np.ones(network.idx.size))
    count, component = connected_components(closed, directed=False)
    sizes = np.bincount(component, minlength=count)
    # One agent who neighbours all of its component dominates it: cliques, stars, lone agents.
    central = np.flatnonzero(network.neighbourhood_sizes == sizes[component])
    done, first = np.unique(component[central], return_index=True)
    chosen = [central[first]]
    order = np.argsort(component, kind="stable")
    ends = np.cumsum(sizes)
    for c in np.setdiff1d(np.arange(count), done):
        nodes = order[ends[c] - sizes[c] : ends[c]]
        chosen.append(nodes[_smallest_cover(_within(closed, nodes), deadline, time_limit)])
    return np.sort(np.concatenate(chosen)).astype(np.int64)


def members_of(graph: Graph, name: str, nodes: ArrayLike | Iterable[int]) -> NDArray[np.bool_]:
    """The indicator of a set of node indices."""
    members = np.zeros(graph.size, dtype=np.bool_)
    members[node_indices(name, nodes, graph.size)] = True
    return members


def _within(closed: Matrix, nodes: Indices) -> Matrix:
    """The rows of a component, with its nodes renumbered from 0."""
    rows = closed[nodes]
    columns = np.searchsorted(nodes, rows.indices)
    return sparse.csr_array((rows.data, columns, rows.indptr), shape=(nodes.size, nodes.size))


def _smallest_cover(closed: Matrix, deadline: float, time_limit: float) -> Indices:
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import, rarely used

    n = closed.shape[0]
    solution = milp(
        c=np.ones(n),
        integrality=np.ones(n, dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(closed, lb=1),
        # HiGHS by default stops at a relative gap of 1e-4, which is no proof for a large graph.
        options={"time_limit": max(deadline - time.monotonic(), 0.0), "mip_rel_gap": 0.0},
    )
    if solution.status == 1:
        raise TimeoutError(
            f"no proof of a smallest dominating set within time_limit={time_limit} seconds: allow "
            "more time, or pass dominating_set= to delegation_weights"
        )
    if solution.status != 0:
        raise RuntimeError(f"HiGHS found no smallest dominating set: {solution.message}")
    return np.flatnonzero(solution.x > 0.5)
