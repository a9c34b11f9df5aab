"""Experts of MT-FTRL with rows on the ball, d > 1: solved eight at a time (`solvers/newton.py`)."""

import math
from typing import Any

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import LANES, any_above, load_part
from mtcool.learners.mt_ftrl.clipped import (
    add_clipped_rows,
    expert_rows,
    solve_experts,
    solve_later,
    solve_waiting,
)
from mtcool.learners.mt_ftrl.state import (
    CAP,
    FACTOR,
    MULTIPLIER,
    WEIGHT,
    MTFTRLState,
)
from mtcool.learners.solvers.line import CLOSED_FORM, NEGLIGIBLE
from mtcool.learners.solvers.newton import minimise, project_row, put_expert, start_at_mean
from mtcool.learners.solvers.sweep import ALONG, SQUARE, SolverScratch, gather_rows
from mtcool.types import Floats


@add_clipped_rows.register
def _(work: SolverScratch, state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    plan, c = state.plan[clique], state.cliques[clique]
    first, last, table = plan["expert"], plan["expert"] + plan["experts"], plan["table"]
    _add_rows(
        state.gradients,
        row,
        c["unit"],
        c["mass"],
        state.table[FACTOR, table : table + last - first],
        state.experts[WEIGHT, first:last],
        state.experts[MULTIPLIER, first:last],
        state.centre[first:last],
        work.row,
        out,
    )


@routine
def _add_rows(
    gradients: Floats,
    row: int,
    unit: float,
    mass: float,
    factor: Floats,
    weight: Floats,
    multiplier: Floats,
    centre: Floats,
    x: Floats,
    out: Floats,
) -> None:
    # Not the state, but what is needed of it: each of its arrays takes time to hand over.
    for e in range(factor.shape[0]):
        if multiplier[e] != CLOSED_FORM:
            project_row(gradients, row, unit * factor[e], multiplier[e], centre[e], x)
            share = weight[e] / mass
            for k in range(out.shape[0]):
                out[k] += share * x[k]


@expert_rows.register
def _(work: SolverScratch, state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    plan, c = state.plan[clique], state.cliques[clique]
    first, table, size = plan["expert"], plan["table"], plan["size"]
    per_row, per_mode = 1.0 / size, 1.0 / (size + 1.0)
    for e in range(out.shape[0]):
        eta, s = c["unit"] * state.table[FACTOR, table + e], state.experts[MULTIPLIER, first + e]
        if s != CLOSED_FORM:
            project_row(state.gradients, row, eta, s, state.centre[first + e], out[e])
            continue
        shrink = min(eta * per_mode, state.table[CAP, table + e] * c["inverse"])
        for k in range(out.shape[1]):
            mean = state.total[clique, k] * per_row
            out[e, k] = -eta * mean - shrink * (state.gradients[row, k] - mean)


@solve_experts.register
def _(work: SolverScratch, state: MTFTRLState, clique: int) -> None:
    _solve(state, clique)


@solve_later.register
def _(work: SolverScratch, state: MTFTRLState, clique: int, waiting: int) -> int:
    _solve(state, clique)
    return waiting


@solve_waiting.register
def _(work: SolverScratch, state: MTFTRLState, waiting: int, last: bool) -> int:
    return waiting  # none does


@routine
def _solve(state: MTFTRLState, clique: int) -> None:
    plan, c = state.plan[clique], state.cliques[clique]
    scratch: Any = state.work
    first, table, start, size = plan["expert"], plan["table"], plan["first"], plan["size"]
    total, multiplier = state.total[clique], state.experts[MULTIPLIER]
    count = gather_rows(state.gradients, start, start + size, total, scratch)
    square = 0.0
    for k in range(total.shape[0]):
        square += total[k] ** 2
    mean = math.sqrt(square) / float(size)
    level, slope, clipped, used = 0.0, 0.0, 0, 0
    for e in range(first, first + plan["experts"]):
        guess, weight, m = table + e - first, state.experts[WEIGHT, e], state.centre[e]
        eta, cap = c["unit"] * state.table[FACTOR, guess], state.table[CAP, guess]
        shrink = min(eta / (size + 1.0), cap * c["inverse"])
        if _stays_inside(scratch, count, eta, shrink, mean, c["reach"]):
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
        put_expert(scratch, used, e, size, eta, cap, 1.0 / c["inverse"], multiplier[e], m)
        used += 1
        if used == LANES:
            minimise(scratch, used, count, size, multiplier, state.centre)
            used = 0
    if used > 0:
        minimise(scratch, used, count, size, multiplier, state.centre)
    c["level"], c["slope"], c["clipped"] = level / c["mass"], slope / c["mass"], clipped


@inline
def _stays_inside(
    scratch: SolverScratch, count: int, eta: float, shrink: float, mean: float, reach: float
) -> bool:
    """Whether every row of the closed form lies in the ball; cheap bounds are tried first."""
    if eta * mean + shrink * reach <= 1.0:
        return True
    if eta * mean > 1.0:  # the rows' mean is outside, so one of them is
        return False
    base = (eta * mean) ** 2
    for i in range(0, count, LANES):
        along, square = load_part(scratch.known, ALONG, i), load_part(scratch.known, SQUARE, i)
        length = base + 2.0 * eta * shrink * along + shrink * shrink * square
        if any_above(length, 1.0):
            return False
    return True
