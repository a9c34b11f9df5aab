"""The experts' constrained minimisers where rows are clipped to the ball.

An expert of MT-FTRL is the minimiser of

    eta <Gamma, X> + |X|_A^2 / 2    over rows in the unit ball with sigma^2(X) <= xi.

Since |X|_A^2 = sum |X_i|^2 + N sum |X_i - mean|^2, with a multiplier lam >= 0 of the variance
constraint and s = 1 / (1 + N + lam) the minimiser is

    X_i = projection on the ball of (1 - s) m - s eta Gamma_i,    m the mean of the X_i.

Newton's method finds m and s together, from the last solution, for several experts of a clique at
once: each is a lane (`kernels/lanes.py`), and `argmin_sweep.py` passes over the rows for all of
them. Where it does not converge there is a slower, safe way (`argmin_safe.py`). When no row is
clipped the answer has a closed form (`mt_ftrl_closed.py`) and none of this runs; and d = 1 has a
faster way (`argmin_line.py`), which comes here only when it fails.
"""

import numpy as np

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import LANES, Lanes, any_above, load, root, store, where_above
from mtcool.learners.argmin_matrix import factorise, solve
from mtcool.learners.argmin_safe import minimise_safely
from mtcool.learners.argmin_sweep import (
    CAP,
    DENSE,
    ETA,
    EXPERT,
    FAILED,
    HEAD,
    LEAST,
    MARGIN,
    MEAN,
    NORM,
    PULL,
    RESIDUAL,
    SPREAD,
    STEP,
    STRENGTH,
    TILT,
    S,
    Workspace,
    gather_rows,
    make_workspace,
    sweep,
    vector,
)
from mtcool.learners.learner import Floats

__all__ = [
    "Workspace",
    "gather_rows",
    "make_workspace",
    "minimise",
    "project_row",
    "put_expert",
    "start_at_mean",
]

ROUNDS = 20  # Newton's method converges in a few steps, or hardly ever
EXACT = 1e-15  # an error that is rounding
WIDEST = 1.5  # no rows in the unit ball have a larger standard deviation


@inline
def project_row(gradients: Floats, row: int, eta: float, s: float, m: Floats, out: Floats) -> None:
    """X_row for the given s and m: the projection of (1 - s) m - s eta Gamma_row on the ball."""
    if m.shape[0] == 1:  # no root
        y = (1.0 - s) * m[0] - s * eta * gradients[row, 0]
        out[0] = 1.0 if y > 1.0 else (-1.0 if y < -1.0 else y)
        return
    square = 0.0
    for k in range(m.shape[0]):
        out[k] = (1.0 - s) * m[k] - s * eta * gradients[row, k]
        square += out[k] * out[k]
    if square > 1.0:
        scale = 1.0 / np.sqrt(square)
        for k in range(m.shape[0]):
            out[k] *= scale


@inline
def start_at_mean(total: Floats, size: int, eta: float, m: Floats) -> None:
    """The mean of the closed form, brought into the ball: the solution if rows must be equal."""
    square = 0.0
    for k in range(m.shape[0]):
        m[k] = -eta * total[k] / size
        square += m[k] * m[k]
    scale = 1.0 / max(1.0, np.sqrt(square))
    for k in range(m.shape[0]):
        m[k] *= scale


@inline
def put_expert(
    work: Workspace,
    lane: int,
    expert: int,
    size: int,
    eta: float,
    cap: float,
    deviation: float,
    warm: float,
    m: Floats,
) -> None:
    """Prepare an expert; `cap` is sqrt(xi), `deviation` the standard deviation of Gamma's rows.

    It starts from the mean `m` and the last s, `warm`; a negative one means there is none.
    """
    lanes, highest = work.lanes, 1.0 / (1.0 + size)  # lam = 0: the constraint is not active
    # Projections bring rows closer, so without them the constraint would bind earlier.
    lowest = highest if cap > WIDEST else min(highest, cap / (eta * deviation))
    lanes[EXPERT, lane], lanes[ETA, lane] = expert, eta
    lanes[CAP, lane], lanes[LEAST, lane] = min(cap, WIDEST) * np.sqrt(size - 1.0), lowest
    lanes[S, lane] = warm if lowest < warm <= highest else lowest
    for k in range(m.shape[0]):
        lanes[vector(m.shape[0], MEAN) + k, lane] = m[k]


@routine
def minimise(
    work: Workspace, used: int, count: int, size: int, multiplier: Floats, centre: Floats
) -> None:
    """Solve the `used` experts that were put into lanes, for the `count` rows that were gathered.

    Leaves s in `multiplier` and m in `centre`, at the place of the expert.
    """
    lanes, dim = work.lanes, work.row.shape[0]
    for lane in range(used, LANES):
        for k in range(HEAD + dim):
            lanes[k, lane] = lanes[k, 0]
    failed = _newton(work, count, size)
    for lane in range(used):
        _take(lanes, dim, lane, multiplier, centre)
    if not failed:
        return
    for lane in range(used):
        if lanes[FAILED, lane] > 0.0:
            minimise_safely(work, lane, count, size)
            _take(lanes, dim, lane, multiplier, centre)


@inline
def _take(lanes: Floats, dim: int, lane: int, multiplier: Floats, centre: Floats) -> None:
    expert, mean = int(lanes[EXPERT, lane]), vector(dim, MEAN)
    multiplier[expert] = lanes[S, lane]
    for k in range(dim):
        centre[expert, k] = lanes[mean + k, lane]


@inline
def _newton(work: Workspace, count: int, size: int) -> bool:
    """Newton's method for m and s; were there lanes in which it did not converge?

    Those are marked in FAILED. With v = `tilt`, H v = pull, and u = `step`, H u = residual, m changes
    by -u - v ds / s, and the linearised equation of the spread tells ds. An s that would leave its
    bounds goes as far as they are. Factors of the matrix serve again when that is good enough.
    """
    lanes, dim = work.lanes, work.row.shape[0]
    mean, residual, pull = vector(dim, MEAN), vector(dim, RESIDUAL), vector(dim, PULL)
    step, tilt = vector(dim, STEP), vector(dim, TILT)
    cap, least = load(lanes, CAP), load(lanes, LEAST)
    zero = 0.0 * cap
    one = zero + 1.0
    most, exact = one / (1.0 + size), zero + EXACT
    stay, stiff, before, open_lanes, crowd, full = one, one, one, one, 0, True
    for _ in range(ROUNDS):
        crowd = sweep(work, count, size, full)
        if full:
            if dim <= DENSE:
                factorise(lanes, dim)
            solve(work, crowd, pull, tilt)
            stay = 1.0 - load(lanes, S)
            stiff = load(lanes, STRENGTH) + stay * _product(lanes, dim, pull, tilt)
        solve(work, crowd, residual, step)
        s, spread = load(lanes, S), load(lanes, SPREAD)
        excess = (spread - cap) * spread + stay * _product(lanes, dim, pull, step)
        goal = s - s * excess / stiff
        goal = where_above(goal, least, goal, least)
        goal = where_above(goal, most, most, goal)
        turn = (goal - s) / s
        store(lanes, S, s + open_lanes * (goal - s))
        square, length = zero, zero
        for k in range(dim):
            change = load(lanes, step + k) + turn * load(lanes, tilt + k)
            square = square + change * change
            m = load(lanes, mean + k) - open_lanes * change
            length = length + m * m
            store(lanes, mean + k, m)
        if any_above(length, one):  # the mean of rows in the ball is there too
            shrink = where_above(length, one, 1.0 / root(length), one)
            for k in range(dim):
                store(lanes, mean + k, shrink * load(lanes, mean + k))
        # Steps shrink by a ratio that itself shrinks, so the error is at most the ratio times the
        # step, unless a row crosses the ball's boundary on the way.
        moved = root(square) + cap / np.sqrt(float(size)) * _absolute(turn)
        ratio = moved / before
        ratio = where_above(one, ratio, ratio, one)
        good = where_above(load(lanes, MARGIN), 7.0 * moved, one, zero)
        good = where_above(10.0 * exact, moved, one, good)
        good = where_above(exact, ratio * moved, good, zero)
        # Or both equations hold up to rounding, of which the steps then are.
        gap, tolerance = _absolute(spread - cap), exact * (10.0 * cap + np.sqrt(float(size)))
        gap = where_above(most, s, gap, where_above(spread, cap, gap, zero))
        settled = where_above(100.0 * size * size * exact * exact, load(lanes, NORM), one, zero)
        settled = where_above(tolerance, gap, settled, zero)
        open_lanes = where_above(good + settled, zero, zero, open_lanes)
        if not any_above(open_lanes, zero):
            return False
        # Old factors shrink the error by the square of the ratio once they are one step old.
        guess = ratio * ratio * moved
        if full:
            guess = guess * ratio * ratio
        full = dim > DENSE or any_above(open_lanes * guess, 10.0 * exact)
        before = where_above(moved, zero, moved, one)
    store(lanes, FAILED, open_lanes)
    return True


@inline
def _product(lanes: Floats, dim: int, a: int, b: int) -> Lanes:
    total = 0.0 * load(lanes, S)
    for k in range(dim):
        total = total + load(lanes, a + k) * load(lanes, b + k)
    return total


@inline
def _absolute(values: Lanes) -> Lanes:
    return where_above(values, 0.0 * values, values, 0.0 - values)
