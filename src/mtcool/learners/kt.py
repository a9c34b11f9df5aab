"""Krichevsky-Trofimov: a direction by FTRL on the unit ball, a magnitude by betting on a coin."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mtcool.axes import CLIQUE, set_axes
from mtcool.learners.ftrl import ball_step
from mtcool.learners.learner import Cliques, StateSize, predict_row, smallest_state, update_row
from mtcool.learners.wealth import after_bet, available
from mtcool.types import Floats, Integers


class KTState(NamedTuple):
    """State of `KT` for all cliques."""

    total: Floats
    """Sum of the gradients received, (C, d)."""
    direction: Floats
    """Factor of the sum that gives the direction."""
    fraction: Floats
    """Share of the wealth that is bet next: the magnitude z is this times the wealth."""
    outcomes: Floats
    """Sum of the coin's outcomes u."""
    wealth: Floats
    """One minus the sum of z * u, with `power` (`wealth.py`)."""
    power: Integers
    """Powers of 2^500 in the wealth."""
    n: Integers
    """Number of updates received."""
    rate: Floats
    """Factor of beta."""
    bound: Floats
    """Largest weight: divides u, so that |u| <= 1."""


set_axes(KTState, **dict.fromkeys(KTState._fields, CLIQUE))


@dataclass(frozen=True)
class KT:
    """MT-FTRL with KT (Algorithm `alg:mt-ftrl-kt`) for a clique of one: no radius needed.

    On a clique of several agents it learns one common task. Needs gradients of norm at most
    `lipschitz`: the bets lose all guarantees when that fails. Predictions may grow without bound,
    up to `LARGEST` times the radius (`wealth.py`), which they do not exceed.

    Examples
    --------
    >>> import networkx as nx, numpy as np, mtcool
    >>> net = mtcool.i_ftrl(nx.path_graph(3), dim=1, learner=mtcool.learners.KT())
    >>> for _ in range(3):
    ...     net.update(1, np.array([-1.0]))
    >>> net.predict(1).round(4)
    array([0.5274])
    """

    def make_state(self, cliques: Cliques, dim: int) -> KTState:
        """Fresh state for the given cliques."""
        count = len(cliques.rate)
        return KTState(
            total=np.zeros((count, dim)),
            direction=np.zeros(count),
            fraction=np.zeros(count),
            outcomes=np.zeros(count),
            wealth=np.ones(count),
            power=np.zeros(count, np.int64),
            n=np.zeros(count, np.int64),
            rate=cliques.rate.copy(),
            bound=cliques.bound.copy(),
        )


@smallest_state.register
def _(learner: KT, sizes: Integers) -> StateSize:
    return StateSize(len(sizes))


@predict_row.register
def _(state: KTState, clique: int, row: int, out: Floats) -> None:
    wealth = available(state.wealth[clique], state.power[clique])
    factor = state.fraction[clique] * wealth * state.direction[clique]
    for k in range(out.shape[0]):
        out[k] = factor * state.total[clique, k]


@update_row.register
def _(state: KTState, clique: int, row: int, weight: float, gradient: Floats) -> None:
    total = state.total[clique]
    along = 0.0
    for k in range(gradient.shape[0]):
        along += total[k] * weight * gradient[k]
        total[k] += weight * gradient[k]
    u = state.direction[clique] * along / state.bound[clique]
    # A product, not one minus a sum: a fortune made and lost leaves no rounding behind.
    gain = 1.0 - state.fraction[clique] * u
    wealth, power = after_bet(state.wealth[clique], state.power[clique], gain)
    state.wealth[clique], state.power[clique] = wealth, power
    outcomes, n = state.outcomes[clique] + u, state.n[clique] + 1
    state.outcomes[clique], state.n[clique] = outcomes, n
    state.fraction[clique] = -outcomes / (n + 1.0)  # line "update the magnitude"
    state.direction[clique] = ball_step(total, state.rate[clique] * np.sqrt(1.0 + n))
