"""The expert's constrained minimiser where rows are clipped to the ball.

An expert of MT-FTRL is the minimiser of

    eta <Gamma, X> + |X|_A^2 / 2    over rows in the unit ball with sigma^2(X) <= xi.

Since |X|_A^2 = sum |X_i|^2 + N sum |X_i - mean|^2, with a multiplier lam >= 0 of the variance
constraint and s = 1 / (1 + N + lam) the minimiser is

    X_i = projection on the ball of (1 - s) m - s eta Gamma_i,    m the mean of the X_i.

For a given s the mean solves a strongly convex problem in d dimensions: a semismooth Newton method
finds it. The standard deviation of the rows increases with s: a safeguarded Newton method finds the
s at which it meets sqrt(xi). Both start from the last solution. When no row is clipped the answer
has a closed form (`mt_ftrl.py`) and none of this runs.
"""

from typing import NamedTuple

import numpy as np

from mtcool.kernels import inline, kernel
from mtcool.learners.learner import Floats

TOLERANCE = 1e-14  # of |m - mean(X)| and, relative, of the standard deviation
NOISE = 1e-15  # rounding of the standard deviation of rows in the unit ball
STALLED = 1e-12  # a residual below this that shrinks no more is rounding
ROUNDS = 50  # the loops converge in a few steps, unless a start was far off


class Workspace(NamedTuple):
    """Vectors of length d for the solver, allocated once."""

    mean: Floats
    residual: Floats
    pull: Floats
    tilt: Floats
    step: Floats
    trial: Floats
    krylov: Floats


def make_workspace(dim: int) -> Workspace:
    """Workspace for points of dimension `dim`."""
    mean, residual, pull, tilt, step, trial = np.zeros((6, dim))
    return Workspace(mean, residual, pull, tilt, step, trial, np.zeros((3, dim)))


@inline
def project_row(gradients: Floats, row: int, eta: float, s: float, m: Floats, out: Floats) -> None:
    """X_row for the given s and m: the projection of (1 - s) m - s eta Gamma_row on the ball."""
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


@kernel
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
    size = last - first
    highest = 1.0 / (1.0 + size)  # lam = 0: the variance constraint is not active
    # Projections bring rows closer, so without them the constraint would bind earlier.
    lowest = min(highest, cap / (eta * deviation))
    s = warm if lowest < warm <= highest else lowest
    low, high, open_above = lowest, highest, True  # the upper end is itself a candidate
    for attempt in range(4 * ROUNDS):
        norm, spread, slope = _mean_for(gradients, first, last, eta, s, m, work)
        if not norm <= STALLED:  # the way from the last solution is too long and winding
            start_at_mean(gradients, first, last, eta, m)
            norm, spread, slope = _mean_for(gradients, first, last, eta, s, m, work)
        excess = spread - cap
        if abs(excess) <= TOLERANCE * cap + NOISE or (s == highest and excess < 0.0):
            break
        target = s - excess / slope
        if excess > 0.0:
            high, open_above = s, False
            safe = np.sqrt(low * high)
        else:
            low = s
            safe = high if open_above else 0.5 * (low + high)
        # Newton may leave the bracket (a NaN too, from rows that do not move) or creep along kinks.
        if not low < target < high or attempt % 4 == 3:
            target = safe
        if target == s or high - low <= 4e-16 * high:
            break
        for k in range(m.shape[0]):
            m[k] += (target - s) * work.tilt[k]
        s = target
    return s


@kernel
def _mean_for(
    gradients: Floats, first: int, last: int, eta: float, s: float, m: Floats, work: Workspace
) -> tuple[float, float, float]:
    """Newton for the mean `m` at a given s.

    Returns |m - mean X|, the deviation of the rows and its slope in s, and leaves dm / ds in
    `work.tilt`.
    """
    norm, square, identity, cross = _sweep(gradients, first, last, eta, s, m, work)
    for _ in range(ROUNDS):
        if norm <= TOLERANCE:
            break
        _solve(gradients, first, last, eta, s, identity, work.residual, m, work)
        before, downhill = norm, 0.0
        for k in range(m.shape[0]):
            work.trial[k] = m[k]
            downhill += work.residual[k] * work.step[k]
        length = 1.0
        for _ in range(ROUNDS):
            for k in range(m.shape[0]):
                m[k] = work.trial[k] - length * work.step[k]
            norm, square, identity, cross = _sweep(gradients, first, last, eta, s, m, work)
            # The residual is the gradient of a convex function: the step went too far if that
            # function now rises along it. Then go where a straight line through its slopes is 0.
            uphill = 0.0
            for k in range(m.shape[0]):
                uphill -= work.residual[k] * work.step[k]
            if uphill <= 0.5 * downhill:
                break
            length *= max(downhill / (downhill + uphill), 0.1)
        if norm >= 0.5 * before and norm <= STALLED:
            break
    # m = mean(m, s) gives H dm/ds = -pull, and d X_i / ds = J_i ((1 - s) dm/ds - eta Gamma_i - m).
    _solve(gradients, first, last, eta, s, identity, work.pull, m, work)
    slope = -cross
    for k in range(m.shape[0]):
        work.tilt[k] = -work.step[k]
        slope += (1.0 - s) * work.tilt[k] * work.mean[k]
    spread = np.sqrt(square / (last - first - 1))
    return norm, spread, slope / ((last - first - 1) * spread)


@kernel
def _sweep(
    gradients: Floats, first: int, last: int, eta: float, s: float, m: Floats, work: Workspace
) -> tuple[float, float, float, float]:
    """One pass over the rows: all that both Newton methods need at (m, s).

    J_i, the Jacobian of the projection, is the identity inside the ball and
    (I - y y' / |y|^2) / |y| outside. Fills `residual` = m - mean X, `pull` = mean of
    J_i (eta Gamma_i + m) and `mean` = sum of J_i (X_i - m); returns |residual|, the squared
    deviation of the X_i, the mean coefficient of I in the J_i, and the sum of
    <X_i - m, J_i (eta Gamma_i + m)>.
    """
    dim, size = m.shape[0], float(last - first)
    for k in range(dim):
        work.residual[k] = 0.0
        work.pull[k] = 0.0
        work.mean[k] = 0.0
    square, identity, cross = 0.0, 0.0, 0.0
    for i in range(first, last):
        length = 0.0
        for k in range(dim):
            y = (1.0 - s) * m[k] - s * eta * gradients[i, k]
            length += y * y
        if length <= 1.0:
            identity += 1.0
            for k in range(dim):
                # X_i - m = -s (eta Gamma_i + m)
                force = eta * gradients[i, k] + m[k]
                step = -s * force
                work.residual[k] -= step
                work.pull[k] += force
                work.mean[k] += step
                square += step * step
                cross += step * force
            continue
        shrink = 1.0 / np.sqrt(length)
        if dim > 1:  # on the line a clipped row does not move: J_i = 0
            identity += shrink
        radial_force, radial_step = 0.0, 0.0
        for k in range(dim):
            unit = ((1.0 - s) * m[k] - s * eta * gradients[i, k]) * shrink
            radial_force += unit * (eta * gradients[i, k] + m[k])
            radial_step += unit * (unit - m[k])
        for k in range(dim):
            force = eta * gradients[i, k] + m[k]
            unit = ((1.0 - s) * m[k] - s * eta * gradients[i, k]) * shrink
            step = unit - m[k]
            work.residual[k] -= step
            work.pull[k] += shrink * (force - radial_force * unit)
            work.mean[k] += shrink * (step - radial_step * unit)
            square += step * step
            cross += step * shrink * (force - radial_force * unit)
    norm = 0.0
    for k in range(dim):
        work.residual[k] /= size
        work.pull[k] /= size
        norm += work.residual[k] * work.residual[k]
    return np.sqrt(norm), max(square - size * norm, 0.0), identity / size, cross


@kernel
def _solve(
    gradients: Floats,
    first: int,
    last: int,
    eta: float,
    s: float,
    identity: float,
    right: Floats,
    m: Floats,
    work: Workspace,
) -> None:
    """Solve H v = right into `work.step`, H = I - (1 - s) mean(J_i), by conjugate gradients.

    H is a multiple of the identity plus one rank-one term per clipped row, so the method ends in
    few steps, and in one when d = 1.
    """
    dim = m.shape[0]
    solution = work.step
    if dim == 1:
        solution[0] = right[0] / ((1.0 - identity) + s * identity)
        return
    residual, direction, image = work.krylov[0], work.krylov[1], work.krylov[2]
    error = 0.0
    for k in range(dim):
        solution[k] = 0.0
        residual[k] = right[k]
        direction[k] = right[k]
        error += right[k] * right[k]
    goal = 1e-30 * error
    for _ in range(2 * dim + 10):
        if error <= goal:
            break
        _apply(gradients, first, last, eta, s, identity, m, direction, image)
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


@kernel
def _apply(
    gradients: Floats,
    first: int,
    last: int,
    eta: float,
    s: float,
    identity: float,
    m: Floats,
    v: Floats,
    out: Floats,
) -> None:
    """H v = (1 - (1 - s) identity) v + (1 - s) / N * sum over clipped rows of y <y, v> / |y|^3."""
    dim = m.shape[0]
    for k in range(dim):
        out[k] = ((1.0 - identity) + s * identity) * v[k]
    for i in range(first, last):
        length, along = 0.0, 0.0
        for k in range(dim):
            y = (1.0 - s) * m[k] - s * eta * gradients[i, k]
            length += y * y
            along += y * v[k]
        if length > 1.0:
            factor = (1.0 - s) / (last - first) * along / (length * np.sqrt(length))
            for k in range(dim):
                out[k] += factor * ((1.0 - s) * m[k] - s * eta * gradients[i, k])
