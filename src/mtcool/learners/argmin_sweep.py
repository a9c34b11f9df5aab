"""A pass over the rows of a clique for several experts at once: all that the solvers want to know.

`argmin.py` says what is solved. Of a row, y_i = (1 - s) m - s eta Gamma_i is its place before the
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
the spread changes by 2 (strength ds / s - (1 - s) <pull, dm>).

Rows inside the ball, in all lanes, enter by sums of their Gamma_i; only the others are worked on.
Equal rows would be one row with a number; the rows that never received a gradient are.
"""

from typing import NamedTuple

import numpy as np

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import LANES, Lanes, any_above, load, load_part, root, store, where_above
from mtcool.learners.argmin_line import Line, make_line
from mtcool.learners.learner import Floats, Integers

DENSE = 16  # dimensions up to which the matrix is formed and factorised

# Rows of `known`: how many rows are equal to this one; its squared distance from the mean of
# Gamma; the product of this difference with the mean; the rows outside the ball, by number.
NUMBER, SQUARE, ALONG, OUTSIDE = range(4)

# Rows of `lanes`: first numbers. The expert; whether Newton's method failed; eta;
# sqrt((N - 1) xi); the least possible s; s.
EXPERT, FAILED, ETA, CAP, LEAST, S = range(6)
# What the sweep finds; |residual|^2; the least distance of an |y_i|^2 from 1.
SPREAD, SCALE, STRENGTH, NORM, MARGIN = range(6, 11)
HEAD = 11
# Then vectors of length d: m; (1 - s) m; one y_i; residual; pull; Newton's step in m; dm / ds, times
# s; three for conjugate gradients.
MEAN, STAY, PLACE, RESIDUAL, PULL, STEP, TILT, KRYLOV = range(8)
VECTORS = 10
# Then sums of Gamma_i, and either the lower half of the matrix or r_i^3 of the rows outside.


class Workspace(NamedTuple):
    """Room for the solvers, allocated once; few arrays, because each costs time in every call."""

    row: Floats
    """A row of one expert, (d,)."""
    rows: Floats
    """The distinct rows of Gamma in one clique, filled up with zeros, (largest N, at least d)."""
    known: Floats
    """What is known of them, (4, at least the largest N)."""
    lanes: Floats
    """What is known of the experts that are solved together."""
    line: Line
    """Room for the solver on the line; empty unless d = 1."""


def make_workspace(dim: int, sizes: Integers, experts: int) -> Workspace:
    """Workspace for cliques with so many rows and at most `experts` experts."""
    size = int(sizes.max())
    rest = dim * (dim + 1) // 2 if dim <= DENSE else size
    return Workspace(
        row=np.zeros(dim),
        rows=np.zeros((size, _rounded(dim))),
        known=np.zeros((4, _rounded(size))),
        lanes=_aligned(HEAD + VECTORS * dim + _rounded(dim) // LANES + rest),
        line=make_line(sizes if dim == 1 else sizes[:0], experts if dim == 1 else 0),
    )


def _rounded(length: int) -> int:
    return -(-length // LANES) * LANES


def _aligned(rows: int) -> Floats:
    """A block of lanes none of which begins in the middle of a line of the processor's cache."""
    room = np.zeros((rows + 1) * LANES)
    start = -(room.ctypes.data // room.itemsize) % LANES
    return room[start : start + rows * LANES].reshape(rows, LANES)


@inline
def vector(dim: int, which: int) -> int:
    """Where a vector begins in `lanes`."""
    return HEAD + which * dim


@inline
def matrix_of(dim: int) -> int:
    """Where the matrix, or the r_i^3, begin in `lanes`."""
    return HEAD + VECTORS * dim + (dim + LANES - 1) // LANES


@inline
def length_of_matrix(dim: int) -> int:
    """Number of entries of its lower half, if it is formed."""
    return dim * (dim + 1) // 2 if dim <= DENSE else 0


@routine
def gather_rows(gradients: Floats, first: int, last: int, total: Floats, work: Workspace) -> int:
    """Copy the distinct ones of the rows first:last of Gamma, whose sum is `total`.

    Returns their number. Only rows that are zero are looked for; they come last.
    """
    rows, known, dim, count, zeros = work.rows, work.known, total.shape[0], 0, 0
    for i in range(first, last):
        zero = True
        for k in range(dim):
            rows[count, k] = gradients[i, k]
            zero &= gradients[i, k] == 0.0
        known[NUMBER, count] = 1.0
        zeros += zero
        count += not zero
    if zeros > 0:
        rows[count, :dim], known[NUMBER, count] = 0.0, zeros
        count += 1
    for i in range(count):
        square, along = 0.0, 0.0
        for k in range(dim):
            mean = total[k] / float(last - first)
            square += (rows[i, k] - mean) ** 2
            along += (rows[i, k] - mean) * mean
        known[SQUARE, i], known[ALONG, i] = square, along
    # Those to fill up the last lanes stay inside the ball.
    known[SQUARE : ALONG + 1, count : (count + LANES - 1) // LANES * LANES] = 0.0
    return count


@routine
def sweep(work: Workspace, count: int, size: int, full: bool) -> int:
    """Pass over the `count` distinct rows of `size`; derivatives only if `full`.

    Returns how many rows are outside the ball in any lane, if the matrix is not formed.
    """
    rows, known, lanes, dim = work.rows, work.known, work.lanes, work.row.shape[0]
    mean, stay, place = vector(dim, MEAN), vector(dim, STAY), vector(dim, PLACE)
    residual, pull, free = vector(dim, RESIDUAL), vector(dim, PULL), vector(dim, VECTORS)
    s, eta = load(lanes, S), load(lanes, ETA)
    t, zero = s * eta, 0.0 * s
    one = zero + 1.0
    length_of_mean = zero
    for k in range(dim):
        m = load(lanes, mean + k)
        length_of_mean = length_of_mean + m * m
        store(lanes, stay + k, (1.0 - s) * m)
        store(lanes, residual + k, zero)
    for k in range(free, matrix_of(dim)):
        store(lanes, k, zero)
    if full:
        for k in range(pull, pull + dim):
            store(lanes, k, zero)
        for k in range(matrix_of(dim), matrix_of(dim) + length_of_matrix(dim)):
            store(lanes, k, zero)
    square, strength, lost, margin, inside, crowd = zero, zero, zero, one, 0.0, 0
    for i in range(count):
        number = known[NUMBER, i]
        length, far = zero, zero
        for k in range(dim):
            y = load(lanes, stay + k) - rows[i, k] * t
            length = length + y * y
            step = load(lanes, mean + k) - y
            far = far + step * step
        over = length - 1.0
        over = where_above(over, zero, over, zero - over)
        margin = where_above(margin, over, over, margin)
        if not any_above(length, one):
            for k in range((dim + LANES - 1) // LANES):
                part = number * load_part(rows, i, k * LANES)
                store(lanes, free + k, load(lanes, free + k) + part)
            inside += number
            square = square + number * far
            strength = strength + number * far
            continue
        shrink = where_above(length, one, 1.0 / root(length), one)
        weight, along = number * shrink, 0.5 * (length_of_mean + length - far)
        lost = lost + (number - weight)
        far = zero
        for k in range(dim):
            y = load(lanes, stay + k) - rows[i, k] * t
            store(lanes, place + k, y)
            step = load(lanes, mean + k) - shrink * y
            far = far + step * step
            store(lanes, residual + k, load(lanes, residual + k) + rows[i, k] * weight)
        square = square + number * far
        if not full:
            continue
        share = where_above(length, one, shrink * shrink * along, one)
        far = zero
        for k in range(dim):
            turn = load(lanes, mean + k) - share * load(lanes, place + k)
            far = far + turn * turn
            store(lanes, pull + k, load(lanes, pull + k) + weight * turn)
        strength = strength + weight * far
        bend = where_above(length, one, shrink * shrink * weight, zero)
        if dim <= DENSE:
            _add_square(lanes, dim, bend)
        else:
            store(lanes, matrix_of(dim) + crowd, bend)
            known[OUTSIDE, crowd] = i
            crowd += 1
    # N - sum r_i is a sum of 1 - r_i, so that nothing cancels when hardly a row is clipped.
    scale, norm = lost + s * (size - lost), zero
    for k in range(dim):
        m, push = load(lanes, mean + k), t * lanes[free + k // LANES, k % LANES]
        value = scale * m + (t * load(lanes, residual + k) + push)
        norm = norm + value * value
        store(lanes, residual + k, value)
        if full:
            store(lanes, pull + k, load(lanes, pull + k) + (inside * s * m + push))
    square = square - norm / size  # from the mean of the X_i, not from m
    store(lanes, SPREAD, root(where_above(square, zero, square, zero)))
    store(lanes, NORM, norm)
    store(lanes, MARGIN, margin)
    if full:
        store(lanes, SCALE, scale)
        store(lanes, STRENGTH, strength)
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
