"""The experts' constrained minimisers on the line, d = 1, where rows are clipped to [-1, 1].

`solvers/newton.py` says what an expert minimises and that its rows are, with v_i = -Gamma_i,

    X_i = clip((1 - s) m + s eta v_i),    m the mean of the X_i.

Sort the v_i. For some a <= h the first a rows are -1, those from h on are +1, and F = h - a are
free. Let b = N - h, k = a + b, r = b - a, and let u and S be the mean of the free eta v_i and the
sum of their squared deviations from it. On this *piece* both equations have closed forms. The mean
is

    m = (r + F s u) / D,    D = k + F s,

and the sum of the squared deviations of the X_i from m is

    4 a b / k + s^2 (P / D^2 + S),    P = F N / k (k u - r)^2,

where fractions over k = 0 are zero. It increases with s, and must be (N - 1) xi unless it is less
for the largest s, 1 / (1 + N). D hardly varies, since F s < 1: with D = k it is solved by a square
root, and Halley's method makes this exact in two or three steps.

Running sums over the sorted v_i tell u and S of any piece. To find the right piece, start from the
one that the expert's last solution gives, solve on it, count the rows that this clips, and go on
from the new a and h until they stay: seldom more than twice, because an update moves one row. All
experts are solved side by side, step by step: the processor computes four at a time, and waits for
none of them. A solution is accepted if it clips the rows of its piece and no others. If none is
found, the search begins once more, without the last solution; if that fails, too, all rows of the
expert are at their mean, as with xi = 0. It fails where eta v_i is beyond 1e15, for noise as large
as that or a stranger's sums: rounding then decides which rows are clipped. The single experts of
several cliques are solved side by side in the same way, but without sorting
(`mt_ftrl/single_expert_batch.py`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.kernels import inline, routine
from mtcool.types import Floats

Unsigned = NDArray[np.uint64]

CLOSED_FORM = -1.0  # in place of s, for experts without clipped rows
NEGLIGIBLE = 1e-10  # a standard deviation that rows in the unit ball may as well not have
ROUNDS = 30  # pieces or steps to try; there are seldom more than three
CLOSE = 4e-6  # relative size of a step of Halley's method after which the next one is rounding
HASTE = 3  # pieces after which a search goes half of the way, lest it runs in circles
THIN = 0.05  # share of a sum of squares below which its rounding would show
EDGE = 1e-14  # how far a row may be on the wrong side of the ball's boundary
FAR = 1e300  # beyond any row: a search ends before infinity
WAITING = 32  # cliques solved together: a few for each register of the processor
ONE, TWO = np.uint64(1), np.uint64(2)  # positions are unsigned: none is asked if it is negative


class LineScratch(NamedTuple):
    """Scratch for the solver, allocated once; few arrays, because each costs time in every call."""

    order: Unsigned
    """The rows of every clique by descending Gamma, as they were when it was last sorted.

    An update moves one row, so sorting starts almost sorted. Results do not depend on it.
    """
    rows: Floats
    """What is known of the sorted rows of one clique, (4, N + 2)."""
    place: Unsigned
    """Where the pieces of the experts are that are not solved yet, (3, experts)."""
    piece: Floats
    """What their equations are made of, (16, experts)."""
    row: Floats
    """A row of one expert, (1,)."""
    waiting: NDArray[np.int64]
    """Cliques with one expert that wait to be solved together, (at most WAITING,)."""


# rows: the v_i, ascending, between -inf and inf (v_i is at i + 1); the sums of v_j - v_middle from
# the middle to i, negative where i comes before it; the same for (v_j - v_middle)^2; and 1 / i, but
# zero for i = 0
VALUE, SUM, SQUARE, INVERSE = range(4)
# place: the number of the expert, a, h
EXPERT, BELOW, ABOVE = range(3)
# piece: eta; (N - 1) xi; k; F; r; F u; P; S; (N - 1) xi - 4 a b / k, what s^2 (P / D^2 + S) must
# be; s; m; the v_i where the ball begins and ends, and how much further because of rounding; the
# largest s; a and b in one number, where rows are counted and not sorted
ETA, VARIANCE, CLIPPED, FREE, LEAN, DRIFT, BETWEEN, WITHIN, SLACK = range(9)
MULTIPLIER, MEAN, LOW, HIGH, MARGIN, MOST, TALLY = range(9, 16)


def make_line(sizes: NDArray[np.int64], experts: int) -> LineScratch:
    """Scratch for cliques with so many rows and at most `experts` experts each."""
    size = int(sizes.max(initial=0))
    order = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.zeros((4, size + 2))
    rows[INVERSE, 1:] = 1.0 / np.arange(1.0, size + 2.0)
    waiting = np.zeros(min(WAITING, len(sizes)), np.int64)
    columns = max(experts, len(waiting))
    place, piece = np.zeros((3, columns), np.uint64), np.zeros((16, columns))
    return LineScratch(order.astype(np.uint64), rows, place, piece, np.zeros(1), waiting)


@inline
def sort_rows(gradients: Floats, order: Unsigned, rows: Floats) -> None:
    """Sort the rows, and sum them from the middle, where rounding does least harm."""
    size, value, sums, squares = gradients.shape[0], rows[VALUE], rows[SUM], rows[SQUARE]
    value[0], value[size + 1] = -np.inf, np.inf
    for i in range(size):
        row, j = order[i], np.uint64(i)
        v = -gradients[row, 0]
        while value[j] > v:
            value[j + ONE], order[j] = value[j], order[j - ONE]
            j -= ONE
        value[j + ONE], order[j] = v, row
    middle = size // 2
    origin, total, square = value[middle + 1], 0.0, 0.0
    sums[middle], squares[middle] = 0.0, 0.0
    for i in range(middle, size):
        v = value[i + 1] - origin
        total += v
        square += v * v
        sums[i + 1], squares[i + 1] = total, square
    total, square = 0.0, 0.0
    for i in range(middle, 0, -1):
        v = value[i] - origin
        total -= v
        square -= v * v
        sums[i - 1], squares[i - 1] = total, square


@inline
def recall(
    factor: Floats,
    cap: Floats,
    multiplier: Floats,
    centre: Floats,
    unit: float,
    size: float,
    piece: Floats,
) -> None:
    """Where the experts' last solutions leave the ball; a new expert's never do."""
    eta, low, high, variance = piece[ETA], piece[LOW], piece[HIGH], piece[VARIANCE]
    for j in range(factor.shape[0]):
        solved = multiplier[j] > 0.0
        s, rate = multiplier[j] if solved else 1.0, unit * factor[j]
        per_t, m = 1.0 / (s * rate), (1.0 - s) * centre[j, 0]
        eta[j] = rate
        low[j] = (-1.0 - m) * per_t if solved else -FAR
        high[j] = (1.0 - m) * per_t if solved else FAR
    for j in range(factor.shape[0]):
        variance[j] = (size - 1.0) * cap[j] * cap[j]
        piece[MOST, j] = 1.0 / (size + 1.0)


@inline
def move(
    value: Floats, low: float, high: float, a: np.uint64, h: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Move a and h to the numbers of v_i up to `low` and below `high`."""
    low = -FAR if low < -FAR else (FAR if low > FAR else low)
    high = -FAR if high < -FAR else (FAR if high > FAR else high)
    while value[a] > low:
        a -= ONE
    while value[h + ONE] < high:
        h += ONE
    while value[a + ONE] <= low:
        a += ONE
    while value[h] >= high:
        h -= ONE
    return a, h


@inline
def describe(
    rows: Floats, size: int, mean: float, eta: float, variance: float, line: LineScratch, j: int
) -> None:
    """Write the coefficients of the equations on the piece of entry j."""
    inverses, place, piece = rows[INVERSE], line.place, line.piece
    n, a, h = np.uint64(size), place[BELOW, j], place[ABOVE, j]
    if h - a == n and abs(eta * mean) > 1.0:  # the mean of free rows is outside: one is clipped
        if mean > 0.0:
            a += ONE
        else:
            h -= ONE
    above, below, per_clipped = float(np.int64(n - h)), float(np.int64(a)), inverses[n - h + a]
    slack = variance - 4.0 * below * above * per_clipped
    while slack < 0.0:  # the clipped rows alone vary too much
        a, h = a // TWO, (h + n) // TWO
        above, below, per_clipped = float(np.int64(n - h)), float(np.int64(a)), inverses[n - h + a]
        slack = variance - 4.0 * below * above * per_clipped
    place[BELOW, j], place[ABOVE, j] = a, h
    free, per_row, middle = float(np.int64(h - a)), inverses[h - a], rows[VALUE, size // 2 + 1]
    total, square = rows[SUM, h] - rows[SUM, a], rows[SQUARE, h] - rows[SQUARE, a]
    v = total * per_row
    within = square - total * v
    v += middle
    if within < THIN * square:
        v, within = _few_rows(rows[VALUE], a, h, per_row)
    u, k, r = v * eta, above + below, above - below
    tilt = k * u - r
    piece[BETWEEN, j], piece[WITHIN, j] = (
        free * float(size) * per_clipped * tilt * tilt,
        within * eta * eta,
    )
    piece[SLACK, j] = slack
    if k == 0.0:  # m = u whatever s: as if one row were clipped, at u, and no row free
        k, free, r = 1.0, 0.0, u
    piece[CLIPPED, j], piece[LEAN, j] = k, r
    piece[FREE, j], piece[DRIFT, j] = free, free * u


@inline
def _few_rows(value: Floats, a: np.uint64, h: np.uint64, per_row: float) -> tuple[float, float]:
    """Mean and deviation of free v_i that are few, or close together: no differences of sums."""
    origin, total, within, i = value[a + ONE], 0.0, 0.0, a
    while i < h:
        i += ONE
        total += value[i] - origin
    mean, i = total * per_row, a
    while i < h:
        i += ONE
        within += (value[i] - origin - mean) ** 2
    return origin + mean, within


@inline
def polish(piece: Floats, count: int) -> None:
    """s of `count` entries side by side: a root, and Halley's method from there."""
    clipped, free, between = piece[CLIPPED], piece[FREE], piece[BETWEEN]
    within, slack, s, most = piece[WITHIN], piece[SLACK], piece[MULTIPLIER], piece[MOST]
    for j in range(count):
        scale = clipped[j] * clipped[j]
        new = np.sqrt(slack[j] * scale / (between[j] + within[j] * scale))
        s[j] = new if new < most[j] else most[j]  # also where no row moves with s, and it is a NaN
    for _ in range(ROUNDS):
        moving = 0
        for j in range(count):
            old, k, f = s[j], clipped[j], free[j]
            d = k + f * old
            d2, bent = d * d, between[j] * k
            g = old * old * between[j] + (within[j] * old * old - slack[j]) * d2  # D^2 times it
            first = old * (within[j] * d * d2 + bent)  # D^3 / 2 times its derivative
            second = within[j] * d2 * d2 + bent * (d - 3.0 * f * old)  # D^4 / 2 times the next
            whole = 2.0 * first * first - 0.5 * g * second
            # Far from the root, where the curve bends the other way, no more than Newton's step.
            whole = whole if whole > first * first else first * first
            new = old - g * first * d / whole
            new = new if new < most[j] else most[j]
            moving += 1 if abs(new - old) > CLOSE * new else 0
            s[j] = new
        if moving == 0:
            break


@inline
def leave(piece: Floats, count: int) -> None:
    """m, and where the rows leave the ball, of `count` entries side by side."""
    clipped, free, lean, drift = piece[CLIPPED], piece[FREE], piece[LEAN], piece[DRIFT]
    eta, s, m = piece[ETA], piece[MULTIPLIER], piece[MEAN]
    low, high, margin = piece[LOW], piece[HIGH], piece[MARGIN]
    for j in range(count):
        m[j] = (lean[j] + s[j] * drift[j]) / (clipped[j] + s[j] * free[j])
    for j in range(count):
        per_t, centre = 1.0 / (s[j] * eta[j]), (1.0 - s[j]) * m[j]
        low[j], high[j] = (-1.0 - centre) * per_t, (1.0 - centre) * per_t
        margin[j] = EDGE * per_t


@routine
def solve_columns(piece: Floats, count: int) -> None:
    """Solve the equations of `count` entries, and see where their rows leave the ball."""
    polish(piece, count)
    leave(piece, count)


@inline
def is_right(
    value: Floats, low: float, high: float, margin: float, a: np.uint64, h: np.uint64
) -> bool:
    """Whether the rows that leave the ball are those of the piece."""
    right = value[a] <= low + margin
    right &= value[a + ONE] >= low - margin
    right &= value[h] <= high + margin
    right &= value[h + ONE] >= high - margin
    return bool(right)


@inline
def half_way(here: np.uint64, there: np.uint64) -> np.uint64:
    """The middle between `here` and `there`, rounded toward `there`."""
    return (here + there) // TWO if there < here else (here + there + ONE) // TWO


@inline
def solve_pieces(
    multiplier: Floats, centre: Floats, mean: float, size: int, first: int, line: LineScratch
) -> int:
    """Solve the experts from `first` on whose eta, variance and last places are in `piece`.

    Returns the number of those whose piece was not found.
    """
    value, place, piece = line.rows[VALUE], line.place, line.piece
    count: int = multiplier.shape[0] - first
    a, h = np.uint64(0), np.uint64(size)
    for j in range(count):
        a, h = move(value, piece[LOW, j], piece[HIGH, j], a, h)
        place[EXPERT, j], place[BELOW, j], place[ABOVE, j] = first + j, a, h
        describe(line.rows, size, mean, piece[ETA, j], piece[VARIANCE, j], line, j)
    for sweep in range(2 * ROUNDS):
        solve_columns(piece, count)
        left = 0 * count  # a plain 0 is a type of its own, for which all would be compiled again
        for j in range(count):
            e, a, h = place[EXPERT, j], place[BELOW, j], place[ABOVE, j]
            low, high = piece[LOW, j], piece[HIGH, j]
            multiplier[e], centre[e, 0] = piece[MULTIPLIER, j], piece[MEAN, j]
            if is_right(value, low, high, piece[MARGIN, j], a, h):
                continue
            to_a, to_h = move(value, low, high, a, h)
            if sweep % ROUNDS >= HASTE:
                to_a, to_h = half_way(a, to_a), half_way(h, to_h)
            if sweep + 1 == ROUNDS:  # a start far off may lead into a circle
                to_a, to_h = np.uint64(0), np.uint64(size)
            eta, variance = piece[ETA, j], piece[VARIANCE, j]
            place[EXPERT, left], place[BELOW, left], place[ABOVE, left] = e, to_a, to_h
            piece[ETA, left], piece[VARIANCE, left] = eta, variance
            describe(line.rows, size, mean, eta, variance, line, left)
            left += 1
        count = left
        if count == 0:
            break
    for j in range(count):
        e = place[EXPERT, j]
        multiplier[e], centre[e, 0] = 0.0, _at_the_mean(piece[ETA, j], mean)
    return count


@inline
def _at_the_mean(eta: float, mean: float) -> float:
    """Where all rows are, if they may not differ."""
    m = -eta * mean
    return 1.0 if m > 1.0 else (-1.0 if m < -1.0 else m)


@routine
def solve_line(
    gradients: Floats,
    order: Unsigned,
    mean: float,
    unit: float,
    inverse: float,
    equal: bool,
    factor: Floats,
    cap: Floats,
    weight: Floats,
    multiplier: Floats,
    centre: Floats,
    line: LineScratch,
) -> tuple[float, float, int, int]:
    """All experts of a clique, whose `factor` and `cap` ascend.

    `gradients` are the rows of Gamma, `mean` their mean, `inverse` one over their standard
    deviation, `equal` whether they are all equal; eta is `unit` times `factor`. Fills s and m
    (`multiplier`, `centre`); s is CLOSED_FORM without clipped rows.
    Returns the weighted sums of eta and shrink over the experts in closed form, and the numbers of
    the other experts and of those whose piece was not found.
    """
    size, experts = gradients.shape[0], factor.shape[0]
    per_mode = 1.0 / (size + 1.0)
    sort_rows(gradients, order, line.rows)
    highest = -line.rows[VALUE, 1] - mean  # of the rows of Gamma
    lowest = -line.rows[VALUE, size] - mean
    # eta and shrink over eta ascend: once a row of an expert leaves the ball, so do later experts'.
    level, slope, first = 0.0, 0.0, 0
    while first < experts:
        eta = unit * factor[first]
        shrink = eta * per_mode if eta * per_mode < cap[first] * inverse else cap[first] * inverse
        if eta * mean + shrink * highest > 1.0 or eta * mean + shrink * lowest < -1.0:
            break
        multiplier[first] = CLOSED_FORM
        level += weight[first] * eta
        slope += weight[first] * shrink
        first += 1
    clipped = experts - first
    while first < experts and (equal or cap[first] <= NEGLIGIBLE):  # all rows are at the mean
        multiplier[first], centre[first, 0] = 0.0, _at_the_mean(unit * factor[first], mean)
        first += 1
    if first == experts:
        return level, slope, clipped, 0
    recall(
        factor[first:],
        cap[first:],
        multiplier[first:],
        centre[first:],
        unit,
        float(size),
        line.piece,
    )
    failed = solve_pieces(multiplier, centre, mean, size, first, line)
    return level, slope, clipped, failed
