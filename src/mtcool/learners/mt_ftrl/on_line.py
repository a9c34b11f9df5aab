"""Experts of MT-FTRL with rows on the ball, on the line: solved together (`solvers/line.py`)."""

from mtcool.kernels import inline, routine
from mtcool.learners.mt_ftrl.clipped import add_clipped_rows, expert_rows, solve_experts
from mtcool.learners.mt_ftrl.state import (
    CAP,
    FACTOR,
    MULTIPLIER,
    WEIGHT,
    MTFTRLState,
)
from mtcool.learners.solvers.line import CLOSED_FORM, LineScratch, solve_line
from mtcool.types import Floats


@inline
def _clipped(gradient: float, eta: float, s: float, m: float) -> float:
    """The row with this sum of gradients, of an expert with rows on the ball."""
    x = (1.0 - s) * m - s * eta * gradient
    x = 1.0 if x > 1.0 else x
    return -1.0 if x < -1.0 else x


@add_clipped_rows.register
def _(work: LineScratch, state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    plan, c = state.plan[clique], state.cliques[clique]
    first, last, table = plan["expert"], plan["expert"] + plan["experts"], plan["table"]
    if plan["experts"] == 1:  # its weight is one
        out[0] += _clipped(
            state.gradients[row, 0],
            c["unit"] * state.table[FACTOR, table],
            state.experts[MULTIPLIER, first],
            state.centre[first, 0],
        )
        return
    total = _weighted_sum(
        state.gradients[row, 0],
        c["unit"],
        state.table[FACTOR, table : table + last - first],
        state.experts[WEIGHT, first:last],
        state.experts[MULTIPLIER, first:last],
        state.centre[first:last],
    )
    out[0] += total / c["mass"]


@routine
def _weighted_sum(
    gradient: float, unit: float, factor: Floats, weight: Floats, multiplier: Floats, centre: Floats
) -> float:
    # Not the state, but what is needed of it: each of its arrays takes time to hand over.
    total = 0.0
    for e in range(factor.shape[0]):
        x = _clipped(gradient, unit * factor[e], multiplier[e], centre[e, 0])
        total += 0.0 if multiplier[e] == CLOSED_FORM else weight[e] * x
    return total


@expert_rows.register
def _(work: LineScratch, state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    plan, c = state.plan[clique], state.cliques[clique]
    first, last, table = plan["expert"], plan["expert"] + plan["experts"], plan["table"]
    factor, cap = state.table[FACTOR, table:], state.table[CAP, table:]
    multiplier, centre = state.experts[MULTIPLIER, first:last], state.centre[first:last]
    unit, inverse = c["unit"], c["inverse"]
    per_row, per_mode = 1.0 / plan["size"], 1.0 / (plan["size"] + 1.0)
    gradient, mean = state.gradients[row, 0], state.total[clique, 0] * per_row
    for e in range(out.shape[0]):  # without branches, so four at a time
        eta = unit * factor[e]
        shrink = eta * per_mode if eta * per_mode < cap[e] * inverse else cap[e] * inverse
        inside = -eta * mean - shrink * (gradient - mean)
        x = _clipped(gradient, eta, multiplier[e], centre[e, 0])
        out[e, 0] = inside if multiplier[e] == CLOSED_FORM else x


@solve_experts.register
def _(work: LineScratch, state: MTFTRLState, clique: int) -> None:
    plan, c = state.plan[clique], state.cliques[clique]
    first, last, table = plan["expert"], plan["expert"] + plan["experts"], plan["table"]
    start, end = plan["first"], plan["first"] + plan["size"]
    level, slope, clipped, _ = solve_line(
        state.gradients[start:end],
        work.order[start:end],
        state.total[clique, 0] / float(plan["size"]),
        c["unit"],
        c["inverse"],
        c["deviation"] == 0.0,
        state.table[FACTOR, table : table + last - first],
        state.table[CAP, table : table + last - first],
        state.experts[WEIGHT, first:last],
        state.experts[MULTIPLIER, first:last],
        state.centre[first:last],
        work,
    )
    c["level"], c["slope"], c["clipped"] = level / c["mass"], slope / c["mass"], clipped
