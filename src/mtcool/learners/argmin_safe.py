"""The slow and safe way to an expert's minimiser, where Newton's method does not converge.

For a given s the mean solves a strongly convex problem in d dimensions: a semismooth Newton method
with a line search finds it. The standard deviation of the rows increases with s: a safeguarded
Newton method finds the s at which it meets sqrt(xi). Only one lane is in use.
"""

import numpy as np

from mtcool.kernels import inline, routine
from mtcool.learners.argmin_matrix import factorise, solve
from mtcool.learners.argmin_sweep import (
    CAP,
    DENSE,
    ETA,
    LEAST,
    MEAN,
    NORM,
    NUMBER,
    PULL,
    RESIDUAL,
    SPREAD,
    STEP,
    STRENGTH,
    TILT,
    S,
    Workspace,
    sweep,
    vector,
)

TOLERANCE = 1e-14  # of |m - mean(X)| and, relative, of the standard deviation
NOISE = 1e-15  # rounding of the standard deviation of rows in the unit ball
STALLED = 1e-12  # a residual below this that shrinks no more is rounding
ROUNDS = 50  # the loops converge in a few steps, unless a start was far off


@routine
def minimise_safely(work: Workspace, lane: int, count: int, size: int) -> None:
    """Solve the expert in this lane, from where the constraint would bind without projections."""
    lanes, dim = work.lanes, work.row.shape[0]
    mean, tilt = vector(dim, MEAN), vector(dim, TILT)
    highest, lowest = 1.0 / (1.0 + size), lanes[LEAST, lane]
    low, high, open_above = lowest, highest, True  # the upper end is itself a candidate
    before, per_row = np.inf, 1.0 / np.sqrt(size - 1.0)  # `before`: length of the last step
    lanes[S, lane] = lowest
    _start(work, lane, count, size)
    for _ in range(4 * ROUNDS):
        s = lanes[S, lane]
        if not _mean_for(work, lane, count, size) <= STALLED:  # the way was too long and winding
            _start(work, lane, count, size)
            _mean_for(work, lane, count, size)
        spread, cap = lanes[SPREAD, lane] * per_row, lanes[CAP, lane] * per_row
        excess = spread - cap
        if abs(excess) <= TOLERANCE * cap + NOISE or (s == highest and excess < 0.0):
            break
        slope = lanes[STRENGTH, lane] + (1.0 - s) * _product(work, lane, PULL, TILT)
        target = s - s * (size - 1.0) * excess * spread / slope
        if excess > 0.0:
            high, open_above = s, False
            safe = np.sqrt(low * high)
        else:
            low = s
            safe = high if open_above else 0.5 * (low + high)
        # Newton may leave the bracket (a NaN too, from rows that do not move) or creep along kinks.
        if not low < target < high or abs(target - s) > 0.5 * before:
            target = safe
        before = abs(target - s)
        if target == s or high - low <= 4e-16 * high:
            break
        for k in range(dim):
            lanes[mean + k, lane] -= (target - s) / s * lanes[tilt + k, lane]
        lanes[S, lane] = target


@inline
def _start(work: Workspace, lane: int, count: int, size: int) -> None:
    """At the mean of the closed form, brought into the ball."""
    mean, eta, square = vector(work.row.shape[0], MEAN), work.lanes[ETA, lane], 0.0
    for k in range(work.row.shape[0]):
        total = 0.0
        for i in range(count):
            total += work.known[NUMBER, i] * work.rows[i, k]
        work.row[k] = -eta * total / size
        square += work.row[k] ** 2
    for k in range(work.row.shape[0]):
        work.lanes[mean + k, lane] = work.row[k] / max(1.0, np.sqrt(square))


@inline
def _mean_for(work: Workspace, lane: int, count: int, size: int) -> float:
    """Newton for the mean at a given s; returns |m - mean X|."""
    lanes, dim = work.lanes, work.row.shape[0]
    mean, step = vector(dim, MEAN), vector(dim, STEP)
    norm = _sweep(work, lane, count, size)
    for _ in range(ROUNDS):
        if norm <= TOLERANCE:
            break
        before, downhill = norm, _product(work, lane, RESIDUAL, STEP)
        for k in range(dim):
            work.row[k] = lanes[step + k, lane]
        length, taken = 1.0, 0.0
        for _ in range(ROUNDS):
            for k in range(dim):
                lanes[mean + k, lane] -= (length - taken) * work.row[k]
            taken = length
            norm = _sweep(work, lane, count, size)
            # The residual is the gradient of a convex function: the step went too far if that
            # function now rises along it. Then go where a straight line through its slopes is 0.
            uphill, residual = 0.0, vector(dim, RESIDUAL)
            for k in range(dim):
                uphill -= lanes[residual + k, lane] * work.row[k]
            if uphill <= 0.5 * downhill:
                break
            length *= max(downhill / (downhill + uphill), 0.1)
        if norm >= 0.5 * before and norm <= STALLED:
            break
    return norm


@inline
def _sweep(work: Workspace, lane: int, count: int, size: int) -> float:
    """A sweep, with Newton's step for m and the tilt; returns |m - mean X|."""
    dim = work.row.shape[0]
    crowd = sweep(work, count, size, True)
    if dim <= DENSE:
        factorise(work.lanes, dim)
    solve(work, crowd, vector(dim, PULL), vector(dim, TILT))
    solve(work, crowd, vector(dim, RESIDUAL), vector(dim, STEP))
    return np.sqrt(work.lanes[NORM, lane]) / size


@inline
def _product(work: Workspace, lane: int, a: int, b: int) -> float:
    dim, total = work.row.shape[0], 0.0
    for k in range(dim):
        total += work.lanes[vector(dim, a) + k, lane] * work.lanes[vector(dim, b) + k, lane]
    return total
