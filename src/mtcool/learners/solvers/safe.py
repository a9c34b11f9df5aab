"""The slow and safe way to an expert's minimiser, where Newton's method does not converge.

For a given s the mean solves a strongly convex problem in d dimensions: a semismooth Newton method
with a line search finds it. The standard deviation of the rows increases with s: a safeguarded
Newton method finds the s at which it meets sqrt(xi). Only one lane is in use.
"""

import math

import numpy as np

from mtcool.kernels import inline, routine
from mtcool.learners.solvers.matrix import find_step, prepare
from mtcool.learners.solvers.sweep import (
    CAP,
    ETA,
    HIGH,
    LEAST,
    LOW,
    MEAN,
    NORM,
    NUMBER,
    RESIDUAL,
    SPREAD,
    STEP,
    TRIAL,
    TURN,
    S,
    SolverScratch,
    sweep,
    vector,
)
from mtcool.types import Floats

TOLERANCE = 1e-14  # of |m - mean(X)| and, relative, of the standard deviation
NOISE = 1e-15  # rounding of the standard deviation of rows in the unit ball
STALLED = 1e-12  # a residual below this that shrinks no more is rounding
SHORTEST = 1e-50  # of the steps that are tried on the way to a longer one
ROUNDS = 50  # the loops converge in a few steps, unless a start was far off


@routine
def minimise_safely(scratch: SolverScratch, dim: int, lane: int, count: int, size: int) -> None:
    """Solve the expert in this lane, from where the constraint would bind without projections."""
    lanes, highest, lowest = scratch.lanes, 1.0 / (1.0 + size), scratch.lanes[LEAST, lane]
    low, high, open_above = lowest, highest, True  # the upper end is itself a candidate
    before, per_row = np.inf, 1.0 / np.sqrt(size - 1.0)  # `before`: length of the last step
    s, afresh = lowest, True
    for _ in range(4 * ROUNDS):
        lanes[S, lane] = s
        crowd = _mean_for(scratch, dim, lane, count, size, afresh)
        if not (afresh or lanes[NORM, lane] <= (STALLED * size) ** 2):
            afresh = True  # the way from the last mean is too long and winding
            continue
        afresh = False
        spread, cap = lanes[SPREAD, lane] * per_row, lanes[CAP, lane] * per_row
        excess = spread - cap
        if abs(excess) <= TOLERANCE * cap + NOISE or (s == highest and excess < 0.0):
            break
        _step(scratch, dim, lane, crowd, -np.inf, np.inf)
        target = s - s * lanes[TURN, lane]
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
        _step(scratch, dim, lane, crowd, 1.0 - target / s, 1.0 - target / s)
        _add(lanes, dim, lane, -1.0, STEP)
        s = target


@inline
def _mean_for(
    scratch: SolverScratch, dim: int, lane: int, count: int, size: int, afresh: bool
) -> int:
    """Newton for the mean at a given s, which leaves |N m - sum X|^2 in NORM.

    Returns the number of rows outside the ball that the last sweep found.
    """
    lanes = scratch.lanes
    if afresh:
        _start(scratch, dim, lane, count, size)
    # The residual is the gradient of a convex function: a step went too far if that function rises
    # along it at its end. Then go where a straight line through its slopes is zero.
    before, downhill, length, crowd = np.inf, 0.0, 0.0, 0
    for _ in range(ROUNDS * ROUNDS):
        crowd = sweep(scratch, dim, count, size, True)
        prepare(scratch, dim, crowd)
        norm = math.sqrt(lanes[NORM, lane]) / float(size)
        uphill = -_product(lanes, dim, lane, RESIDUAL, TRIAL)
        if length > SHORTEST and uphill > 0.5 * downhill:
            shorter = length * max(downhill / (downhill + uphill), 0.1)
        elif norm <= TOLERANCE or (norm >= 0.5 * before and norm <= STALLED):
            break
        else:
            _step(scratch, dim, lane, crowd, 0.0, 0.0)
            before, downhill = norm, _product(lanes, dim, lane, RESIDUAL, STEP)
            length, shorter = 0.0, 1.0
            for k in range(dim):
                lanes[vector(dim, TRIAL) + k, lane] = lanes[vector(dim, STEP) + k, lane]
        _add(lanes, dim, lane, length - shorter, TRIAL)
        length = shorter
    return crowd


@inline
def _step(scratch: SolverScratch, dim: int, lane: int, crowd: int, low: float, high: float) -> None:
    scratch.lanes[LOW, lane], scratch.lanes[HIGH, lane] = low, high
    find_step(scratch, dim, crowd)


@inline
def _add(lanes: Floats, dim: int, lane: int, factor: float, which: int) -> None:
    """Add a multiple of a vector to the mean."""
    for k in range(dim):
        lanes[vector(dim, MEAN) + k, lane] += factor * lanes[vector(dim, which) + k, lane]


@inline
def _start(scratch: SolverScratch, dim: int, lane: int, count: int, size: int) -> None:
    """At the mean of the closed form, brought into the ball."""
    lanes, mean, eta, square = scratch.lanes, vector(dim, MEAN), scratch.lanes[ETA, lane], 0.0
    for k in range(dim):
        total = 0.0
        for i in range(count):
            total += scratch.known[NUMBER, i] * scratch.rows[i, k]
        lanes[mean + k, lane] = -eta * total / size
        square += lanes[mean + k, lane] ** 2
    for k in range(dim):
        lanes[mean + k, lane] /= max(1.0, np.sqrt(square))


@inline
def _product(lanes: Floats, dim: int, lane: int, a: int, b: int) -> float:
    total = 0.0
    for k in range(dim):
        total += lanes[vector(dim, a) + k, lane] * lanes[vector(dim, b) + k, lane]
    return total
