"""Linear equations of the experts' solvers: N - (1 - s) sum J_i, as left by `argmin_sweep.sweep`.

In few dimensions the matrix is there, and is factorised; the factors serve until they are
replaced. In many it is a multiple of the identity plus one term for each row outside the ball, and
conjugate gradients need no more than products with it.
"""

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import any_above, load, store, where_above
from mtcool.learners.argmin_sweep import (
    DENSE,
    ETA,
    KRYLOV,
    OUTSIDE,
    SCALE,
    STAY,
    S,
    Workspace,
    matrix_of,
    vector,
)
from mtcool.learners.learner import Floats


@routine
def factorise(lanes: Floats, dim: int) -> None:
    """Replace the matrix by L and 1 / D, where LDL' = scale I + (1 - s) matrix."""
    scale, stay = load(lanes, SCALE), 1.0 - load(lanes, S)
    row = matrix_of(dim)
    for j in range(dim):
        diagonal, other = scale + stay * load(lanes, row + j), matrix_of(dim)
        for k in range(j):  # first L D
            value = stay * load(lanes, row + k)
            for i in range(k):
                value = value - load(lanes, row + i) * load(lanes, other + i)
            store(lanes, row + k, value)
            other += k + 1
        other = matrix_of(dim)
        for k in range(j):
            value = load(lanes, row + k)
            factor = value * load(lanes, other + k)
            diagonal = diagonal - value * factor
            store(lanes, row + k, factor)
            other += k + 1
        store(lanes, row + j, 1.0 / diagonal)
        row += j + 1


@routine
def solve(work: Workspace, crowd: int, right: int, out: int) -> None:
    """Solve for the vector at `right`; there are `crowd` rows outside the ball."""
    dim = work.row.shape[0]
    if dim <= DENSE:
        _substitute(work.lanes, dim, right, out)
    else:
        _conjugate_gradients(work, dim, crowd, right, out)


@inline
def _substitute(lanes: Floats, dim: int, right: int, out: int) -> None:
    row = matrix_of(dim)
    for j in range(dim):
        value = load(lanes, right + j)
        for k in range(j):
            value = value - load(lanes, row + k) * load(lanes, out + k)
        store(lanes, out + j, value)
        row += j + 1
    for j in range(dim - 1, -1, -1):
        row -= j + 1
        value, below = load(lanes, row + j) * load(lanes, out + j), row + 2 * j + 1
        for k in range(j + 1, dim):
            value = value - load(lanes, below) * load(lanes, out + k)
            below += k + 1
        store(lanes, out + j, value)


@inline
def _conjugate_gradients(work: Workspace, dim: int, crowd: int, right: int, out: int) -> None:
    lanes, rest = work.lanes, vector(dim, KRYLOV)
    direction, image = rest + dim, rest + 2 * dim
    zero = 0.0 * load(lanes, S)
    error = zero
    for k in range(dim):
        value = load(lanes, right + k)
        error = error + value * value
        store(lanes, out + k, zero)
        store(lanes, rest + k, value)
        store(lanes, direction + k, value)
    goal = 1e-16 * error
    for _ in range(2 * dim + 10):
        if not any_above(error, goal):
            break
        _apply(work, dim, crowd, direction, image)
        curvature = zero
        for k in range(dim):
            curvature = curvature + load(lanes, direction + k) * load(lanes, image + k)
        length = where_above(error, goal, error / curvature, zero)  # zero where it has ended
        previous, error = error, zero
        for k in range(dim):
            store(lanes, out + k, load(lanes, out + k) + length * load(lanes, direction + k))
            value = load(lanes, rest + k) - length * load(lanes, image + k)
            store(lanes, rest + k, value)
            error = error + value * value
        turn = where_above(previous, zero, error / previous, zero)
        for k in range(dim):
            value = load(lanes, rest + k) + turn * load(lanes, direction + k)
            store(lanes, direction + k, value)


@inline
def _apply(work: Workspace, dim: int, crowd: int, v: int, out: int) -> None:
    """scale v + (1 - s) sum of r^3 y <y, v>."""
    rows, lanes, stay = work.rows, work.lanes, vector(dim, STAY)
    s, scale = load(lanes, S), load(lanes, SCALE)
    t, zero = s * load(lanes, ETA), 0.0 * s
    for k in range(dim):
        store(lanes, out + k, scale * load(lanes, v + k))
    for j in range(crowd):
        i, along = int(work.known[OUTSIDE, j]), zero
        for k in range(dim):
            y = load(lanes, stay + k) - rows[i, k] * t
            along = along + y * load(lanes, v + k)
        along = (1.0 - s) * load(lanes, matrix_of(dim) + j) * along
        for k in range(dim):
            y = load(lanes, stay + k) - rows[i, k] * t
            store(lanes, out + k, load(lanes, out + k) + along * y)
