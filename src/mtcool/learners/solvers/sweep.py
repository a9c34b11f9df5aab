"""A pass over the rows of a clique for several experts at once: all that the solvers want to know.

`newton.py` says what is solved. Of a row, y_i = (1 - s) m - s eta Gamma_i is its place before the
projection, and r_i = 1 / max(1, |y_i|) what the projection multiplies it with, X_i = r_i y_i. Its
Jacobian J_i is the identity inside the ball and r_i (I - u u') outside, u = y_i / |y_i|. With
z_i = m - y_i inside, and outside z_i = m - <u, m> u, and sums over all N rows, the sweep computes

    residual    N m - sum X_i                          which must be zero,
    spread      the root of sum |X_i - mean|^2         which must be sqrt((N - 1) xi), or less,
    matrix      sum of r_i u u' over the rows outside  such that N - (1 - s) sum J_i is
    scale       sum (1 - (1 - s) r_i)                  scale I + (1 - s) matrix,
    pull        sum r_i z_i                            minus s d(sum X_i) / ds,
    strength    sum r_i |z_i|^2                        for the spread's derivative in s.

The last four are derivatives (`full`). Since J_i (X_i - m) = -r_i z_i in both cases, the square of
the spread changes by 2 (strength ds / s - (1 - s) <pull, dm>). So Newton's step, m - u and s - s l,
solves two linear equations with a symmetric matrix,

    (scale I + (1 - s) matrix) u + pull l = residual,
    <pull, u> - strength / (1 - s) l = (sqrt((N - 1) xi) - spread) spread / (1 - s).

Rows inside the ball, in all lanes, enter by sums of their Gamma_i; only the others are worked on.
The rows that never received a gradient are equal, and are kept as one row with a count.
"""

from typing import NamedTuple

import numpy as np

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import (
    LANES,
    Lanes,
    absolute,
    any_above,
    load,
    load_part,
    root,
    spread,
    store,
    where_above,
)
from mtcool.types import Floats

THIN = 0.03  # a standard deviation that is too small for differences of squares
DENSE = 16  # dimensions up to which the matrix is formed and factorised

# Rows of `known`: how many rows are equal to this one; |Gamma_i|^2; its squared distance from the
# mean of Gamma; the product of this difference with the mean; which rows are outside the ball.
NUMBER, LENGTH, SQUARE, ALONG, OUTSIDE = range(5)

# Rows of `lanes`: first numbers. The expert; whether Newton's method failed; eta;
# sqrt((N - 1) xi); the least possible s; s.
EXPERT, FAILED, ETA, CAP, LEAST, S = range(6)
# What the sweep finds; |residual|^2; the least distance of an |y_i|^2 from 1.
SPREAD, SCALE, NORM, MARGIN = range(6, 10)
# Bounds on l, and l.
LOW, HIGH, TURN = range(10, 13)
HEAD = 13
# Then vectors of length d + 1: m; (1 - s) m; one y_i; the right sides of the equations; u; a u that
# is tried; for conjugate gradients: the solution for `pull`, and three more.
MEAN, STAY, PLACE, RESIDUAL, STEP, TRIAL, TILT, KRYLOV = range(8)
VECTORS = 10
# Then sums of Gamma_i, and the lower half of the symmetric matrix, or of its last row only and
# then r_i^3 of the rows outside.


class SolverScratch(NamedTuple):
    """Scratch for the solver, allocated once; few arrays, because each costs time in every call."""

    rows: Floats
    """The distinct rows of Gamma in one clique, filled up with zeros, (largest N, at least d)."""
    known: Floats
    """What is known of them, (5, at least the largest N)."""
    lanes: Floats
    """What is known of the experts that are solved together."""
    row: Floats
    """A row of one expert, (d,)."""


def make_scratch(dim: int, size: int) -> SolverScratch:
    """Scratch for cliques with at most `size` rows."""
    rest = (dim + 1) * (dim + 2) // 2 if dim <= DENSE else dim + 1 + size
    return SolverScratch(
        rows=np.zeros((size, _rounded(dim))),
        known=np.zeros((5, _rounded(size))),
        lanes=_aligned(HEAD + VECTORS * (dim + 1) + _rounded(dim) // LANES + rest),
        row=np.zeros(dim),
    )


def _rounded(length: int) -> int:
    return -(-length // LANES) * LANES


def _aligned(rows: int) -> Floats:
    """A block of lanes none of which begins in the middle of a line of the processor's cache."""
    block = np.zeros((rows + 1) * LANES)
    start = -(block.ctypes.data // block.itemsize) % LANES
    return block[start : start + rows * LANES].reshape(rows, LANES)


@inline
def vector(dim: int, which: int) -> int:
    """Where a vector begins in `lanes`."""
    return HEAD + which * (dim + 1)


@inline
def matrix_of(dim: int) -> int:
    """Where the matrix begins in `lanes`."""
    return vector(dim, VECTORS) + (dim + LANES - 1) // LANES


@inline
def last_row_of(dim: int) -> int:
    """Where its last row begins."""
    return matrix_of(dim) + (dim * (dim + 1) // 2 if dim <= DENSE else 0)


@routine
def gather_rows(
    gradients: Floats, first: int, last: int, total: Floats, scratch: SolverScratch
) -> int:
    """Copy the distinct ones of the rows first:last of Gamma, whose sum is `total`.

    Returns their number. Only rows that are zero are looked for; they come last.
    """
    rows, known, dim, per_row = scratch.rows, scratch.known, total.shape[0], 1.0 / (last - first)
    count, zeros = 0, 0
    for i in range(first, last):
        zero = True
        for k in range(dim):
            rows[count, k] = gradients[i, k]
            zero &= gradients[i, k] == 0.0
        known[NUMBER, count] = 1.0
        zeros += zero
        count += not zero
    if zeros > 0:
        for k in range(dim):
            rows[count, k] = 0.0
        known[NUMBER, count] = zeros
        count += 1
    for i in range(count):
        length, square, along = 0.0, 0.0, 0.0
        for k in range(dim):
            length += rows[i, k] ** 2
            mean = total[k] * per_row
            square += (rows[i, k] - mean) ** 2
            along += (rows[i, k] - mean) * mean
        known[LENGTH, i], known[SQUARE, i], known[ALONG, i] = length, square, along
    for i in range(count, (count + LANES - 1) // LANES * LANES):  # what fills up the last lanes
        known[SQUARE, i], known[ALONG, i] = 0.0, 0.0  # stays inside the ball
    return count


@routine
def sweep(scratch: SolverScratch, dim: int, count: int, size: int, full: bool) -> int:
    """Pass over the `count` distinct rows of `size`; derivatives only if `full`.

    Returns how many rows are outside the ball in any lane.
    """
    rows, known, lanes = scratch.rows, scratch.known, scratch.lanes
    mean, stay, place = vector(dim, MEAN), vector(dim, STAY), vector(dim, PLACE)
    residual, free, pull = vector(dim, RESIDUAL), vector(dim, VECTORS), last_row_of(dim)
    s = load(lanes, S)
    t, zero, square = s * load(lanes, ETA), spread(0.0), spread(0.0)
    for k in range(dim):
        m = load(lanes, mean + k)
        square = square + m * m
        store(lanes, stay + k, (1.0 - s) * m)
        store(lanes, residual + k, zero)
    for k in range(free, pull + dim if full else matrix_of(dim)):
        store(lanes, k, zero)
    # |y_i|^2 = base + |Gamma_i|^2 t^2 - <Gamma_i, m> cross
    base, own, cross = (1.0 - s) * (1.0 - s) * square, t * t, 2.0 * t * (1.0 - s)
    limit = 1.0  # or none, if differences of squares are too coarse
    if any_above(THIN * np.sqrt(float(size)), load(lanes, CAP)):
        limit = -1.0
    inside, lengths, crowd = 0.0, 0.0, 0
    spread_out, strength, lost, margin = zero, zero, zero, spread(1.0)
    for i in range(count):
        number, product = known[NUMBER, i], zero
        for k in range(dim):
            product = product + rows[i, k] * load(lanes, mean + k)
        length = base + known[LENGTH, i] * own - product * cross
        over = absolute(length - 1.0)
        margin = where_above(margin, over, over, margin)
        if not any_above(length, limit):
            inside += number
            lengths += number * known[LENGTH, i]
            for k in range((dim + LANES - 1) // LANES):
                part = number * load_part(rows, i, k * LANES)
                store(lanes, free + k, load(lanes, free + k) + part)
            continue
        shrink = 1.0 / root(where_above(length, 1.0, length, 1.0))
        weight, far = number * shrink, zero
        lost = lost + (number - weight)
        for k in range(dim):
            y = load(lanes, stay + k) - rows[i, k] * t
            store(lanes, place + k, y)
            step = load(lanes, mean + k) - shrink * y
            far = far + step * step
            store(lanes, residual + k, load(lanes, residual + k) + rows[i, k] * weight)
        spread_out = spread_out + number * far
        if not full:
            continue
        share = shrink * shrink * ((1.0 - s) * square - t * product)
        share, far = where_above(length, 1.0, share, 1.0), zero
        for k in range(dim):
            turn = load(lanes, mean + k) - share * load(lanes, place + k)
            far = far + turn * turn
            store(lanes, pull + k, load(lanes, pull + k) + weight * turn)
        strength = strength + weight * far
        bend = where_above(length, 1.0, (1.0 - s) * shrink * shrink * weight, 0.0)
        if dim <= DENSE:
            _add_square(lanes, dim, bend)
        else:
            store(lanes, pull + dim + 1 + crowd, bend)
            known[OUTSIDE, crowd] = i
            crowd += 1
    # N - sum r_i is a sum of 1 - r_i, so that nothing cancels when hardly a row is clipped.
    scale, norm, product = lost + s * (size - lost), zero, zero
    for k in range(dim):
        m, sums = load(lanes, mean + k), lanes[free + k // LANES, k % LANES]
        product = product + sums * m
        value = scale * m + t * (load(lanes, residual + k) + sums)
        norm = norm + value * value
        store(lanes, residual + k, value)
        if full:
            store(lanes, pull + k, load(lanes, pull + k) + (inside * s * m + sums * t))
    # Of the rows inside, y_i - m is -s m - t Gamma_i.
    near = inside * s * s * square + lengths * own + 2.0 * s * t * product
    spread_out = spread_out + near - norm / size  # from the mean of the X_i, not from m
    spread_out = root(where_above(spread_out, 0.0, spread_out, 0.0))
    store(lanes, residual + dim, (load(lanes, CAP) - spread_out) * spread_out / (1.0 - s))
    store(lanes, SPREAD, spread_out)
    store(lanes, NORM, norm)
    store(lanes, MARGIN, margin)
    if full:
        store(lanes, SCALE, scale)
        store(lanes, pull + dim, (strength + near) / (s - 1.0))
    return crowd


@inline
def _add_square(lanes: Floats, dim: int, bend: Lanes) -> None:
    """Add bend y y' to the matrix."""
    place, row = vector(dim, PLACE), matrix_of(dim)
    for j in range(dim):
        y = bend * load(lanes, place + j)
        for k in range(j + 1):
            store(lanes, row + k, load(lanes, row + k) + y * load(lanes, place + k))
        row += j + 1
