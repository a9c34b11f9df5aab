"""The experts' constrained minimisers on the line, d = 1, where rows are clipped to [-1, 1].

`argmin.py` says what an expert minimises and that its rows are, with v_i = -Gamma_i and t = s eta,

    X_i = clip((1 - s) m + t v_i),    m the mean of the X_i.

Sort the v_i. For some a <= h the first a rows are -1, those from h on are +1, and F = h - a are
free. Let b = N - h, k = a + b, r = b - a, and let v and S be the mean of the free v_i and the sum
of their squared deviations from it. On this *piece* both equations have closed forms. The mean is

    m = (r + F t v) / D,    D = k + F s,

and the sum of the squared deviations of the X_i from m is

    4 a b / k + t^2 (P / D^2 + S),    P = F N / k (k v - r / eta)^2,

where fractions over k = 0 are zero. It increases with t, and must be (N - 1) xi unless it is less
for the largest s, 1 / (1 + N). D hardly varies, since F s < 1: with D taken from a guess of t the
equation is solved by a square root, and t sqrt(P / D^2 + S) is so nearly linear in t that Newton's
method then needs two or three steps.

Running sums over the sorted v_i tell v and S of any piece. To find the right piece, solve on one,
count the rows that this solution clips, and go on from the new a and h until they stay. For xi -> 0
they can be read off the v_i; from there the experts follow in the order of xi, each from where the
two before it point to, which is seldom more than a row away. A solution on the wrong piece clips
other rows than it should: `mean_of` tells, and the general method takes over.
"""

from typing import NamedTuple

import numpy as np

from mtcool.kernels import inline
from mtcool.learners.learner import Floats, Integers

ROUNDS = 30  # pieces or steps to try; there are seldom more than three
CLOSE = 3e-8  # relative size of a step of Newton's method after which the next one is rounding
THIN = 0.05  # share of a sum of squares below which its rounding would show
EDGE = 1e-14  # how far a row may be on the wrong side of the ball's boundary


class Line(NamedTuple):
    """Room for the solver, allocated once."""

    order: Integers
    """The rows of every clique by descending Gamma, as they were when it was last sorted.

    An update moves one row, so sorting starts almost sorted. Results do not depend on it.
    """
    value: Floats
    """The v_i of one clique, ascending, between -inf and inf: v_i is value[i + 1]."""
    sums: Floats
    """Sum of v_j - v_middle from the middle to i, negative where i comes before it."""
    squares: Floats
    """The same for (v_j - v_middle)^2."""
    inverse: Floats
    """1 / i, but zero for i = 0."""
    expert: Integers
    """The experts that have clipped rows; the fields below are of their pieces, in this order."""
    below: Integers
    """a"""
    above: Integers
    """h"""
    clipped: Floats
    """k"""
    growth: Floats
    """F / eta: D = k + t F / eta."""
    drift: Floats
    """F v: m = (r + t F v) / D."""
    between: Floats
    """P"""
    within: Floats
    """S"""
    room: Floats
    """(N - 1) xi - 4 a b / k: what t^2 (P / D^2 + S) must be."""
    most: Floats
    """The largest t, eta / (1 + N)."""
    t: Floats


class Trail(NamedTuple):
    """The last solution, and what of the one before it shows where they are heading."""

    a: int
    h: int
    t: float
    centre: float
    """(1 - s) m, or a NaN if no expert has been solved yet."""
    t_before: float
    centre_before: float


def make_line(starts: Integers, experts: int) -> Line:
    """Room for cliques with rows starts[j]:starts[j + 1] and at most `experts` experts each."""
    sizes = np.diff(starts)
    size = int(sizes.max(initial=0))
    order = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    value, sums, squares = np.zeros((3, size + 2))
    inverse = 1.0 / np.maximum(np.arange(size + 2.0), 1.0)
    inverse[0] = 0.0
    whole, real = np.zeros((3, experts), np.int64), np.zeros((8, experts))
    return Line(order, value, sums, squares, inverse, *whole, *real)


@inline
def sort_rows(gradients: Floats, first: int, last: int, line: Line) -> None:
    """Sort the rows first:last, and sum them from the middle, so that far ones drown nothing."""
    size, value, order = last - first, line.value, line.order[first:last]
    value[0], value[size + 1] = -np.inf, np.inf
    for i in range(size):
        row, j = order[i], i
        v = -gradients[first + row, 0]
        while value[j] > v:
            value[j + 1], order[j] = value[j], order[j - 1]
            j -= 1
        value[j + 1], order[j] = v, row
    middle = size // 2
    origin, total, square = value[middle + 1], 0.0, 0.0
    line.sums[middle], line.squares[middle] = 0.0, 0.0
    for i in range(middle, size):
        v = value[i + 1] - origin
        total += v
        square += v * v
        line.sums[i + 1], line.squares[i + 1] = total, square
    total, square = 0.0, 0.0
    for i in range(middle - 1, -1, -1):
        v = value[i + 1] - origin
        total -= v
        square -= v * v
        line.sums[i], line.squares[i] = total, square


@inline
def first_piece(line: Line, size: int, eta: float) -> Trail:
    """Where the experts start: the piece for xi -> 0, where all rows are close to their mean.

    That is the mean of the eta v_i, or its clip. If it is 1, then 1 - X_i = s max(0, w - eta v_i)
    up to terms in s^2, where w - 1 is the mean of the maxima: F w = sum of the F free eta v_i +
    N (w - 1), and F is the first number of rows for which the next eta v_i is at least this w.
    """
    most = eta * line.inverse[size + 1]
    total = line.sums[size] - line.sums[0] + size * line.value[size // 2 + 1]
    if eta * abs(total) <= size:
        return Trail(0, size, most, np.nan, most, np.nan)
    sign, free, rest = 1.0 if total > 0.0 else -1.0, 0, float(size)  # rest = (N - F) w
    while free < size:
        v = sign * eta * line.value[free + 1 if total > 0.0 else size - free]
        if rest <= (size - free) * v:
            break
        rest -= v
        free += 1
    a, h = (0, free) if total > 0.0 else (size - free, size)
    return Trail(a, h, most, np.nan, most, np.nan)


@inline
def find_piece(line: Line, size: int, eta: float, cap: float, trail: Trail, out: int) -> Trail:
    """The piece of the next expert and an approximate t, as entry `out`; `cap` is sqrt(xi).

    If the search does not end the last piece stands, and `mean_of` will not accept it.
    """
    per_eta, most, variance = 1.0 / eta, eta * line.inverse[size + 1], (size - 1) * cap * cap
    t, least = 2.0 * trail.t - trail.t_before, 0.5 * trail.t
    t = t if t > least else least
    centre = 2.0 * trail.centre - trail.centre_before
    a, h = _clip(line.value, centre, t, 1.0, trail.a, trail.h)
    below, above = 0, size
    for _ in range(ROUNDS):
        k, r, free = float(size - h + a), float(size - h - a), float(h - a)
        per_clipped = line.inverse[size - h + a]
        room = variance - 4.0 * a * (size - h) * per_clipped
        if room < 0.0:  # the clipped rows alone vary too much: half the way back
            a, h = (a + below) // 2, (h + above) // 2
            continue
        mean, within = _free_moments(line, size, a, h)
        tilt = k * mean - r * per_eta
        between = free * size * per_clipped * tilt * tilt
        square = (k + free * t * per_eta) ** 2
        t = np.sqrt(room * square / (between + within * square))
        t = t if t < most else most  # also where no row moves with t, and t is a NaN
        # The rows times D = `scale`: (1 - s) (r + F t v) + t D v_i.
        scale = k + free * t * per_eta
        centre = (1.0 - t * per_eta) * (r + free * t * mean)
        below, above = a, h
        a, h = _clip(line.value, centre, t * scale, scale, a, h)
        if a == below and h == above:
            break
    line.below[out], line.above[out], line.clipped[out] = below, above, k
    line.growth[out], line.drift[out], line.most[out] = free * per_eta, free * mean, most
    line.between[out], line.within[out], line.room[out], line.t[out] = between, within, room, t
    centre /= scale
    if np.isnan(trail.centre):
        return Trail(a, h, t, centre, t, centre)
    return Trail(a, h, t, centre, trail.t, trail.centre)


@inline
def _clip(
    value: Floats, centre: float, slope: float, scale: float, a: int, h: int
) -> tuple[int, int]:
    """Move a and h to where centre + slope v_i, slope >= 0, leaves the ball of radius `scale`."""
    while centre + slope * value[a] > -scale:
        a -= 1
    while centre + slope * value[h + 1] < scale:
        h += 1
    while centre + slope * value[a + 1] < -scale:
        a += 1
    while centre + slope * value[h] > scale:
        h -= 1
    return a, h


@inline
def _free_moments(line: Line, size: int, a: int, h: int) -> tuple[float, float]:
    """v and S, the mean of the free v_i and the sum of their squared deviations from it."""
    per_row, origin = line.inverse[h - a], line.value[size // 2 + 1]
    total, square = line.sums[h] - line.sums[a], line.squares[h] - line.squares[a]
    mean = total * per_row
    within = square - total * mean
    if within >= THIN * square:
        return origin + mean, within
    # The free rows are few, or close together and far from the middle: no differences of sums.
    origin, total, within = line.value[a + 1], 0.0, 0.0
    for i in range(a, h):
        total += line.value[i + 1] - origin
    mean = total * per_row
    for i in range(a, h):
        within += (line.value[i + 1] - origin - mean) ** 2
    return origin + mean, within


@inline
def polish(line: Line, count: int) -> None:
    """Newton's method for t sqrt(P / D^2 + S) = sqrt(room), for `count` entries side by side."""
    clipped, growth, between = line.clipped, line.growth, line.between
    within, room, most, t = line.within, line.room, line.most, line.t
    for _ in range(ROUNDS):
        moving = 0
        for j in range(count):
            per_scale = 1.0 / (clipped[j] + growth[j] * t[j])
            part = between[j] * per_scale * per_scale
            whole = part + within[j]
            slope = part * clipped[j] * per_scale + within[j]
            new = t[j] - (t[j] * whole - np.sqrt(room[j] * whole)) / slope
            new = new if new < most[j] else most[j]
            moving += abs(new - t[j]) > CLOSE * new
            t[j] = new
        if moving == 0:
            break


@inline
def mean_of(line: Line, size: int, eta: float, j: int) -> float:
    """m of entry j, or a NaN if the rows that it clips are not those of its piece."""
    value, t, a, h = line.value, line.t[j], line.below[j], line.above[j]
    m = (size - h - a + t * line.drift[j]) / (line.clipped[j] + t * line.growth[j])
    centre, right = (1.0 - t / eta) * m, line.room[j] >= 0.0
    right &= centre + t * value[a] <= -1.0 + EDGE
    right &= centre + t * value[a + 1] >= -1.0 - EDGE
    right &= centre + t * value[h] <= 1.0 + EDGE
    right &= centre + t * value[h + 1] >= 1.0 - EDGE
    return m if right else np.nan
