"""Experts of MT-FTRL with rows on the ball, where the closed form ends and a solver begins.

An expert's solution is s (in the row MULTIPLIER of `experts`) and the mean of its rows; all rows
follow from the two (`solvers/newton.py`). There are two solvers, and the type of a state's `work`
tells which one it has scratch for: on the line, d = 1, all experts of a clique are solved together
(`on_line.py`), else eight at a time (`in_lanes.py`). A network is compiled with one of them. An
agent of a private network tells all its neighbours' cliques at once; on the line those with a
single expert wait for each other and are solved together (`single_expert_batch.py`).
"""

from mtcool.kernels import dispatched, routine
from mtcool.learners.mt_ftrl.state import (
    CAP,
    FACTOR,
    LOSS,
    MULTIPLIER,
    MTFTRLState,
    Scratch,
)
from mtcool.learners.solvers.line import CLOSED_FORM
from mtcool.learners.solvers.newton import project_row
from mtcool.types import Floats


@dispatched
def solve_experts(work: Scratch, state: MTFTRLState, clique: int) -> None:
    """Solve the experts of a clique, where a row of one of them may leave the ball."""
    raise TypeError(f"{type(work).__name__} is not the scratch of a solver")


@dispatched
def solve_later(work: Scratch, state: MTFTRLState, clique: int, waiting: int) -> int:
    """Solve the experts of a clique, or let them wait; return how many wait now."""
    raise TypeError(f"{type(work).__name__} is not the scratch of a solver")


@dispatched
def solve_waiting(work: Scratch, state: MTFTRLState, waiting: int, last: bool) -> int:
    """Solve the waiting cliques if no more come or can wait; return how many wait now."""
    raise TypeError(f"{type(work).__name__} is not the scratch of a solver")


@dispatched
def add_clipped_rows(work: Scratch, state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    """Add the `row` of every expert with rows on the ball to the mixture `out`, by weight."""
    raise TypeError(f"{type(work).__name__} is not the scratch of a solver")


@dispatched
def expert_rows(work: Scratch, state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    """Write the `row` of every expert's minimiser into `out`, (experts, d)."""
    raise TypeError(f"{type(work).__name__} is not the scratch of a solver")


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
        eta = c["unit"] * state.table[FACTOR, table + e]
        shrink = min(eta * per_mode, state.table[CAP, table + e] * c["inverse"])
        project_row(state.gradients, row, eta, s, state.centre[first + e], x)
        change = eta * on_mean + shrink * on_row
        for k in range(gradient.shape[0]):
            change += x[k] * weight * gradient[k]
        state.experts[LOSS, first + e] += change
