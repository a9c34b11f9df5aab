"""The experts' constrained minimisers where rows are clipped to the ball.

An expert of MT-FTRL is the minimiser of

    eta <Gamma, X> + |X|_A^2 / 2    over rows in the unit ball with sigma^2(X) <= xi.

Since |X|_A^2 = sum |X_i|^2 + N sum |X_i - mean|^2, with a multiplier lam >= 0 of the variance
constraint and s = 1 / (1 + N + lam) the minimiser is

    X_i = projection on the ball of (1 - s) m - s eta Gamma_i,    m the mean of the X_i.

Newton's method finds m and s together, from the last solution, for several experts of a clique at
once: each is a lane (`kernels/lanes.py`), and `solvers/sweep.py` passes over the rows for all of
them. Where it does not converge there is a slower, safe way (`solvers/safe.py`). When no row is
clipped the answer has a closed form (`mt_ftrl/closed_form.py`) and none of this runs; and d = 1 has
its own way (`solvers/line.py`).
"""

import numpy as np

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import (
    LANES,
    absolute,
    any_above,
    load,
    root,
    spread,
    store,
    where_above,
)
from mtcool.learners.solvers.matrix import find_step, prepare
from mtcool.learners.solvers.safe import minimise_safely
from mtcool.learners.solvers.sweep import (
    CAP,
    DENSE,
    ETA,
    EXPERT,
    FAILED,
    HEAD,
    HIGH,
    LEAST,
    LOW,
    MARGIN,
    MEAN,
    NORM,
    SPREAD,
    STEP,
    TURN,
    S,
    SolverScratch,
    sweep,
    vector,
)
from mtcool.types import Floats

ROUNDS = 20  # Newton's method converges in a few steps, or hardly ever
EXACT = 1e-13  # an error of s, or of m in units of the standard deviation, that is good enough
ROUNDING = 1e-15  # of both equations, for a row
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
    scratch: SolverScratch,
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
    lanes, highest = scratch.lanes, 1.0 / (1.0 + size)  # lam = 0: the constraint is not active
    # Projections bring rows closer, so without them the constraint would bind earlier.
    lowest = highest if cap > WIDEST else min(highest, cap / (eta * deviation))
    lanes[EXPERT, lane], lanes[ETA, lane] = expert, eta
    lanes[CAP, lane], lanes[LEAST, lane] = min(cap, WIDEST) * np.sqrt(size - 1.0), lowest
    lanes[S, lane] = warm if lowest < warm <= highest else lowest
    for k in range(m.shape[0]):
        lanes[vector(m.shape[0], MEAN) + k, lane] = m[k]


@routine
def minimise(
    scratch: SolverScratch, used: int, count: int, size: int, multiplier: Floats, centre: Floats
) -> None:
    """Solve the `used` experts that were put into lanes, for the `count` rows that were gathered.

    Leaves s in `multiplier` and m in `centre`, at the place of the expert.
    """
    lanes, dim = scratch.lanes, centre.shape[1]
    for lane in range(used, LANES):
        for k in range(HEAD + dim):
            lanes[k, lane] = lanes[k, 0]
    _newton(scratch, dim, count, size)
    for lane in range(used):
        if lanes[FAILED, lane] > 0.0:
            minimise_safely(scratch, dim, lane, count, size)
        expert, mean = int(lanes[EXPERT, lane]), vector(dim, MEAN)
        multiplier[expert] = lanes[S, lane]
        for k in range(dim):
            centre[expert, k] = lanes[mean + k, lane]


@inline
def _newton(scratch: SolverScratch, dim: int, count: int, size: int) -> None:
    """Newton's method for m and s; lanes in which it does not converge are marked in FAILED.

    An s that would leave its bounds goes as far as they are. Factors of the matrix serve again when
    that is good enough.
    """
    lanes, mean, step = scratch.lanes, vector(dim, MEAN), vector(dim, STEP)
    cap, least, most, wide = load(lanes, CAP), load(lanes, LEAST), 1.0 / (1.0 + size), float(size)
    per_cap = np.sqrt(wide) / cap
    before, moving, unit, per_unit = spread(1.0), spread(1.0), spread(1.0), spread(1.0)
    full = True
    for _ in range(ROUNDS):
        crowd = sweep(scratch, dim, count, size, full)
        s, spread_out = load(lanes, S), load(lanes, SPREAD)
        # Where both equations hold up to rounding, so would be the step.
        gap = absolute(spread_out - cap)
        gap = where_above(most, s, gap, where_above(spread_out, cap, gap, 0.0))
        held = where_above((10.0 * ROUNDING * wide) ** 2, load(lanes, NORM), 0.0, moving)
        moving = where_above(ROUNDING * (10.0 * cap + np.sqrt(wide)), gap, held, moving)
        if full:
            prepare(scratch, dim, crowd)
            unit, per_unit = s, 1.0 / s  # of l, as the factors know it
        store(lanes, LOW, (s - most) * per_unit)
        store(lanes, HIGH, (s - least) * per_unit)
        find_step(scratch, dim, crowd)
        turn, square, length = load(lanes, TURN), spread(0.0), spread(0.0)
        for k in range(dim):
            change = load(lanes, step + k)
            square = square + change * change
            m = load(lanes, mean + k)
            m = where_above(moving, 0.0, m - change, m)
            length = length + m * m
            store(lanes, mean + k, m)
        goal = where_above(moving, 0.0, s - unit * turn, s)
        store(lanes, S, where_above(goal, most, most, goal))  # not above it by rounding
        if any_above(length, 1.0):  # the mean of rows in the ball is there too
            shrink = 1.0 / root(where_above(length, 1.0, length, 1.0))
            for k in range(dim):
                store(lanes, mean + k, shrink * load(lanes, mean + k))
        # Steps, in units of the standard deviation, shrink by a ratio that itself shrinks, so the
        # error is at most the ratio times the step, unless a row crosses the boundary on the way. A
        # ratio is not believed if it is much smaller than the step before it.
        moved = root(square) * per_cap + absolute(turn)
        ratio = where_above(before, moved, moved / before, 1.0)
        good = where_above(load(lanes, MARGIN), 7.0 * moved, 1.0, 0.0)
        good = where_above(10.0 * EXACT, moved, 1.0, good)
        good = where_above(EXACT, ratio * moved, good, 0.0)
        good = where_above(EXACT, 0.1 * before * moved, good, 0.0)
        moving = where_above(good, 0.0, 0.0, moving)
        if not any_above(moving, 0.0):
            break
        # Old factors shrink the error by the square of the ratio once they are one step old.
        guess = ratio * ratio * moved
        if full:
            guess = guess * ratio * ratio
        full = dim > DENSE or any_above(moving * guess, 10.0 * EXACT)
        before = where_above(moved, 0.0, moved, 1.0)
    store(lanes, FAILED, moving)
