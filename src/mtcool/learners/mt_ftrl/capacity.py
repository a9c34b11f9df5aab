"""Capacity for the experts of cliques that come and grow: kernels cannot allocate."""

import numpy as np

from mtcool.axes import longer
from mtcool.learners.mt_ftrl.state import MTFTRLState, Scratch
from mtcool.learners.solvers.line import LineScratch, make_line
from mtcool.learners.solvers.sweep import make_scratch
from mtcool.types import Floats, State


def with_experts(state: State, table: Floats, slots: int, guesses: int) -> State:
    """The same state with the experts of all sizes that cliques may have next.

    Parameters
    ----------
    state
        Of any learner; only that of MT-FTRL, alone or inside another one, has experts.
    table
        What the experts guess, for all sizes.
    slots
        Of the largest clique.
    guesses
        Of the clique with the most experts.
    """
    if hasattr(state, "inner"):
        return state._replace(inner=with_experts(state.inner, table, slots, guesses))
    if not isinstance(state, MTFTRLState):
        return state
    work: Scratch = make_scratch(state.total.shape[1], slots)
    if isinstance(state.work, LineScratch):
        order = longer(state.work.order, len(state.gradients))
        work = make_line(np.array([slots]), guesses)._replace(order=order)
    return state._replace(table=table, work=work)
