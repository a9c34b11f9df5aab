"""Room for more: states with longer arrays, for cliques that come, grow and gain experts.

Kernels cannot allocate, so everything that a network may need next is there before they run. What
stands behind the part in use is never read before it is written, so it takes addresses and no
memory until then.
"""

import functools
from typing import NamedTuple

import numpy as np

from mtcool.learners.ftrl import FTRLState
from mtcool.learners.kt import KTState
from mtcool.learners.mt_ftrl.state import MTFTRLState, Scratch
from mtcool.learners.mt_ftrl_kt import MTFTRLKTState
from mtcool.learners.solvers.line import Line, make_line
from mtcool.learners.solvers.sweep import make_scratch
from mtcool.learners.squared_weights import SquaredWeightsState
from mtcool.types import AnyArray, Floats, State


class Room(NamedTuple):
    """What a state has room for."""

    cliques: int
    rows: int
    experts: int
    slots: int
    """Of the largest clique."""
    guesses: int
    """Of the clique with the most experts."""


@functools.singledispatch
def enlarged(state: State, room: Room, table: Floats) -> State:
    """The same state with at least so much room; arrays that have it are those of before.

    `table` is what the experts of MT-FTRL guess, for all sizes that cliques may have next.
    """
    raise ValueError(
        f"learner must be MTFTRL, MTFTRLKT, FTRL or KT in a network that changes, got one with "
        f"the state {type(state).__name__}"
    )


@enlarged.register
def _(state: FTRLState, room: Room, table: Floats) -> FTRLState:
    return FTRLState(*(longer(array, room.cliques) for array in state))


@enlarged.register
def _(state: KTState, room: Room, table: Floats) -> KTState:
    return KTState(*(longer(array, room.cliques) for array in state))


@enlarged.register
def _(state: MTFTRLKTState, room: Room, table: Floats) -> MTFTRLKTState:
    cliques = longer(state.cliques, room.cliques)
    return MTFTRLKTState(
        gradients=longer(state.gradients, room.rows),
        total=longer(state.total, room.cliques),
        cliques=cliques,
        n=cliques["n"],
        rate=cliques["rate"],
    )


@enlarged.register
def _(state: MTFTRLState, room: Room, table: Floats) -> MTFTRLState:
    cliques, dim = longer(state.cliques, room.cliques), state.total.shape[1]
    work: Scratch = make_scratch(dim, room.slots)
    if isinstance(state.work, Line):
        sizes = np.array([room.slots])
        work = make_line(sizes, room.guesses)._replace(order=longer(state.work.order, room.rows))
    return MTFTRLState(
        gradients=longer(state.gradients, room.rows),
        total=longer(state.total, room.cliques),
        plan=longer(state.plan, room.cliques),
        cliques=cliques,
        n=cliques["n"],
        rate=cliques["rate"],
        table=table,
        experts=_wider(state.experts, room.experts),
        centre=longer(state.centre, room.experts),
        work=work,
    )


@enlarged.register
def _(state: SquaredWeightsState, room: Room, table: Floats) -> SquaredWeightsState:
    return SquaredWeightsState(
        inner=enlarged(state.inner, room, table),
        received=longer(state.received, room.cliques),
        bound=longer(state.bound, room.cliques),
    )


def longer(array: AnyArray, length: int) -> AnyArray:
    """The array, if it has so many entries and can be written to, else a copy that has.

    New entries are zero.

    Examples
    --------
    >>> longer(np.array([1.0, 2.0]), 3)
    array([1., 2., 0.])
    """
    if len(array) >= length and array.flags.writeable and array.flags.c_contiguous:
        return array
    new = np.zeros((max(length, len(array)), *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new


def _wider(array: Floats, columns: int) -> Floats:
    """As `longer`, for columns."""
    if array.shape[1] >= columns:
        return array
    new = np.zeros((len(array), columns))
    new[:, : array.shape[1]] = array
    return new
