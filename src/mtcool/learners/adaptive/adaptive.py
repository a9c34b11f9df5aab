"""Any of our learners without a Lipschitz constant: cliques use the longest gradient they received.

A clique learns in units of that gradient. One that is longer than all before it is shortened to
the unit in which the clique predicted; then the longer one becomes the unit (`rescale.py`). The
first gradient is learned in full, because the first prediction is zero in every unit. KT must not
bet without limit while it does not know what it may lose (`bets.py`). `docs/bounds.md` has the
bound and its proof.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mtcool.axes import CLIQUE, set_axes
from mtcool.kernels import inline
from mtcool.learners.adaptive.bets import predict_within, update_within
from mtcool.learners.adaptive.rescale import rescale
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
from mtcool.validation import SMALLEST


class AdaptiveState(NamedTuple):
    """State of `Adaptive` for all cliques."""

    inner: Any
    """State of the learner, in units of `longest`."""
    start: Integers
    """Rows of clique j are start[j]:start[j + 1]."""
    longest: Floats
    """Norm of the longest gradient that each clique received; zero before the first."""
    work: Floats
    """Scratch for one model."""


set_axes(AdaptiveState, longest=CLIQUE)


@dataclass(frozen=True)
class Adaptive:
    """One of our learners that measures its gradients itself, `lipschitz="adaptive"`."""

    learner: Learner

    def make_state(self, cliques: Cliques, dim: int) -> AdaptiveState:
        """Fresh state for the given cliques."""
        return AdaptiveState(
            inner=self.learner.make_state(cliques, dim),
            start=cliques.start,
            longest=np.zeros(len(cliques.rate)),
            work=np.zeros(dim),
        )


@smallest_state.register
def _(learner: Adaptive, sizes: Integers) -> StateSize:
    return smallest_state(learner.learner, sizes)


@updates_at_once.register
def _(state: AdaptiveState) -> int:
    return updates_at_once(state.inner)


@predict_row.register
def _(state: AdaptiveState, clique: int, row: int, out: Floats) -> None:
    predict_within(state.inner, clique, row, _rows(state.start, clique), out)


@update_row.register
def _(state: AdaptiveState, clique: int, row: int, weight: float, gradient: Floats) -> None:
    square = 0.0
    for k in range(gradient.shape[0]):
        square += gradient[k] * gradient[k]
    norm, unit = np.sqrt(square), state.longest[clique]
    if unit == 0.0:
        if norm < SMALLEST:  # no unit: its square has too few digits
            return
        state.longest[clique] = unit = norm
    rows = _rows(state.start, clique)
    # Learners multiply the two, so the weight can carry the unit: shortened, if it is too long.
    update_within(state.inner, clique, row, weight / max(unit, norm), gradient, rows, state.work)
    if norm > unit:
        state.longest[clique] = norm
        if unit / norm < 1.0:  # else the difference is rounding
            first, last = state.start[clique], state.start[clique + 1]
            rescale(state.inner, clique, first, last, unit / norm)


@inline
def _rows(start: Integers, clique: int) -> float:
    return float(start[clique + 1] - start[clique])
