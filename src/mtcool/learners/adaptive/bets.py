"""A limit for bets, which a clique needs that does not know how long the next gradient is.

Of a gradient longer than all before it only a part is learned; the rest is paid for at the
prediction, so predictions must not be large. After n updates a clique of N rows bets at most
sqrt(N (1 + n)), which keeps its models within sqrt(2 (1 + n)) times the radius. While the bettor
wants more, outcomes that would make it bolder still do not count: on the points within the limit
the regret of what is played is then at most the bettor's (`docs/bounds.md`).

Learners that stay in the ball have no need of it.
"""

import numpy as np

from mtcool.kernels import dispatched, inline
from mtcool.learners.ftrl import FTRLState
from mtcool.learners.kt import KTState
from mtcool.learners.learner import predict_row, update_row
from mtcool.learners.mt_ftrl.state import MTFTRLState
from mtcool.learners.mt_ftrl_kt import MTFTRLKTState
from mtcool.learners.wealth import available
from mtcool.types import Floats, State


@dispatched
def predict_within(state: State, clique: int, row: int, rows: float, out: Floats) -> None:
    """`predict_row` of a clique with so many rows, with a limited bet."""
    raise TypeError(f"{type(state).__name__} is not known to bet or to stay in the ball")


@dispatched
def update_within(
    state: State, clique: int, row: int, weight: float, gradient: Floats, rows: float, work: Floats
) -> None:
    """`update_row` for a bet that was limited; `work` is scratch for a model."""
    raise TypeError(f"{type(state).__name__} is not known to bet or to stay in the ball")


@dispatched
def bet_of(state: State, clique: int) -> tuple[float, float, int]:
    """The magnitude that a bettor wants, the sum of its coin's outcomes, and its updates."""
    raise TypeError(f"{type(state).__name__} does not bet")


@dispatched
def bet_on(state: State, clique: int, outcomes: float) -> None:
    """Replace the sum of the coin's outcomes, and with it the share of the wealth to bet next."""
    raise TypeError(f"{type(state).__name__} does not bet")


@predict_within.register
def _(state: FTRLState | MTFTRLState, clique: int, row: int, rows: float, out: Floats) -> None:
    predict_row(state, clique, row, out)


@update_within.register
def _(
    state: FTRLState | MTFTRLState,
    clique: int,
    row: int,
    weight: float,
    gradient: Floats,
    rows: float,
    work: Floats,
) -> None:
    update_row(state, clique, row, weight, gradient)


@predict_within.register
def _(state: KTState | MTFTRLKTState, clique: int, row: int, rows: float, out: Floats) -> None:
    predict_row(state, clique, row, out)
    bet, _, n = bet_of(state, clique)
    limit = _limit(rows, n)
    if abs(bet) > limit:
        for k in range(out.shape[0]):
            out[k] *= limit / abs(bet)


@update_within.register
def _(
    state: KTState | MTFTRLKTState,
    clique: int,
    row: int,
    weight: float,
    gradient: Floats,
    rows: float,
    work: Floats,
) -> None:
    bet, outcomes, n = bet_of(state, clique)
    bolder = False
    if abs(bet) > _limit(rows, n):
        predict_row(state, clique, row, work)
        along = 0.0
        for k in range(gradient.shape[0]):
            along += work[k] * weight * gradient[k]
        bolder = along < 0.0
    if bolder:
        bet_on(state, clique, 0.0)  # the direction learns, the wealth stays
    update_row(state, clique, row, weight, gradient)
    if bolder:
        bet_on(state, clique, outcomes)


@inline
def _limit(rows: float, n: int) -> float:
    return float(np.sqrt(rows * (1.0 + n)))


@bet_of.register
def _(state: KTState, clique: int) -> tuple[float, float, int]:
    wealth = available(state.wealth[clique], state.power[clique])
    return state.fraction[clique] * wealth, state.outcomes[clique], state.n[clique]


@bet_of.register
def _(state: MTFTRLKTState, clique: int) -> tuple[float, float, int]:
    c = state.cliques[clique]
    return c["fraction"] * available(c["wealth"], c["power"]), c["outcomes"], c["n"]


@bet_on.register
def _(state: KTState, clique: int, outcomes: float) -> None:
    state.outcomes[clique] = outcomes
    state.fraction[clique] = -outcomes / (state.n[clique] + 1.0)


@bet_on.register
def _(state: MTFTRLKTState, clique: int, outcomes: float) -> None:
    c = state.cliques[clique]
    c["outcomes"] = outcomes
    c["fraction"] = -outcomes / (c["n"] + 1.0)
