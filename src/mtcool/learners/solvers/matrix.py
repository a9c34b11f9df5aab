"""Newton's step for the experts: the linear equations of `solvers/sweep.py`.

In few dimensions the matrix is formed and factorised; the factors serve until they are replaced.
In many it is a multiple of the identity plus one term for each row outside the ball, bordered by
`pull`, and conjugate gradients need no more than products with it.
"""

import numpy as np

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import Lanes, any_above, load, spread, store, where_above
from mtcool.learners.solvers.sweep import (
    DENSE,
    ETA,
    HIGH,
    KRYLOV,
    LOW,
    OUTSIDE,
    RESIDUAL,
    SCALE,
    STAY,
    STEP,
    TILT,
    TURN,
    S,
    SolverScratch,
    last_row_of,
    matrix_of,
    vector,
)
from mtcool.types import Floats


@routine
def prepare(scratch: SolverScratch, dim: int, crowd: int) -> None:
    """Compute what depends on the matrix only, after a sweep that found `crowd` rows outside."""
    if dim <= DENSE:
        _factorise(scratch.lanes, dim)
    else:
        _conjugate_gradients(scratch, dim, crowd, last_row_of(dim), vector(dim, TILT))


@routine
def find_step(scratch: SolverScratch, dim: int, crowd: int) -> None:
    """Solve for u and l, where l goes no further than its bounds, and u follows."""
    if dim <= DENSE:
        _substitute(scratch.lanes, dim)
        return
    lanes, pull, right = scratch.lanes, last_row_of(dim), vector(dim, RESIDUAL)
    step, tilt = vector(dim, STEP), vector(dim, TILT)
    _conjugate_gradients(scratch, dim, crowd, right, step)
    bottom = load(lanes, right + dim) - _product(lanes, dim, pull, step)
    turn = _bounded(lanes, bottom / (load(lanes, pull + dim) - _product(lanes, dim, pull, tilt)))
    for k in range(dim):
        store(lanes, step + k, load(lanes, step + k) - turn * load(lanes, tilt + k))


@inline
def _bounded(lanes: Floats, turn: Lanes) -> Lanes:
    low, high = load(lanes, LOW), load(lanes, HIGH)
    turn = where_above(turn, low, turn, low)
    turn = where_above(turn, high, high, turn)
    store(lanes, TURN, turn)
    return turn


@inline
def _factorise(lanes: Floats, dim: int) -> None:
    """Replace the matrix by L and 1 / D, where it is LDL'."""
    scale, row = load(lanes, SCALE), matrix_of(dim)
    for j in range(dim + 1):
        diagonal, other = load(lanes, row + j), matrix_of(dim)
        if j < dim:
            diagonal = diagonal + scale
        for k in range(j):  # first L D
            value = load(lanes, row + k)
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


@inline
def _substitute(lanes: Floats, dim: int) -> None:
    right, out, row = vector(dim, RESIDUAL), vector(dim, STEP), matrix_of(dim)
    for j in range(dim + 1):
        value = load(lanes, right + j)
        for k in range(j):
            value = value - load(lanes, row + k) * load(lanes, out + k)
        store(lanes, out + j, value)
        row += j + 1
    turn = _bounded(lanes, load(lanes, out + dim) * load(lanes, row - 1))
    store(lanes, out + dim, turn)
    row -= dim + 1
    for j in range(dim - 1, -1, -1):
        row -= j + 1
        value, below = load(lanes, row + j) * load(lanes, out + j), row + 2 * j + 1
        for k in range(j + 1, dim + 1):
            value = value - load(lanes, below) * load(lanes, out + k)
            below += k + 1
        store(lanes, out + j, value)


@routine
def _conjugate_gradients(
    scratch: SolverScratch, dim: int, crowd: int, right: int, out: int
) -> None:
    lanes, rest = scratch.lanes, vector(dim, KRYLOV)
    direction, image = rest + dim, rest + 2 * dim
    error = _product(lanes, dim, right, right)
    for k in range(dim):
        store(lanes, out + k, spread(0.0))
        store(lanes, rest + k, load(lanes, right + k))
        store(lanes, direction + k, load(lanes, right + k))
    goal = 1e-16 * error
    for _ in range(2 * dim + 10):
        if not any_above(error, goal):
            break
        _apply(scratch, dim, crowd, direction, image)
        curvature = where_above(error, goal, _product(lanes, dim, direction, image), np.inf)
        length = error / curvature  # zero where it has ended
        for k in range(dim):
            store(lanes, out + k, load(lanes, out + k) + length * load(lanes, direction + k))
            store(lanes, rest + k, load(lanes, rest + k) - length * load(lanes, image + k))
        previous, error = error, _product(lanes, dim, rest, rest)
        turn = error / where_above(previous, 0.0, previous, 1.0)
        for k in range(dim):
            store(lanes, direction + k, load(lanes, rest + k) + turn * load(lanes, direction + k))


@inline
def _apply(scratch: SolverScratch, dim: int, crowd: int, v: int, out: int) -> None:
    """scale v + (1 - s) sum of r^3 y <y, v>."""
    rows, lanes = scratch.rows, scratch.lanes
    stay, bend = vector(dim, STAY), last_row_of(dim) + dim + 1
    t, scale = load(lanes, S) * load(lanes, ETA), load(lanes, SCALE)
    for k in range(dim):
        store(lanes, out + k, scale * load(lanes, v + k))
    for j in range(crowd):
        i, along = int(scratch.known[OUTSIDE, j]), spread(0.0)
        for k in range(dim):
            along = along + (load(lanes, stay + k) - rows[i, k] * t) * load(lanes, v + k)
        along = load(lanes, bend + j) * along
        for k in range(dim):
            y = load(lanes, stay + k) - rows[i, k] * t
            store(lanes, out + k, load(lanes, out + k) + along * y)


@inline
def _product(lanes: Floats, dim: int, a: int, b: int) -> Lanes:
    total = spread(0.0)
    for k in range(dim):
        total = total + load(lanes, a + k) * load(lanes, b + k)
    return total
