"""Learning rates from the weights that a clique has received: `rates="adaptive"`.

beta^2 = b^2 + W, where W is the sum of the squared weights of all gradients so far and b is at
least every weight. This needs neither the activation probabilities nor the horizon, and no weights
that stay the same: the theorem in `docs/bounds.md` holds for any weights, round by round.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mtcool.axes import CLIQUE, set_axes
from mtcool.learners.learner import (
    Cliques,
    Learner,
    StateSize,
    predict_row,
    smallest_state,
    update_row,
    updates_at_once,
)
from mtcool.types import Floats, Integers


class SquaredWeightsState(NamedTuple):
    """State of `SquaredWeights` for all cliques."""

    inner: Any
    """State of the learner, whose rate is set before each update."""
    received: Floats
    """W, the sum of the squared weights that each clique has received."""
    bound: Floats
    """b, at least every weight of the clique."""


set_axes(SquaredWeightsState, received=CLIQUE, bound=CLIQUE)


@dataclass(frozen=True)
class SquaredWeights:
    """Any learner, with beta^2 = b^2 + the sum of the squared weights that it has received."""

    learner: Learner

    def make_state(self, cliques: Cliques, dim: int) -> SquaredWeightsState:
        """Fresh state for the given cliques."""
        own = cliques._replace(rate=cliques.bound)
        return SquaredWeightsState(
            inner=self.learner.make_state(own, dim),
            received=np.zeros(len(cliques.bound)),
            bound=cliques.bound.copy(),
        )


@smallest_state.register
def _(learner: SquaredWeights, sizes: Integers) -> StateSize:
    return smallest_state(learner.learner, sizes)


@updates_at_once.register
def _(state: SquaredWeightsState) -> int:
    return updates_at_once(state.inner)


@predict_row.register
def _(state: SquaredWeightsState, clique: int, row: int, out: Floats) -> None:
    predict_row(state.inner, clique, row, out)


@update_row.register
def _(state: SquaredWeightsState, clique: int, row: int, weight: float, gradient: Floats) -> None:
    state.received[clique] += weight * weight
    b = state.bound[clique]
    # Learners have beta = rate * sqrt(1 + n), and count this update before they use it.
    clock = 2.0 + state.inner.n[clique]
    state.inner.rate[clique] = math.sqrt((b * b + state.received[clique]) / clock)
    update_row(state.inner, clique, row, weight, gradient)
