"""The numbers of one clique in the state of a learner that can change."""

import functools

from mtcool.learners.ftrl import FTRLState
from mtcool.learners.kt import KTState
from mtcool.learners.mt_ftrl.state import MTFTRLState
from mtcool.learners.mt_ftrl_kt import MTFTRLKTState
from mtcool.learners.squared_weights import SquaredWeightsState
from mtcool.types import AnyArray, State


@functools.singledispatch
def clique_part(state: State, clique: int, rows: slice) -> list[AnyArray]:
    """Views of all that a clique knows, whose rows are `rows`; the same for every layout."""
    raise ValueError(f"state must be that of a learner that can change, got {type(state).__name__}")


@clique_part.register
def _(state: FTRLState | KTState, clique: int, rows: slice) -> list[AnyArray]:
    return [array[clique : clique + 1] for array in state]


@clique_part.register
def _(state: MTFTRLKTState, clique: int, rows: slice) -> list[AnyArray]:
    own = slice(clique, clique + 1)
    return [state.gradients[rows], state.total[own], state.cliques[own]]


@clique_part.register
def _(state: MTFTRLState, clique: int, rows: slice) -> list[AnyArray]:
    own, plan = slice(clique, clique + 1), state.plan[clique]
    experts = slice(int(plan["expert"]), int(plan["expert"] + plan["experts"]))
    return [
        state.gradients[rows],
        state.total[own],
        state.cliques[own],
        state.plan["focus"][own],  # compiled code and NumPy may round it differently
        state.experts[:, experts],
        state.centre[experts],
    ]


@clique_part.register
def _(state: SquaredWeightsState, clique: int, rows: slice) -> list[AnyArray]:
    own = slice(clique, clique + 1)
    return [*clique_part(state.inner, clique, rows), state.received[own], state.bound[own]]


def copy_clique(
    source: State, its_clique: int, its_rows: slice, target: State, clique: int, rows: slice
) -> None:
    """Copy all that a clique knows to its place in another state."""
    there = clique_part(source, its_clique, its_rows)
    for one, two in zip(there, clique_part(target, clique, rows), strict=True):
        two[...] = one
