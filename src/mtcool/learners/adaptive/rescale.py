"""Sums of gradients in a larger unit: as if all gradients had been measured in it.

Steps fall with the unit as they fall with time, never the other way. A bettor's wealth, measured in
the unit too, would shrink; instead every growth of the unit comes with an endowment of as much,
so that the wealth stays at least Krichevsky and Trofimov's potential (`docs/bounds.md`).
"""

import numpy as np

from mtcool.kernels import dispatched, inline
from mtcool.learners.ftrl import FTRLState, ball_step
from mtcool.learners.kt import KTState
from mtcool.learners.mt_ftrl.closed_form import refresh, reweigh
from mtcool.learners.mt_ftrl.state import LOSS, MTFTRLState
from mtcool.learners.mt_ftrl_kt import MTFTRLKTState
from mtcool.learners.wealth import HIGHEST, STEP, after_bet
from mtcool.types import Floats, State


@dispatched
def rescale(state: State, clique: int, first: int, last: int, ratio: float) -> None:
    """Express all that a clique knows in a unit that is 1 / `ratio` times the old one.

    Parameters
    ----------
    state, clique
        As in `predict_row`.
    first, last
        The rows of the clique are first:last.
    ratio
        The old unit in the new one, between zero and one.

    Examples
    --------
    >>> from mtcool.learners import FTRL, Cliques
    >>> one = Cliques(start=np.array([0, 1]), rate=np.ones(1), bound=np.ones(1))
    >>> state = FTRL().make_state(one, dim=1)
    >>> state.total[0] = 1.0
    >>> rescale(state, 0, 0, 1, ratio=0.5)
    >>> state.total[0]
    array([0.5])
    """
    raise TypeError(f"{type(state).__name__} has no other unit")


@rescale.register
def _(state: FTRLState, clique: int, first: int, last: int, ratio: float) -> None:
    shrink(state.total[clique], ratio)


@rescale.register
def _(state: KTState, clique: int, first: int, last: int, ratio: float) -> None:
    total, n = state.total[clique], state.n[clique]
    shrink(total, ratio)
    wealth, power = endowed(state.wealth[clique], state.power[clique], ratio)
    state.wealth[clique], state.power[clique] = wealth, power
    state.outcomes[clique] *= ratio
    state.fraction[clique] = -state.outcomes[clique] / (n + 1.0)
    state.direction[clique] = ball_step(total, state.rate[clique] * np.sqrt(1.0 + n))


@rescale.register
def _(state: MTFTRLKTState, clique: int, first: int, last: int, ratio: float) -> None:
    c, length = state.cliques[clique], 0.0
    for row in range(first, last):
        shrink(state.gradients[row], ratio)
    shrink(state.total[clique], ratio)
    for k in range(state.total.shape[1]):
        length += state.total[clique, k] * state.total[clique, k]
    c["deviation"] *= ratio * ratio
    c["wealth"], c["power"] = endowed(c["wealth"], c["power"], ratio)
    c["outcomes"] *= ratio
    clock, modes, rate = c["n"] + 1.0, 1.0 + c["size"], c["rate"]
    c["fraction"] = -c["outcomes"] / clock
    norm = modes * max(rate * rate * clock * modes, c["deviation"] + length * modes)
    c["direction"] = -np.sqrt(c["size"] / norm)


@rescale.register
def _(state: MTFTRLState, clique: int, first: int, last: int, ratio: float) -> None:
    plan = state.plan[clique]
    for row in range(first, last):
        shrink(state.gradients[row], ratio)
    refresh(state, clique)
    shrink(state.experts[LOSS, plan["expert"] : plan["expert"] + plan["experts"]], ratio)
    reweigh(state, clique)


@inline
def shrink(numbers: Floats, ratio: float) -> None:
    """Multiply all numbers by the ratio."""
    for k in range(numbers.shape[0]):
        numbers[k] *= ratio


@inline
def endowed(wealth: float, power: int, ratio: float) -> tuple[float, int]:
    """The wealth in the new unit, with the endowment 1 - `ratio`; `wealth.py` has the power."""
    if power > 1:  # so much that the endowment is below its rounding
        less, powers = after_bet(wealth, power, ratio)
        return after_bet(less, powers, 1.0)
    amount = wealth
    if power != 0:
        amount = wealth * STEP if power == 1 else 0.0
    mixed = ratio * amount + (1.0 - ratio)
    return (mixed / STEP, 1) if mixed > HIGHEST else (mixed, 0)
