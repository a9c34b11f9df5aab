"""Experts with rows on the ball, where the closed form ends and a solver begins.

The subproblems are those of the 27 experts of a clique of 27 along a stretch of a run in which the
tasks lie around the ball's boundary. Warm: each expert starts from its last solution, as in a run;
cold: from the mean of the closed form. The peer is cvxpy with Clarabel on the same subproblems
(`convex.py`), the faster of parametrised and stated afresh, at its default accuracy.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import convex
from benchmarks.result import Result, at_least
from benchmarks.timing import Run, fastest
from mtcool import graphs, mt_co2ol, simulate, streams
from mtcool.kernels import kernel
from mtcool.kernels.lanes import LANES
from mtcool.learners.mt_ftrl.state import CAP, FACTOR, MULTIPLIER
from mtcool.learners.solvers.line import CLOSED_FORM
from mtcool.learners.solvers.newton import minimise, put_expert, start_at_mean
from mtcool.learners.solvers.sweep import gather_rows, make_scratch

Floats = NDArray[np.float64]

SIZE = 27
BURN_IN = 1_000
# Clarabel's tolerances for the comparison: it fails numerically at one or the other of them.
TIGHT = (1e-10, 1e-11, 1e-12)


def run(quick: bool) -> list[Result]:
    """Speed-up over the convex solver, for one and for eight dimensions."""
    return [result for dim in (1, 8) for result in _for_dimension(dim, quick)]


class Stretch(NamedTuple):
    """Subproblems of one clique along consecutive updates."""

    gradients: Floats
    """Gamma after every update, one below the other, (K N, d)."""
    total: Floats
    """Sum of the rows of Gamma, (K, d)."""
    deviation: Floats
    """Standard deviation of the rows of Gamma, (K,)."""
    eta: Floats
    """Learning rate of every expert, (K, E)."""
    cap: Floats
    """sqrt(xi) of every expert, (E,)."""
    clipped: NDArray[np.bool_]
    """Whether the expert has rows on the ball, (K, E)."""


def _for_dimension(dim: int, quick: bool) -> list[Result]:
    stretch = _stretch(dim, updates=20 if quick else 200)
    count = int(stretch.clipped.sum())
    sample = _sample(stretch, 5 if quick else 20)
    accuracy = _largest_difference(stretch, sample)
    if not accuracy <= 1e-6:
        raise ArithmeticError(f"both solvers must agree to 1e-6, they differ by {accuracy}")
    best = fastest(
        {
            "cold": lambda: _ours(stretch, warm=False),
            "warm": lambda: _ours(stretch, warm=True),
        }
        | _peers(stretch, sample),
        repetitions=3 if quick else 5,
    )
    warm, cold = best["warm"] / count, best["cold"] / count
    parametrised, afresh = (
        sum(best[way, k, e] for k, e in sample) / len(sample) for way in ("parametrised", "afresh")
    )
    peer = (
        f"cvxpy + Clarabel: {1e3 * parametrised:.2f} ms parametrised, {1e3 * afresh:.2f} ms afresh"
    )
    theirs = min(parametrised, afresh)
    name = f"Clipped rows, N = {SIZE}, d = {dim}"
    return [
        Result(
            f"{name}, warm, {1e6 * warm:.2f} µs: speed-up",
            f"{peer}; solutions agree to {accuracy:.0e}",
            theirs / warm,
            target=at_least(10_000.0),
        ),
        Result(
            f"{name}, cold, {1e6 * cold:.2f} µs: speed-up",
            peer,
            theirs / cold,
            target=at_least(10_000.0),
        ),
    ]


def _stretch(dim: int, updates: int) -> Stretch:
    """Run a complete graph; all cliques see every update, so the first one stands for all."""
    graph = graphs.complete(SIZE)
    tasks = streams.tasks_with_variance(graph, dim, sigma=1.0, seed=0)
    stream = streams.quadratic_stream(graph, tasks, BURN_IN + updates, seed=1)
    network = mt_co2ol(graph, dim, lipschitz=stream.lipschitz(radius=1.0))
    simulate(network, stream[:BURN_IN])
    state = network.peers.state
    gradients, total, deviation, eta, clipped = [], [], [], [], []
    for t in range(BURN_IN, len(stream)):
        simulate(network, stream[t : t + 1])
        gradients.append(state.gradients[:SIZE].copy())
        total.append(state.total[0].copy())
        deviation.append(1.0 / state.cliques["inverse"][0])
        eta.append(state.cliques["unit"][0] * state.table[FACTOR, :SIZE])
        clipped.append(state.experts[MULTIPLIER, :SIZE] >= 0.0)
    return Stretch(
        np.concatenate(gradients),
        np.array(total),
        np.array(deviation),
        np.array(eta),
        state.table[CAP, :SIZE].copy(),
        np.array(clipped),
    )


def _sample(stretch: Stretch, count: int) -> list[tuple[int, int]]:
    """Some of the clipped subproblems, as pairs (update, expert)."""
    all_clipped = np.argwhere(stretch.clipped)
    chosen = np.linspace(0, len(all_clipped) - 1, count).astype(int)
    return [(int(k), int(e)) for k, e in all_clipped[chosen]]


def _ours(stretch: Stretch, warm: bool) -> Run:
    s, centre, scratch = _scratch(stretch)
    return lambda: _solve_all(*stretch, warm, s, centre, scratch)


def _scratch(stretch: Stretch) -> tuple[Floats, Floats, Any]:
    """Scratch for the solutions, s and the mean of the rows, and the solver's own."""
    shape, dim = stretch.clipped.shape, stretch.gradients.shape[1]
    # Full of zeros, not np.zeros: memory that is handed out in the timed run is not its business.
    return np.full(shape, 0.0), np.full((*shape, dim), 0.0), make_scratch(dim, SIZE)


@kernel
def _solve_all(
    gradients: Any,
    total: Any,
    deviation: Any,
    eta: Any,
    cap: Any,
    clipped: Any,
    warm: bool,
    s: Any,
    centre: Any,
    scratch: Any,
) -> None:
    updates, experts = clipped.shape
    size = gradients.shape[0] // updates
    for k in range(updates):
        count, used = gather_rows(gradients, k * size, (k + 1) * size, total[k], scratch), 0
        for e in range(experts):
            if clipped[k, e]:
                guess, m = CLOSED_FORM, centre[k, e]
                if warm and k > 0 and clipped[k - 1, e]:
                    guess = s[k - 1, e]
                    for j in range(centre.shape[2]):
                        m[j] = centre[k - 1, e, j]
                else:
                    start_at_mean(total[k], size, eta[k, e], m)
                put_expert(scratch, used, e, size, eta[k, e], cap[e], deviation[k], guess, m)
                used += 1
            if used == LANES or (used > 0 and e == experts - 1):
                minimise(scratch, used, count, size, s[k], centre[k])
                used = 0


def _subproblem(stretch: Stretch, k: int, e: int) -> tuple[Floats, float]:
    return stretch.eta[k, e] * stretch.gradients[k * SIZE : (k + 1) * SIZE], float(stretch.cap[e])


def _peers(stretch: Stretch, sample: list[tuple[int, int]]) -> dict[Any, Callable[[], Run]]:
    """One contestant for each subproblem: in a busy moment a long run has no chance at all."""
    problem = convex.Parametrised(SIZE, stretch.gradients.shape[1])
    peers: dict[Any, Callable[[], Run]] = {}
    for k, e in sample:
        given = _subproblem(stretch, k, e)
        peers["parametrised", k, e] = lambda given=given: lambda: problem.solve(*given)
        peers["afresh", k, e] = lambda given=given: lambda: convex.afresh(*given)
    return peers


def _largest_difference(stretch: Stretch, sample: list[tuple[int, int]]) -> float:
    """Between our rows and the best that Clarabel can do when asked for high accuracy."""
    s, centre, scratch = _scratch(stretch)
    _solve_all(*stretch, True, s, centre, scratch)
    problem = convex.Parametrised(SIZE, stretch.gradients.shape[1])
    largest = 0.0
    for k, e in sample:
        pull, cap = _subproblem(stretch, k, e)
        ours = (1.0 - s[k, e]) * centre[k, e] - s[k, e] * pull
        ours /= np.maximum(1.0, np.linalg.norm(ours, axis=1, keepdims=True))
        theirs = (problem.solve(pull, cap, tolerance) for tolerance in TIGHT)
        largest = max(largest, min(float(np.abs(ours - rows).max()) for rows in theirs))
    return largest
