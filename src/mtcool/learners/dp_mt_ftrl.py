"""DPMT-FTRL (Algorithm `alg:mt-ftrl-DP`): MT-FTRL that is told noisy sums, not gradients.

Of every row it knows the last sum of gradients and, for each expert, the last sum of products with
that expert's rows, as published by the row's agent. Told the sums of the gradients themselves, it
is MT-FTRL.
"""

from typing import NamedTuple

import numpy as np

from mtcool.axes import PRODUCT, Location, Span, set_axes, spans
from mtcool.kernels import inline
from mtcool.learners.learner import Cliques, predict_row
from mtcool.learners.mt_ftrl.closed_form import add_gradient, weigh
from mtcool.learners.mt_ftrl.mt_ftrl import MTFTRL
from mtcool.learners.mt_ftrl.state import LOSS, MTFTRLState
from mtcool.types import Floats, Integers


class DPMTFTRLState(NamedTuple):
    """State of DPMT-FTRL for all cliques."""

    base: MTFTRLState
    """Its `gradients` are the weighted noisy sums, its `loss` the sums of `told` over the rows."""
    first: Integers
    """Where the products of each row begin in `told`; none for cliques with one expert."""
    told: Floats
    """Sums of products, one for each row and expert."""
    work: Floats
    """Scratch for the change of a row, (d,)."""


set_axes(DPMTFTRLState, told=PRODUCT)


@spans.register
def _(state: DPMTFTRLState, location: Location) -> dict[str, Span]:
    first = state.first[location.rows.first]
    last = state.first[location.rows.first + location.rows.length]
    return {PRODUCT: Span(first, last - first)}


def make_private_state(learner: MTFTRL, cliques: Cliques, dim: int) -> DPMTFTRLState:
    """Fresh state of DPMT-FTRL with the experts of `learner`."""
    base = learner.make_state(cliques, dim)
    each = np.where(base.plan["experts"] > 1, base.plan["experts"], 0)
    lengths = np.repeat(each, np.diff(cliques.start))
    first = np.concatenate(([0], np.cumsum(lengths)))
    first.setflags(write=False)
    return DPMTFTRLState(base, first, np.zeros(first[-1]), np.zeros(dim))


@predict_row.register
def _(state: DPMTFTRLState, clique: int, row: int, out: Floats) -> None:
    predict_row(state.base, clique, row, out)


@inline
def tell_row(
    state: DPMTFTRLState, clique: int, row: int, weight: float, total: Floats, products: Floats
) -> bool:
    """Tell `clique` the noisy sums of its `row`, after one more activation of the row's agent.

    Returns True if a solver must follow before the next prediction.
    """
    put_row(state, clique, row, weight, total, products)
    base = state.base
    if base.cliques[clique]["n"] % base.plan[clique]["size"] == 0:
        _add_up_losses(state, clique)
    return weigh(base, clique)


@inline
def put_row(
    state: DPMTFTRLState, clique: int, row: int, weight: float, total: Floats, products: Floats
) -> None:
    """Replace the sums of `row`; counts an activation, leaves the predictions as they are."""
    base, change = state.base, state.work
    for k in range(change.shape[0]):
        change[k] = weight * total[k] - base.gradients[row, k]
    add_gradient(base, clique, row, 1.0, change)
    told = state.told[state.first[row] : state.first[row + 1]]
    expert = base.plan[clique]["expert"]
    loss = base.experts[LOSS, expert : expert + base.plan[clique]["experts"]]
    for e in range(told.shape[0]):
        loss[e] += products[e] - told[e]
        told[e] = products[e]


@inline
def _add_up_losses(state: DPMTFTRLState, clique: int) -> None:
    """Compute the experts' losses afresh from all rows: rounding does not build up."""
    base = state.base
    first, size = base.plan[clique]["first"], base.plan[clique]["size"]
    expert = base.plan[clique]["expert"]
    loss = base.experts[LOSS, expert : expert + base.plan[clique]["experts"]]
    for e in range(loss.shape[0]):
        loss[e] = 0.0
    for row in range(first, first + size):
        told = state.told[state.first[row] : state.first[row + 1]]
        for e in range(told.shape[0]):
            loss[e] += told[e]
