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

from mtcool.kernels import inline, routine
from mtcool.learners.learner import Floats, Integers

CLOSED_FORM = -1.0  # in place of s, for experts without clipped rows
NEGLIGIBLE = 1e-10  # a standard deviation that rows in the unit ball may as well not have
ROUNDS = 30  # pieces or steps to try; there are seldom more than three
CLOSE = 3e-8  # relative size of a step of Newton's method after which the next one is rounding
THIN = 0.05  # share of a sum of squares below which its rounding would show
EDGE = 1e-14  # how far a row may be on the wrong side of the ball's boundary


class Line(NamedTuple):
    """Room for the solver, allocated once; few arrays, because each costs time in every call."""

    order: Integers
    """The rows of every clique by descending Gamma, as they were when it was last sorted.

    An update moves one row, so sorting starts almost sorted. Results do not depend on it.
    """
    rows: Floats
    """What is known of the sorted rows of one clique, (4, N + 2)."""
    place: Integers
    """Where the pieces of the experts with clipped rows are, (3, experts)."""
    piece: Floats
    """What their equations are made of, (8, experts)."""


# rows: the v_i, ascending, between -inf and inf (v_i is at i + 1); the sums of v_j - v_middle from
# the middle to i, negative where i comes before it; the same for (v_j - v_middle)^2; and 1 / i, but
# zero for i = 0
VALUE, SUM, SQUARE, INVERSE = range(4)
# place: the number of the expert, a, h
EXPERT, BELOW, ABOVE = range(3)
# piece: k; F / eta, D = k + t F / eta; F v, m = (r + t F v) / D; P; S; (N - 1) xi - 4 a b / k, what
# t^2 (P / D^2 + S) must be; the largest t, eta / (1 + N); t
CLIPPED, GROWTH, DRIFT, BETWEEN, WITHIN, ROOM, MOST, T = range(8)


class Trail(NamedTuple):
    """The last solution, and what of the one before it shows where they are heading."""

    a: int
    h: int
    t: float
    centre: float
    """(1 - s) m, or a NaN if no expert has been solved yet."""
    t_before: float
    centre_before: float


def make_line(sizes: Integers, experts: int) -> Line:
    """Room for cliques with so many rows and at most `experts` experts each."""
    size = int(sizes.max(initial=0))
    order = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.zeros((4, size + 2))
    rows[INVERSE, 1:] = 1.0 / np.arange(1.0, size + 2.0)
    return Line(order, rows, np.zeros((3, experts), np.int64), np.zeros((8, experts)))


@inline
def sort_rows(gradients: Floats, order: Integers, line: Line) -> None:
    """Sort the rows, and sum them from the middle, so that far ones drown nothing."""
    size, value = gradients.shape[0], line.rows[VALUE]
    value[0], value[size + 1] = -np.inf, np.inf
    for i in range(size):
        row, j = order[i], i
        v = -gradients[row, 0]
        while value[j] > v:
            value[j + 1], order[j] = value[j], order[j - 1]
            j -= 1
        value[j + 1], order[j] = v, row
    middle = size // 2
    origin, total, square = value[middle + 1], 0.0, 0.0
    line.rows[SUM, middle], line.rows[SQUARE, middle] = 0.0, 0.0
    for i in range(middle, size):
        v = value[i + 1] - origin
        total += v
        square += v * v
        line.rows[SUM, i + 1], line.rows[SQUARE, i + 1] = total, square
    total, square = 0.0, 0.0
    for i in range(middle - 1, -1, -1):
        v = value[i + 1] - origin
        total -= v
        square -= v * v
        line.rows[SUM, i], line.rows[SQUARE, i] = total, square


@inline
def first_piece(line: Line, size: int, eta: float) -> Trail:
    """Where the experts start: the piece for xi -> 0, where all rows are close to their mean.

    That is the mean of the eta v_i, or its clip. If it is 1, then 1 - X_i = s max(0, w - eta v_i)
    up to terms in s^2, where w - 1 is the mean of the maxima: F w = sum of the F free eta v_i +
    N (w - 1), and F is the first number of rows for which the next eta v_i is at least this w.
    """
    most = eta * line.rows[INVERSE, size + 1]
    total = line.rows[SUM, size] - line.rows[SUM, 0] + size * line.rows[VALUE, size // 2 + 1]
    if eta * abs(total) <= size:
        return Trail(0, size, most, np.nan, most, np.nan)
    sign, free, rest = 1.0 if total > 0.0 else -1.0, 0, float(size)  # rest = (N - F) w
    while free < size:
        v = sign * eta * line.rows[VALUE, free + 1 if total > 0.0 else size - free]
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
    per_eta, most, variance = 1.0 / eta, eta * line.rows[INVERSE, size + 1], (size - 1) * cap * cap
    t, least = 2.0 * trail.t - trail.t_before, 0.5 * trail.t
    t = t if t > least else least
    centre = 2.0 * trail.centre - trail.centre_before
    a, h = _clip(line.rows[VALUE], centre, t, 1.0, trail.a, trail.h)
    below, above = 0, size
    for _ in range(ROUNDS):
        k, r, free = float(size - h + a), float(size - h - a), float(h - a)
        per_clipped = line.rows[INVERSE, size - h + a]
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
        a, h = _clip(line.rows[VALUE], centre, t * scale, scale, a, h)
        if a == below and h == above:
            break
    line.place[BELOW, out], line.place[ABOVE, out] = below, above
    line.piece[CLIPPED, out], line.piece[GROWTH, out] = k, free * per_eta
    line.piece[DRIFT, out], line.piece[BETWEEN, out] = free * mean, between
    line.piece[WITHIN, out], line.piece[ROOM, out] = within, room
    line.piece[MOST, out], line.piece[T, out] = most, t
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
    per_row, origin = line.rows[INVERSE, h - a], line.rows[VALUE, size // 2 + 1]
    total, square = (
        line.rows[SUM, h] - line.rows[SUM, a],
        line.rows[SQUARE, h] - line.rows[SQUARE, a],
    )
    mean = total * per_row
    within = square - total * mean
    if within >= THIN * square:
        return origin + mean, within
    # The free rows are few, or close together and far from the middle: no differences of sums.
    origin, total, within = line.rows[VALUE, a + 1], 0.0, 0.0
    for i in range(a, h):
        total += line.rows[VALUE, i + 1] - origin
    mean = total * per_row
    for i in range(a, h):
        within += (line.rows[VALUE, i + 1] - origin - mean) ** 2
    return origin + mean, within


@inline
def polish(line: Line, count: int) -> None:
    """Newton's method for t sqrt(P / D^2 + S) = sqrt(room), for `count` entries side by side."""
    clipped, growth, between = line.piece[CLIPPED], line.piece[GROWTH], line.piece[BETWEEN]
    within, room, most, t = line.piece[WITHIN], line.piece[ROOM], line.piece[MOST], line.piece[T]
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
    value, t, a, h = line.rows[VALUE], line.piece[T, j], line.place[BELOW, j], line.place[ABOVE, j]
    m = (size - h - a + t * line.piece[DRIFT, j]) / (
        line.piece[CLIPPED, j] + t * line.piece[GROWTH, j]
    )
    centre, right = (1.0 - t / eta) * m, line.piece[ROOM, j] >= 0.0
    right &= centre + t * value[a] <= -1.0 + EDGE
    right &= centre + t * value[a + 1] >= -1.0 - EDGE
    right &= centre + t * value[h] <= 1.0 + EDGE
    right &= centre + t * value[h + 1] >= 1.0 - EDGE
    return m if right else np.nan


@routine
def solve_line(
    gradients: Floats,
    order: Integers,
    mean: float,
    unit: float,
    inverse: float,
    equal: bool,
    pull: Floats,
    cap: Floats,
    weight: Floats,
    multiplier: Floats,
    centre: Floats,
    line: Line,
) -> tuple[float, float, int, int]:
    """All experts of a clique: first the piece of each, then their minimisers side by side.

    `gradients` are the rows of Gamma, `mean` their mean, `inverse` one over their standard
    deviation, `equal` whether they are all equal; eta is `unit` times `pull`. Fills s and m
    (`multiplier`, `centre`); s is CLOSED_FORM without clipped rows, and a NaN for the general
    method to replace.
    Returns the weighted sums of eta and shrink over the experts in closed form, and the numbers of
    the other experts and of those with a NaN.
    """
    size = gradients.shape[0]
    per_mode = 1.0 / (size + 1.0)
    sort_rows(gradients, order, line)
    highest = -line.rows[VALUE, 1] - mean  # of the rows of Gamma
    lowest = -line.rows[VALUE, size] - mean
    level, slope, alike, count, failed = 0.0, 0.0, 0, 0, 0
    trail = first_piece(line, size, unit * pull[0])
    for e in range(pull.shape[0]):
        eta = unit * pull[e]
        shrink = eta * per_mode if eta * per_mode < cap[e] * inverse else cap[e] * inverse
        if eta * mean + shrink * highest <= 1.0 and eta * mean + shrink * lowest >= -1.0:
            multiplier[e] = CLOSED_FORM
            level += weight[e] * eta
            slope += weight[e] * shrink
        elif equal or cap[e] <= NEGLIGIBLE:  # all rows are at the mean, in the ball
            alike += 1
            m = -eta * mean
            multiplier[e], centre[e, 0] = 0.0, 1.0 if m > 1.0 else (-1.0 if m < -1.0 else m)
        else:
            trail = find_piece(line, size, eta, cap[e], trail, count)
            line.place[EXPERT, count] = e
            count += 1
    polish(line, count)
    for j in range(count):
        e = line.place[EXPERT, j]
        eta = unit * pull[e]
        m = mean_of(line, size, eta, j)
        multiplier[e], centre[e, 0] = line.piece[T, j] / eta, m
        if np.isnan(m):
            multiplier[e] = np.nan
            failed += 1
    return level, slope, alike + count, failed
