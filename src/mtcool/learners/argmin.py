"""The expert's constrained minimiser where rows are clipped to the ball.

An expert of MT-FTRL is the minimiser of

    eta <Gamma, X> + |X|_A^2 / 2    over rows in the unit ball with sigma^2(X) <= xi.

Since |X|_A^2 = sum |X_i|^2 + N sum |X_i - mean|^2, with a multiplier lam >= 0 of the variance
constraint and s = 1 / (1 + N + lam) the minimiser is

    X_i = projection on the ball of (1 - s) m - s eta Gamma_i,    m the mean of the X_i.

For a given s the mean solves a strongly convex problem in d dimensions: a semismooth Newton method
finds it. The standard deviation of the rows increases with s: a safeguarded Newton method finds the
s at which it meets sqrt(xi). Both start from the last solution. When no row is clipped the answer
has a closed form (`mt_ftrl.py`) and none of this runs; and d = 1 has a faster way
(`argmin_line.py`), which comes here only when it fails.
"""

from typing import NamedTuple

import numpy as np

from mtcool.kernels import inline, routine
from mtcool.learners.argmin_line import Line, make_line
from mtcool.learners.learner import Floats, Integers

TOLERANCE = 1e-14  # of |m - mean(X)| and, relative, of the standard deviation
NOISE = 1e-15  # rounding of the standard deviation of rows in the unit ball
STALLED = 1e-12  # a residual below this that shrinks no more is rounding
ROUNDS = 50  # the loops converge in a few steps, unless a start was far off


class Workspace(NamedTuple):
    """Room for the solver, allocated once: vectors of length d, and one for every clipped row."""

    mean: Floats
    residual: Floats
    pull: Floats
    tilt: Floats
    step: Floats
    trial: Floats
    force: Floats
    row: Floats
    """A row of one expert."""
    krylov: Floats
    unit: Floats
    """Where the clipped rows sit on the ball, one below the other, (largest N, d)."""
    shrink: Floats
    """One over their distance from the centre before the projection."""
    line: Line
    """Room for the solver on the line; empty unless d = 1."""


def make_workspace(dim: int, sizes: Integers, experts: int) -> Workspace:
    """Workspace for cliques with so many rows and at most `experts` experts."""
    size = int(sizes.max())
    mean, residual, pull, tilt, step, trial, force, row = np.zeros((8, dim))
    krylov, unit, shrink = np.zeros((3, dim)), np.zeros((size, dim)), np.zeros(size)
    line = make_line(sizes if dim == 1 else sizes[:0], experts if dim == 1 else 0)
    return Workspace(
        mean, residual, pull, tilt, step, trial, force, row, krylov, unit, shrink, line
    )


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
def start_at_mean(gradients: Floats, first: int, last: int, eta: float, m: Floats) -> None:
    """The mean of the closed form, brought into the ball: the solution if rows must be equal."""
    for k in range(m.shape[0]):
        m[k] = 0.0
    for i in range(first, last):
        for k in range(m.shape[0]):
            m[k] -= eta * gradients[i, k]
    square = 0.0
    for k in range(m.shape[0]):
        m[k] /= last - first
        square += m[k] * m[k]
    scale = 1.0 / max(1.0, np.sqrt(square))
    for k in range(m.shape[0]):
        m[k] *= scale


@routine
def minimise(
    gradients: Floats,
    first: int,
    last: int,
    eta: float,
    deviation: float,
    cap: float,
    warm: float,
    m: Floats,
    work: Workspace,
) -> float:
    """Solve for the rows first:last of Gamma; `cap` is sqrt(xi), `deviation` that of Gamma's rows.

    Returns s and leaves the mean in `m`. A `warm` start is the last s, with the last mean in `m`;
    a negative one means there is none.
    """
    if warm < 0.0:
        start_at_mean(gradients, first, last, eta, m)
    rows, size = gradients[first:last], last - first
    highest = 1.0 / (1.0 + size)  # lam = 0: the variance constraint is not active
    # Projections bring rows closer, so without them the constraint would bind earlier.
    lowest = min(highest, cap / (eta * deviation))
    s = warm if lowest < warm <= highest else lowest
    low, high, open_above = lowest, highest, True  # the upper end is itself a candidate
    before = np.inf  # length of the last step
    for _ in range(4 * ROUNDS):
        sweep = _mean_for(rows, eta, s, m, work)
        if not sweep.norm <= STALLED:  # the way from the last solution is too long and winding
            start_at_mean(gradients, first, last, eta, m)
            sweep = _mean_for(rows, eta, s, m, work)
        spread = np.sqrt(sweep.square / (size - 1))
        excess = spread - cap
        if abs(excess) <= TOLERANCE * cap + NOISE or (s == highest and excess < 0.0):
            break
        target = s - excess / _slope(sweep, spread, s, size, work)
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
        for k in range(m.shape[0]):
            m[k] += (target - s) * work.tilt[k]
        s = target
    return s


class Sweep(NamedTuple):
    """What one pass over the rows tells, besides the vectors in the workspace."""

    norm: float
    """|m - mean X|"""
    square: float
    """Squared deviation of the X_i from their mean."""
    identity: float
    """Mean coefficient of I in the J_i."""
    cross: float
    """Sum of <X_i - m, J_i (eta Gamma_i + m)>."""
    clipped: int
    """Number of rows on the ball."""


@inline
def _slope(sweep: Sweep, spread: float, s: float, size: int, work: Workspace) -> float:
    """Derivative in s of the rows' standard deviation; leaves dm / ds in `work.tilt`.

    m = mean(m, s) gives H dm/ds = -pull, and d X_i / ds = J_i ((1 - s) dm/ds - eta Gamma_i - m).
    """
    _solve(s, size, sweep, work.pull, work)
    slope = -sweep.cross
    for k in range(work.tilt.shape[0]):
        work.tilt[k] = -work.step[k]
        slope += (1.0 - s) * work.tilt[k] * work.mean[k]
    return slope / ((size - 1) * spread)


@inline
def _mean_for(rows: Floats, eta: float, s: float, m: Floats, work: Workspace) -> Sweep:
    """Newton for the mean `m` at a given s; returns what the last pass over the rows found."""
    sweep = _sweep(rows, eta, s, m, work)
    for _ in range(ROUNDS):
        if sweep.norm <= TOLERANCE:
            break
        _solve(s, rows.shape[0], sweep, work.residual, work)
        before, downhill = sweep.norm, 0.0
        for k in range(m.shape[0]):
            work.trial[k] = m[k]
            downhill += work.residual[k] * work.step[k]
        length = 1.0
        for _ in range(ROUNDS):
            for k in range(m.shape[0]):
                m[k] = work.trial[k] - length * work.step[k]
            sweep = _sweep(rows, eta, s, m, work)
            # The residual is the gradient of a convex function: the step went too far if that
            # function now rises along it. Then go where a straight line through its slopes is 0.
            uphill = 0.0
            for k in range(m.shape[0]):
                uphill -= work.residual[k] * work.step[k]
            if uphill <= 0.5 * downhill:
                break
            length *= max(downhill / (downhill + uphill), 0.1)
        if sweep.norm >= 0.5 * before and sweep.norm <= STALLED:
            break
    return sweep


@routine
def _sweep(rows: Floats, eta: float, s: float, m: Floats, work: Workspace) -> Sweep:
    """One pass over the rows: all that both Newton methods need at (m, s).

    J_i, the Jacobian of the projection, is the identity inside the ball and (I - u u') / |y|
    outside, where u = y / |y|. Fills `residual` = m - mean X, `pull` = mean of
    J_i (eta Gamma_i + m), `mean` = sum of J_i (X_i - m), and `unit` and `shrink` with u and
    1 / |y| of the clipped rows.
    """
    size, dim = rows.shape
    if dim == 1:
        return _sweep_line(rows, eta, s, m[0], work)
    stay, move = 1.0 - s, s * eta
    for k in range(dim):
        work.residual[k] = 0.0
        work.pull[k] = 0.0
        work.mean[k] = 0.0
        work.force[k] = 0.0
    square, cross, identity, strength, clipped = 0.0, 0.0, 0.0, 0.0, 0
    for i in range(size):
        length = 0.0
        for k in range(dim):
            y = stay * m[k] - move * rows[i, k]
            work.unit[clipped, k] = y
            length += y * y
        if length <= 1.0:  # X_i - m = -s (eta Gamma_i + m): its terms are added below
            for k in range(dim):
                force = eta * rows[i, k] + m[k]
                work.force[k] += force
                strength += force * force
            continue
        shrink = 1.0 / np.sqrt(length)
        work.shrink[clipped] = shrink
        identity += shrink
        radial_force, radial_step = 0.0, 0.0
        for k in range(dim):
            unit = work.unit[clipped, k] * shrink
            work.unit[clipped, k] = unit
            radial_force += unit * (eta * rows[i, k] + m[k])
            radial_step += unit * (unit - m[k])
        for k in range(dim):
            unit = work.unit[clipped, k]
            step = unit - m[k]
            turn = shrink * (eta * rows[i, k] + m[k] - radial_force * unit)
            work.residual[k] -= step
            work.pull[k] += turn
            work.mean[k] += shrink * (step - radial_step * unit)
            square += step * step
            cross += step * turn
        clipped += 1
    norm = 0.0
    for k in range(dim):
        force = work.force[k]
        work.residual[k] = (work.residual[k] + s * force) / size
        work.pull[k] = (work.pull[k] + force) / size
        work.mean[k] -= s * force
        norm += work.residual[k] * work.residual[k]
    identity = (identity + size - clipped) / size
    square = max(square + s * s * strength - size * norm, 0.0)
    return Sweep(np.sqrt(norm), square, identity, cross - s * strength, clipped)


@inline
def _sweep_line(rows: Floats, eta: float, s: float, m: float, work: Workspace) -> Sweep:
    """The same for d = 1, where a clipped row does not move, J_i = 0: no root, no branch."""
    size, stay, move = rows.shape[0], 1.0 - s, s * eta
    sum_of_steps, square, sum_of_forces, strength, inside = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(size):
        y = stay * m - move * rows[i, 0]
        x = 1.0 if y > 1.0 else (-1.0 if y < -1.0 else y)
        free = 1.0 if x == y else 0.0
        force = free * (eta * rows[i, 0] + m)
        step = -s * force if x == y else x - m
        sum_of_steps += step
        square += step * step
        sum_of_forces += force
        strength += force * force
        inside += free
    residual = -sum_of_steps / size
    work.residual[0] = residual
    work.pull[0] = sum_of_forces / size
    work.mean[0] = -s * sum_of_forces
    square = max(square - size * residual * residual, 0.0)
    return Sweep(abs(residual), square, inside / size, -s * strength, 0)


@inline
def _solve(s: float, size: int, sweep: Sweep, right: Floats, work: Workspace) -> None:
    """Solve H v = right into `work.step`, H = I - (1 - s) mean(J_i), by conjugate gradients.

    H is a multiple of the identity plus one rank-one term per clipped row, so the method ends in
    few steps, and in one when d = 1.
    """
    dim = right.shape[0]
    solution = work.step
    scale = (1.0 - sweep.identity) + s * sweep.identity
    if dim == 1:
        solution[0] = right[0] / scale
        return
    residual, direction, image = work.krylov[0], work.krylov[1], work.krylov[2]
    error = 0.0
    for k in range(dim):
        solution[k] = 0.0
        residual[k] = right[k]
        direction[k] = right[k]
        error += right[k] * right[k]
    goal = 1e-16 * error
    for _ in range(2 * dim + 10):
        if error <= goal:
            break
        _apply(scale, (1.0 - s) / size, sweep.clipped, work, direction, image)
        curvature = 0.0
        for k in range(dim):
            curvature += direction[k] * image[k]
        length = error / curvature
        previous = error
        error = 0.0
        for k in range(dim):
            solution[k] += length * direction[k]
            residual[k] -= length * image[k]
            error += residual[k] * residual[k]
        for k in range(dim):
            direction[k] = residual[k] + error / previous * direction[k]


@inline
def _apply(
    scale: float, share: float, clipped: int, work: Workspace, v: Floats, out: Floats
) -> None:
    """H v = scale v + (1 - s) / N * sum over clipped rows of u <u, v> / |y|."""
    for k in range(v.shape[0]):
        out[k] = scale * v[k]
    for i in range(clipped):
        along = 0.0
        for k in range(v.shape[0]):
            along += work.unit[i, k] * v[k]
        along *= share * work.shrink[i]
        for k in range(v.shape[0]):
            out[k] += along * work.unit[i, k]
