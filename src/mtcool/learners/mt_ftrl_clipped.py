"""Experts of MT-FTRL with rows on the ball, where the closed form ends and a solver begins.

An expert's solution is s (in the row MULTIPLIER of `experts`) and the mean of its rows; all rows
follow from the two (`argmin.py`). On the line (d = 1) all experts of a clique are solved together
(`argmin_line.py`).
"""

import math

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import LANES, any_above, load_part
from mtcool.learners.argmin import minimise, project_row, put_expert, start_at_mean
from mtcool.learners.argmin_line import (
    CLOSED_FORM,
    NEGLIGIBLE,
    mixture_on_line,
    rows_on_line,
    solve_line,
)
from mtcool.learners.argmin_sweep import ALONG, SQUARE, Room, gather_rows
from mtcool.learners.learner import Floats
from mtcool.learners.mt_ftrl_state import CAP, LOSS, MULTIPLIER, PULL, WEIGHT, MTFTRLState


@inline
def add_clipped_rows(state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    """Add the `row` of every expert with rows on the ball to the mixture `out`, by weight."""
    plan, c = state.plan[clique], state.cliques[clique]
    first, last, table = plan["expert"], plan["expert"] + plan["experts"], plan["table"]
    _add_clipped_rows(
        state.gradients,
        row,
        c["unit"],
        c["mass"],
        state.table[PULL, table : table + last - first],
        state.experts[WEIGHT, first:last],
        state.experts[MULTIPLIER, first:last],
        state.centre[first:last],
        state.work.row,
        out,
    )


@routine
def _add_clipped_rows(
    gradients: Floats,
    row: int,
    unit: float,
    mass: float,
    pull: Floats,
    weight: Floats,
    multiplier: Floats,
    centre: Floats,
    x: Floats,
    out: Floats,
) -> None:
    # Not the state, but what is needed of it: each of its arrays takes time to hand over.
    if out.shape[0] == 1:
        out[0] += mixture_on_line(gradients[row, 0], unit, pull, weight, multiplier, centre) / mass
        return
    for e in range(pull.shape[0]):
        if multiplier[e] != CLOSED_FORM:
            project_row(gradients, row, unit * pull[e], multiplier[e], centre[e], x)
            share = weight[e] / mass
            for k in range(out.shape[0]):
                out[k] += share * x[k]


@routine
def correct_clipped_losses(
    state: MTFTRLState,
    clique: int,
    row: int,
    weight: float,
    gradient: Floats,
    on_mean: float,
    on_row: float,
) -> None:
    """Where the closed form does not hold, replace its loss by that of the solution."""
    plan, c = state.plan[clique], state.cliques[clique]
    first, table, x = plan["expert"], plan["table"], state.work.row
    per_mode = 1.0 / (plan["size"] + 1.0)
    for e in range(plan["experts"]):
        s = state.experts[MULTIPLIER, first + e]
        if s == CLOSED_FORM:
            continue
        eta = c["unit"] * state.table[PULL, table + e]
        shrink = min(eta * per_mode, state.table[CAP, table + e] * c["inverse"])
        project_row(state.gradients, row, eta, s, state.centre[first + e], x)
        change = eta * on_mean + shrink * on_row
        for k in range(gradient.shape[0]):
            change += x[k] * weight * gradient[k]
        state.experts[LOSS, first + e] += change


@inline
def expert_rows(state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    """Write the `row` of every expert's minimiser into `out`, (experts, d)."""
    plan, c = state.plan[clique], state.cliques[clique]
    first, last, table = plan["expert"], plan["expert"] + plan["experts"], plan["table"]
    _expert_rows(
        state.gradients,
        row,
        state.total[clique],
        plan["size"],
        c["unit"],
        c["inverse"],
        state.table[PULL, table : table + last - first],
        state.table[CAP, table : table + last - first],
        state.experts[MULTIPLIER, first:last],
        state.centre[first:last],
        out,
    )


@routine
def _expert_rows(
    gradients: Floats,
    row: int,
    total: Floats,
    size: int,
    unit: float,
    inverse: float,
    pull: Floats,
    cap: Floats,
    multiplier: Floats,
    centre: Floats,
    out: Floats,
) -> None:
    per_row, per_mode = 1.0 / size, 1.0 / (size + 1.0)
    if out.shape[1] == 1:
        gradient, mean = gradients[row, 0], total[0] * per_row
        rows_on_line(gradient, mean, unit, inverse, per_mode, pull, cap, multiplier, centre, out)
        return
    for e in range(out.shape[0]):
        eta, s = unit * pull[e], multiplier[e]
        if s != CLOSED_FORM:
            project_row(gradients, row, eta, s, centre[e], out[e])
            continue
        shrink = min(eta * per_mode, cap[e] * inverse)
        for k in range(out.shape[1]):
            mean = total[k] * per_row
            out[e, k] = -eta * mean - shrink * (gradients[row, k] - mean)


@inline
def solve_experts(state: MTFTRLState, clique: int) -> None:
    """Solve the experts of a clique, where a row of one of them may leave the ball."""
    # What is called here and is not the hot path gets the whole state, which takes its time.
    if state.total.shape[1] == 1:
        _solve_on_line(state, clique)
    else:
        _solve_in_lanes(state, clique)


@routine
def _solve_in_lanes(state: MTFTRLState, clique: int) -> None:
    plan, c, room = state.plan[clique], state.cliques[clique], state.work.room
    first, table, start, size = plan["expert"], plan["table"], plan["first"], plan["size"]
    total, multiplier = state.total[clique], state.experts[MULTIPLIER]
    count = gather_rows(state.gradients, start, start + size, total, room)
    square = 0.0
    for k in range(total.shape[0]):
        square += total[k] ** 2
    mean = math.sqrt(square) / float(size)
    level, slope, clipped, used = 0.0, 0.0, 0, 0
    for e in range(first, first + plan["experts"]):
        guess, weight, m = table + e - first, state.experts[WEIGHT, e], state.centre[e]
        eta, cap = c["unit"] * state.table[PULL, guess], state.table[CAP, guess]
        shrink = min(eta / (size + 1.0), cap * c["inverse"])
        if _stays_inside(room, count, eta, shrink, mean, c["reach"]):
            multiplier[e] = CLOSED_FORM
            level += weight * eta
            slope += weight * shrink
            continue
        clipped += 1
        alike = cap <= NEGLIGIBLE or c["deviation"] == 0.0  # all rows at the mean, in the ball
        if alike or not multiplier[e] >= 0.0:
            start_at_mean(total, size, eta, m)
        if alike:
            multiplier[e] = 0.0
            continue
        put_expert(room, used, e, size, eta, cap, 1.0 / c["inverse"], multiplier[e], m)
        used += 1
        if used == LANES:
            minimise(room, used, count, size, multiplier, state.centre)
            used = 0
    if used > 0:
        minimise(room, used, count, size, multiplier, state.centre)
    c["level"], c["slope"], c["clipped"] = level / c["mass"], slope / c["mass"], clipped


@inline
def _stays_inside(
    room: Room, count: int, eta: float, shrink: float, mean: float, reach: float
) -> bool:
    """Does every row of the closed form lie in the ball? Bounds first, then the rows themselves."""
    if eta * mean + shrink * reach <= 1.0:
        return True
    if eta * mean > 1.0:  # the rows' mean is outside, so one of them is
        return False
    base = (eta * mean) ** 2
    for i in range(0, count, LANES):
        along, square = load_part(room.known, ALONG, i), load_part(room.known, SQUARE, i)
        length = base + 2.0 * eta * shrink * along + shrink * shrink * square
        if any_above(length, 1.0):
            return False
    return True


@inline
def _solve_on_line(state: MTFTRLState, clique: int) -> None:
    plan, c = state.plan[clique], state.cliques[clique]
    first, last, table = plan["expert"], plan["expert"] + plan["experts"], plan["table"]
    start, end = plan["first"], plan["first"] + plan["size"]
    level, slope, clipped, failed = solve_line(
        state.gradients[start:end],
        state.work.line.order[start:end],
        state.total[clique, 0] / float(plan["size"]),
        c["unit"],
        c["inverse"],
        c["deviation"] == 0.0,
        state.table[PULL, table : table + last - first],
        state.table[CAP, table : table + last - first],
        state.experts[WEIGHT, first:last],
        state.experts[MULTIPLIER, first:last],
        state.centre[first:last],
        state.work.line,
    )
    c["level"], c["slope"], c["clipped"] = level / c["mass"], slope / c["mass"], clipped
    if failed > 0:  # their s is a NaN, which is no start
        _solve_in_lanes(state, clique)
