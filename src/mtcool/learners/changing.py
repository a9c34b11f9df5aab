"""Cliques that change: rows are added, bounds on weights rise, late gradients count for more.

A clique has slots, and N in all formulas is their number. A vacant slot is a row of zeros that is
never active, which costs nothing (`docs/bounds.md`). When all slots are taken their number doubles:
the rows move to a larger block, every sum is kept, and what predictions need is computed anew.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from mtcool.field.vectors import clear_vector
from mtcool.kernels import dispatched, inline
from mtcool.learners.adaptive.rescale import endowed
from mtcool.learners.ftrl import FTRLState, ball_step
from mtcool.learners.kt import KTState
from mtcool.learners.learner import Cliques, Learner
from mtcool.learners.mt_ftrl.closed_form import refresh, reweigh
from mtcool.learners.mt_ftrl.state import (
    FACTOR,
    LOSS,
    MULTIPLIER,
    WEIGHT,
    MTFTRLState,
    Scratch,
)
from mtcool.learners.mt_ftrl_kt import MTFTRLKTState
from mtcool.learners.solvers.line import CLOSED_FORM, LineScratch
from mtcool.learners.solvers.sweep import SolverScratch
from mtcool.learners.squared_weights import SquaredWeightsState
from mtcool.types import Floats, State

ROUNDING = 1e-12  # of s = xi (N - 1), which two cliques of different sizes compute differently


class Layout(NamedTuple):
    """Where the rows of a clique are, and its experts."""

    first: int
    slots: int
    """Rows, those of neighbours to come included."""
    expert: int
    """For learners with experts: the first of its own, their number, and where `table` has them."""
    experts: int
    table: int


@dispatched
def begin_clique(state: State, clique: int, layout: Layout, bound: float) -> None:
    """Make the state of a clique that has learned nothing.

    Parameters
    ----------
    state, clique
        As in `predict_row`.
    layout
        Where its rows are.
    bound
        The largest weight that it will receive, which is its rate, too.

    Examples
    --------
    >>> from mtcool.learners import FTRL, MTFTRLKT
    >>> one = Cliques(start=np.array([0, 2]), rate=np.ones(1), bound=np.ones(1))
    >>> state = MTFTRLKT().make_state(one, dim=1)
    >>> begin_clique(state, 0, Layout(first=0, slots=2, expert=0, experts=0, table=0), 0.5)
    >>> state.rate
    array([0.5])
    """
    raise TypeError(f"{type(state).__name__} is not the state of a learner that can change")


@dispatched
def grow_clique(state: State, clique: int, old: int, used: int, layout: Layout) -> None:
    """Move the rows old:old + used of a clique to a larger place, where all else is vacant.

    Parameters
    ----------
    state, clique
        As in `predict_row`.
    old, used
        Where its rows are, and their number.
    layout
        Where they will be.

    Examples
    --------
    >>> from mtcool.learners import FTRL, MTFTRLKT
    >>> one = Cliques(start=np.array([0, 3]), rate=np.ones(1), bound=np.ones(1))
    >>> state = MTFTRLKT().make_state(one, dim=1)
    >>> begin_clique(state, 0, Layout(first=0, slots=1, expert=0, experts=0, table=0), 0.5)
    >>> state.gradients[0] = 0.25
    >>> grow_clique(state, 0, 0, 1, Layout(first=1, slots=2, expert=0, experts=0, table=0))
    >>> state.gradients[:, 0]
    array([0.25, 0.25, 0.  ])
    """
    raise TypeError(f"{type(state).__name__} is not the state of a learner that can change")


@dispatched
def raise_bound(state: State, clique: int, bound: float, ratio: float, rate: float) -> None:
    """Tell a clique that it may receive larger weights, before it does.

    Parameters
    ----------
    state, clique
        As in `predict_row`.
    bound
        The largest weight to come.
    ratio
        The largest weight until now, over `bound`: below one.
    rate
        The new factor of beta.

    Examples
    --------
    >>> from mtcool.learners import FTRL, MTFTRLKT
    >>> one = Cliques(start=np.array([0, 1]), rate=np.array([0.5]), bound=np.array([0.5]))
    >>> state = FTRL().make_state(one, dim=1)
    >>> raise_bound(state, 0, bound=1.0, ratio=0.5, rate=1.0)
    >>> state.rate
    array([1.])
    """
    raise TypeError(f"{type(state).__name__} is not the state of a learner that can change")


@dispatched
def credit(state: State, clique: int, extra: float) -> None:
    """Add to the squared weights that adaptive rates are made of; others do not count them."""


@credit.register(object)
def _(state: State, clique: int, extra: float) -> None:
    pass


def implements(function: "functools._SingleDispatchCallable[None]", learner: Learner) -> bool:
    """Whether a function that is dispatched by states has an implementation for a learner's.

    Examples
    --------
    >>> from mtcool.learners import KT
    >>> implements(begin_clique, KT())
    True
    """
    one = np.ones(1)
    state = learner.make_state(Cliques(np.arange(2), one, one), 1)
    return function.dispatch(type(state)) is not function.dispatch(object)


# --- learners with one point for a clique, whatever its rows ---------------------------------


@begin_clique.register
def _(state: FTRLState, clique: int, layout: Layout, bound: float) -> None:
    clear_vector(state.total[clique])
    state.n[clique] = 0
    state.rate[clique] = bound


@raise_bound.register
def _(state: FTRLState, clique: int, bound: float, ratio: float, rate: float) -> None:
    state.rate[clique] = rate


@begin_clique.register
def _(state: KTState, clique: int, layout: Layout, bound: float) -> None:
    clear_vector(state.total[clique])
    state.direction[clique], state.fraction[clique], state.outcomes[clique] = 0.0, 0.0, 0.0
    state.wealth[clique], state.power[clique], state.n[clique] = 1.0, 0, 0
    state.rate[clique], state.bound[clique] = bound, bound


@raise_bound.register
def _(state: KTState, clique: int, bound: float, ratio: float, rate: float) -> None:
    n = state.n[clique]
    wealth, power = endowed(state.wealth[clique], state.power[clique], ratio)
    state.wealth[clique], state.power[clique] = wealth, power
    state.outcomes[clique] *= ratio
    state.bound[clique], state.rate[clique] = bound, rate
    state.fraction[clique] = -state.outcomes[clique] / (n + 1.0)
    state.direction[clique] = ball_step(state.total[clique], rate * np.sqrt(1.0 + n))


@grow_clique.register
def _(state: FTRLState | KTState, clique: int, old: int, used: int, layout: Layout) -> None:
    pass


# --- MT-FTRL with KT -------------------------------------------------------------------------


@begin_clique.register
def _(state: MTFTRLKTState, clique: int, layout: Layout, bound: float) -> None:
    c, slots = state.cliques[clique], layout.slots
    clear_rows(state.gradients, layout)
    clear_vector(state.total[clique])
    c["size"], c["deviation"], c["direction"], c["fraction"] = slots, 0.0, 0.0, 0.0
    c["outcomes"], c["wealth"], c["power"], c["n"] = 0.0, 1.0, 0, 0
    c["rate"], c["coin"] = bound, (1.0 if slots == 1 else math.sqrt(slots / 2.0)) / bound


@grow_clique.register
def _(state: MTFTRLKTState, clique: int, old: int, used: int, layout: Layout) -> None:
    # The coin keeps its unit: outcomes in the larger clique are smaller, so it stays safe.
    c, total, squares = state.cliques[clique], state.total[clique], 0.0
    slots = layout.slots
    move_rows(state.gradients, old, used, layout)
    for row in range(layout.first, layout.first + used):
        for k in range(total.shape[0]):
            squares += state.gradients[row, k] * state.gradients[row, k]
    c["size"] = slots
    c["deviation"] = max(slots * squares - square_of(total), 0.0)
    aim(state, clique)


@raise_bound.register
def _(state: MTFTRLKTState, clique: int, bound: float, ratio: float, rate: float) -> None:
    c = state.cliques[clique]
    c["wealth"], c["power"] = endowed(c["wealth"], c["power"], ratio)
    c["outcomes"] *= ratio
    c["coin"] *= ratio
    c["rate"] = rate
    c["fraction"] = -c["outcomes"] / (c["n"] + 1.0)
    aim(state, clique)


@inline
def aim(state: MTFTRLKTState, clique: int) -> None:
    """Compute the direction from the sums."""
    c = state.cliques[clique]
    clock, modes, rate = c["n"] + 1.0, 1.0 + c["size"], c["rate"]
    length = square_of(state.total[clique])
    norm = modes * max(rate * rate * clock * modes, c["deviation"] + length * modes)
    c["direction"] = -np.sqrt(c["size"] / norm)


# --- MT-FTRL with Hedge ----------------------------------------------------------------------


@begin_clique.register
def _(state: MTFTRLState, clique: int, layout: Layout, bound: float) -> None:
    c, experts = state.cliques[clique], layout.experts
    clear_rows(state.gradients, layout)
    clear_vector(state.total[clique])
    c["n"], c["clipped"], c["deviation"], c["reach"], c["unit"] = 0, 0, 0.0, 0.0, 0.0
    c["level"], c["slope"], c["rate"], c["inverse"], c["mass"] = 0.0, 0.0, bound, 1.0, experts
    lay_out(state, clique, layout)
    for e in range(layout.expert, layout.expert + experts):
        begin_expert(state, e, 0.0)


@grow_clique.register
def _(state: MTFTRLState, clique: int, old: int, used: int, layout: Layout) -> None:
    plan = state.plan[clique]
    before, count, guesses = plan["expert"], plan["experts"], plan["table"]
    move_rows(state.gradients, old, used, layout)
    parent = 0
    for e in range(layout.experts):
        # s = xi (N - 1), the sum of squared deviations that an expert allows its rows, is what
        # stays the same: an expert goes on as one that allowed at least as much.
        allowed = state.table[FACTOR, layout.table + e] ** 2 - ROUNDING
        while parent < count - 1 and state.table[FACTOR, guesses + parent] ** 2 < allowed:
            parent += 1
        begin_expert(state, layout.expert + e, state.experts[LOSS, before + parent])
    lay_out(state, clique, layout)
    state.cliques[clique]["clipped"] = 0
    refresh(state, clique)
    reweigh(state, clique)


@inline
def lay_out(state: MTFTRLState, clique: int, layout: Layout) -> None:
    """Write down what a clique is made of."""
    plan = state.plan[clique]
    plan["first"], plan["size"], plan["expert"] = layout.first, layout.slots, layout.expert
    plan["experts"], plan["table"] = layout.experts, layout.table
    plan["focus"] = math.sqrt(math.log(layout.experts))
    put_in_order(state.work, layout.first, layout.slots)


@inline
def begin_expert(state: MTFTRLState, expert: int, loss: float) -> None:
    """An expert with this cumulative loss, in closed form."""
    state.experts[LOSS, expert] = loss
    state.experts[WEIGHT, expert], state.experts[MULTIPLIER, expert] = 1.0, CLOSED_FORM
    clear_vector(state.centre[expert])


@dispatched
def put_in_order(work: Scratch, first: int, slots: int) -> None:
    """Begin with the rows as they are, in the scratch of a solver that sorts them."""
    raise TypeError(f"{type(work).__name__} is not the scratch of a solver")


@put_in_order.register
def _(work: LineScratch, first: int, slots: int) -> None:
    for r in range(slots):
        work.order[first + r] = r


@put_in_order.register
def _(work: SolverScratch, first: int, slots: int) -> None:
    pass


@raise_bound.register
def _(state: MTFTRLState, clique: int, bound: float, ratio: float, rate: float) -> None:
    state.rate[clique] = rate
    reweigh(state, clique)


# --- rates from the weights that were received ------------------------------------------------


@begin_clique.register
def _(state: SquaredWeightsState, clique: int, layout: Layout, bound: float) -> None:
    state.received[clique], state.bound[clique] = 0.0, bound
    begin_clique(state.inner, clique, layout, bound)


@grow_clique.register
def _(state: SquaredWeightsState, clique: int, old: int, used: int, layout: Layout) -> None:
    grow_clique(state.inner, clique, old, used, layout)


@raise_bound.register
def _(state: SquaredWeightsState, clique: int, bound: float, ratio: float, rate: float) -> None:
    state.bound[clique] = bound
    squares = bound * bound + state.received[clique]
    measured = math.sqrt(squares / (1.0 + state.inner.n[clique]))
    raise_bound(state.inner, clique, bound, ratio, measured)


@credit.register
def _(state: SquaredWeightsState, clique: int, extra: float) -> None:
    state.received[clique] += extra


# --- rows ------------------------------------------------------------------------------------


@inline
def clear_rows(rows: Floats, layout: Layout) -> None:
    """Set the rows of a clique to zero.

    Parameters
    ----------
    rows
        An array that runs along the rows of all cliques.
    layout
        Where those of the clique are.

    Examples
    --------
    >>> rows = np.ones((3, 1))
    >>> clear_rows(rows, Layout(first=1, slots=2, expert=0, experts=0, table=0))
    >>> rows[:, 0]
    array([1., 0., 0.])
    """
    for row in range(layout.first, layout.first + layout.slots):
        clear_vector(rows[row])


@inline
def move_rows(rows: Floats, old: int, used: int, layout: Layout) -> None:
    """Copy rows to where they will be; those after them are zero.

    Parameters
    ----------
    rows
        An array that runs along the rows of all cliques.
    old, used
        Where the clique's rows are, and their number.
    layout
        Where they will be.

    Examples
    --------
    >>> rows = np.array([[2.0], [1.0], [1.0]])
    >>> move_rows(rows, 0, 1, Layout(first=1, slots=2, expert=0, experts=0, table=0))
    >>> rows[:, 0]
    array([2., 2., 0.])
    """
    for r in range(layout.slots):
        for k in range(rows.shape[1]):
            rows[layout.first + r, k] = rows[old + r, k] if r < used else 0.0


@inline
def square_of(vector: Floats) -> float:
    """The squared norm."""
    square = 0.0
    for k in range(vector.shape[0]):
        square += vector[k] * vector[k]
    return square
