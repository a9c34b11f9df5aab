"""The integer programs behind the graph parameters, solved by HiGHS within a time limit."""

import math
import time
from typing import NamedTuple

import numpy as np
from scipy import sparse

from mtcool.graphs.components import connected_components
from mtcool.graphs.edges import Indices
from mtcool.graphs.graph import Graph, Matrix


class Proof(NamedTuple):
    """What is proven of an optimum, and a set that attains one end."""

    lower: int
    upper: int
    witness: Indices


def most_independent(graph: Graph, start: Indices, time_limit: float) -> Proof:
    """A largest set of agents without neighbours among them; `start` is one that is known."""
    rows = _edge_cliques(graph)
    found, bound = _solve(-np.ones(graph.size), rows, upper=1.0, time_limit=time_limit)
    best = start if found is None or found.size < start.size else found
    # The dual bound is a number of agents: rounding it down is safe up to the solver's tolerance.
    upper = graph.size if bound is None else math.floor(-bound + _slack(rows))
    if upper < best.size:
        raise RuntimeError(f"HiGHS proved at most {upper} agents, but {best.size} are known")
    return Proof(best.size, upper, best)


def smallest_cover(graph: Graph, start: Indices, time_limit: float) -> Proof:
    """A smallest dominating set, component by component; `start` is one that is known."""
    deadline = time.monotonic() + time_limit
    closed = graph.matrix(np.ones(graph.idx.size))
    count, component = connected_components(closed)
    sizes = np.bincount(component, minlength=count)
    # One agent who neighbours all of its component dominates it: cliques, stars, lone agents.
    central = np.flatnonzero(graph.neighbourhood_sizes == sizes[component])
    done, first = np.unique(component[central], return_index=True)
    chosen, lower = [central[first]], done.size
    order, ends = np.argsort(component, kind="stable"), np.cumsum(sizes)
    for c in np.setdiff1d(np.arange(count), done):
        nodes = order[ends[c] - sizes[c] : ends[c]]
        left = max(deadline - time.monotonic(), 0.0)
        rows = _within(closed, nodes)
        found, bound = None, None
        if left > 0.0:
            found, bound = _solve(np.ones(nodes.size), rows, lower=1.0, time_limit=left)
        known = start[component[start] == c]
        best = known if found is None or found.size > known.size else nodes[found]
        chosen.append(best)
        # A component without a central agent takes two at least.
        proven = 2 if bound is None else max(2, math.ceil(bound - _slack(rows)))
        if proven > best.size:
            raise RuntimeError(f"HiGHS proved at least {proven} agents, but {best.size} do")
        lower += proven
    witness = np.sort(np.concatenate(chosen)).astype(np.int64)
    return Proof(int(lower), witness.size, witness)


def _within(closed: Matrix, nodes: Indices) -> Matrix:
    """The rows of a component, with its nodes renumbered from 0."""
    rows = closed[nodes]
    columns = np.searchsorted(nodes, rows.indices)
    return sparse.csr_array((rows.data, columns, rows.indptr), shape=(nodes.size, nodes.size))


def _solve(
    cost: Indices | np.ndarray,
    rows: Matrix,
    *,
    lower: float = -np.inf,
    upper: float = np.inf,
    time_limit: float,
) -> tuple[Indices | None, float | None]:
    """The best set found and the bound proven, either of which may be missing."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import, rarely used

    solution = milp(
        c=cost,
        integrality=np.ones(cost.size, dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(rows, lb=lower, ub=upper),
        # HiGHS by default stops at a relative gap of 1e-4, which is no proof for a large graph.
        options={"time_limit": time_limit, "mip_rel_gap": 0.0},
    )
    if solution.status not in (0, 1):  # solved, or out of time
        raise RuntimeError(f"HiGHS could not solve the program: {solution.message}")
    found = None if solution.x is None else np.flatnonzero(solution.x > 0.5)
    bound = solution.mip_dual_bound
    if bound is None and solution.status == 0:
        bound = solution.fun
    return found, None if bound is None or not np.isfinite(bound) else float(bound)


def _slack(rows: Matrix) -> float:
    """How far the solver's bound may be off: its tolerance for each row."""
    return min(1e-6 * (1.0 + rows.shape[0]), 0.49)


def _edge_cliques(graph: Graph) -> Matrix:
    """Cliques that cover all edges, a row each: far stronger than a row for every edge."""
    neighbours = [set(graph.neighbours(v).tolist()) for v in range(graph.size)]
    left = {(u, v) for u in range(graph.size) for v in neighbours[u] if u < v}
    members: list[list[int]] = []
    for u in range(graph.size):
        for v in sorted(neighbours[u]):
            if (u, v) not in left:
                continue
            clique, candidates = [u, v], neighbours[u] & neighbours[v] - {u, v}
            while candidates:
                # The neighbour of all that has most candidates left, ties to the smallest.
                w = max(candidates, key=lambda c: (len(neighbours[c] & candidates), -c))
                clique.append(w)
                candidates = candidates & neighbours[w] - {w}
            left.difference_update((a, b) for a in clique for b in clique if a < b)
            members.append(clique)
    if not members:
        return sparse.csr_array((0, graph.size))
    ptr = np.concatenate(([0], np.cumsum([len(clique) for clique in members])))
    idx = np.concatenate(members)
    return sparse.csr_array((np.ones(idx.size), idx, ptr), shape=(len(members), graph.size))
