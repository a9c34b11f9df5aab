"""Single experts of several cliques on the line, solved together and without sorting.

Sorting and summing the rows serves all experts of a clique (`solvers/line.py`, which has the names
and the equations). One alone is quicker to solve from passes over the rows as they are: a pass
counts the rows that the last solution clips and sums the others, eight rows at a time, which gives
the equations of its piece. If their solution clips as many rows again, it is the answer. A private
agent tells its sums to all its neighbours at once, so their cliques are solved side by side, and
the processor waits for none of them. What a few passes do not find is left to sorting.
"""

from typing import Any

import numpy as np

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import LANES, count_from, load_down, spread, total, where_above
from mtcool.learners.mt_ftrl.clipped import solve_experts, solve_later, solve_waiting
from mtcool.learners.mt_ftrl.state import CAP, FACTOR, MULTIPLIER, MTFTRLState
from mtcool.learners.solvers.line import (
    BETWEEN,
    CLIPPED,
    CLOSED_FORM,
    DRIFT,
    ETA,
    EXPERT,
    FREE,
    HIGH,
    LEAN,
    LOW,
    MEAN,
    MOST,
    NEGLIGIBLE,
    SLACK,
    TALLY,
    THIN,
    VARIANCE,
    WITHIN,
    LineScratch,
    solve_columns,
)
from mtcool.learners.solvers.line import MULTIPLIER as COLUMN_MULTIPLIER
from mtcool.types import Floats

PASSES = 7  # over the rows; there are seldom more than three
HIGHER = 2.0**26  # what a row above counts, so that one number holds both counts


@solve_later.register
def _(work: LineScratch, state: MTFTRLState, clique: int, waiting: int) -> int:
    work.waiting[waiting] = clique
    return waiting + 1


@solve_waiting.register
def _(work: LineScratch, state: MTFTRLState, waiting: int, last: bool) -> int:
    if waiting == 0 or not (last or waiting == work.waiting.shape[0]):
        return waiting
    left = solve_singles(state, waiting)
    for j in range(left):
        solve_experts(work, state, work.waiting[j])
    return 0


@routine
def solve_singles(state: MTFTRLState, count: int) -> int:
    """Solve those of the first `count` cliques in `waiting` that have one expert.

    Returns how many are left to be solved by sorting: they are the first ones in `waiting` now.
    """
    line: Any = state.work
    piece, place, waiting = line.piece, line.place, line.waiting
    failed, chosen = 0 * count, 0 * count
    for j in range(count):
        clique = waiting[j]
        plan = state.plan[clique]
        if plan["experts"] > 1 or plan["size"] < LANES:
            waiting[failed] = clique
            failed += 1
            continue
        _recall(state, clique, piece, chosen)
        place[EXPERT, chosen] = clique
        chosen += 1
    count = chosen
    for _ in range(PASSES):
        left = 0 * count
        for j in range(count):
            clique = int(place[EXPERT, j])
            plan = state.plan[clique]
            mean = state.total[clique, 0] / float(plan["size"])
            outside, tally, square = count_and_sum(
                state.gradients[plan["first"] : plan["first"] + plan["size"]],
                mean,
                piece[LOW, j] + mean,
                piece[HIGH, j] + mean,
            )
            if outside == piece[TALLY, j]:
                _accept(state, clique, outside, piece[COLUMN_MULTIPLIER, j], piece[MEAN, j])
                continue
            place[EXPERT, left], piece[TALLY, left] = clique, outside
            piece[ETA, left], piece[VARIANCE, left] = piece[ETA, j], piece[VARIANCE, j]
            piece[MOST, left] = piece[MOST, j]
            if _describe(float(plan["size"]), mean, outside, tally, square, piece, left):
                left += 1
            else:
                waiting[failed] = clique
                failed += 1
        count = left
        if count == 0:
            break
        solve_columns(piece, count)
    for j in range(count):
        waiting[failed] = int(place[EXPERT, j])
        failed += 1
    return failed


@inline
def _recall(state: MTFTRLState, clique: int, piece: Floats, j: int) -> None:
    """Where the expert's last solution leaves the ball; the closed form, if that was the last."""
    plan, c = state.plan[clique], state.cliques[clique]
    size, cap = float(plan["size"]), state.table[CAP, plan["table"]]
    s, m = state.experts[MULTIPLIER, plan["expert"]], state.centre[plan["expert"], 0]
    eta, most = c["unit"] * state.table[FACTOR, plan["table"]], 1.0 / (size + 1.0)
    if not s > 0.0:
        s, m = cap * c["inverse"] / eta, -eta * state.total[clique, 0] / size
        s = s if s < most else most
    per_t, centre = 1.0 / (s * eta), (1.0 - s) * m
    piece[LOW, j], piece[HIGH, j] = (-1.0 - centre) * per_t, (1.0 - centre) * per_t
    piece[ETA, j], piece[VARIANCE, j] = eta, (size - 1.0) * cap * cap
    piece[MOST, j], piece[TALLY, j] = most, -1.0


@inline
def count_and_sum(
    gradients: Floats, mean: float, low: float, high: float
) -> tuple[float, float, float]:
    """Count the w_i = v_i - mean(v) outside of `low` and `high`; sum the others and their squares.

    `gradients` are the rows of Gamma, at least LANES of them, and `mean` is their mean. A row below
    counts as one, a row above as HIGHER.
    """
    size = gradients.shape[0]
    outside, tally, square = spread(0.0), spread(0.0), spread(0.0)
    whole = size - size % LANES
    for i in range(0, whole, LANES):
        w = mean - load_down(gradients, i)
        # Products, because choices that depend on both would cost the processor more.
        below, above = where_above(low, w, 1.0, 0.0), where_above(w, high, 1.0, 0.0)
        inside = w - w * (below + above)
        outside = outside + (below + HIGHER * above)
        tally = tally + inside
        square = square + inside * inside
    if whole < size:  # the last LANES rows, of which some were counted
        w = mean - load_down(gradients, size - LANES)
        new = where_above(count_from(float(size - LANES)), float(whole) - 0.5, 1.0, 0.0)
        below, above = where_above(low, w, 1.0, 0.0), where_above(w, high, 1.0, 0.0)
        inside = new * (w - w * (below + above))
        outside = outside + new * (below + HIGHER * above)
        tally = tally + inside
        square = square + inside * inside
    return total(outside), total(tally), total(square)


@inline
def _describe(
    size: float,
    mean: float,
    outside: float,
    tally: float,
    square: float,
    piece: Floats,
    j: int,
) -> bool:
    """Write the coefficients of the piece's equations into `piece`.

    Return False if there are none or rounding would spoil them.
    """
    above = np.floor(outside / HIGHER)
    below = outside - HIGHER * above
    k, r, eta = below + above, above - below, piece[ETA, j]
    free, per_clipped = size - k, 1.0 / k if k > 0.0 else 0.0
    w = tally / free
    within, u = square - tally * w, eta * (w - mean)
    slack, tilt = piece[VARIANCE, j] - 4.0 * below * above * per_clipped, k * u - r
    piece[BETWEEN, j], piece[WITHIN, j] = (
        free * size * per_clipped * tilt * tilt,
        within * eta * eta,
    )
    piece[SLACK, j] = slack
    if k == 0.0:  # m = u whatever s: as if one row were clipped, at u, and no row free
        k, free, r = 1.0, 0.0, u
    piece[CLIPPED, j], piece[LEAN, j] = k, r
    piece[FREE, j], piece[DRIFT, j] = free, free * u
    return bool(slack > size * NEGLIGIBLE**2 and within > THIN * square)


@inline
def _accept(state: MTFTRLState, clique: int, clipped: float, s: float, m: float) -> None:
    c, expert = state.cliques[clique], state.plan[clique]["expert"]
    if clipped == 0.0:  # level and slope are those of the closed form
        state.experts[MULTIPLIER, expert], c["clipped"] = CLOSED_FORM, 0
        return
    state.experts[MULTIPLIER, expert], state.centre[expert, 0] = s, m
    c["level"], c["slope"], c["clipped"] = 0.0, 0.0, 1
