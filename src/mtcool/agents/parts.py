"""The part of a state that belongs to one clique: how a network is cut into agents, and back."""

import functools
from collections.abc import Iterator
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from mtcool.learners.adaptive.adaptive import AdaptiveState
from mtcool.learners.dp_mt_ftrl import DPMTFTRLState
from mtcool.learners.ftrl import FTRLState
from mtcool.learners.kt import KTState
from mtcool.learners.mt_ftrl.state import MTFTRLState
from mtcool.learners.mt_ftrl_kt import MTFTRLKTState
from mtcool.learners.squared_weights import SquaredWeightsState
from mtcool.learners.two_phase import TwoPhaseState
from mtcool.peers.arrays import own_arrays, states
from mtcool.privacy.aggregators.filters import FilterState
from mtcool.privacy.aggregators.trees import TreeState
from mtcool.types import AnyArray, Integers, State

Place: TypeAlias = slice | tuple[slice, slice] | EllipsisType
"""An index into an array: where the numbers of a clique are; `...` if all cliques share them."""


@functools.singledispatch
def place_of(state: State, field: str, start: Integers, clique: int) -> Place:
    """Where the numbers of a clique are in a field of a state; `start` has its first rows.

    A field has an entry for each clique or for each row; one of any other length is a constant,
    which every clique has a copy of. A learner that keeps others has an implementation of its own.
    """
    cliques, rows = len(start) - 1, int(start[-1])
    length = len(np.atleast_1d(getattr(state, field)))
    if length == cliques == rows and (start[:-1] != range(cliques)).any():
        raise ValueError(
            f"{field} of {type(state).__name__} must have a place of its own, got none"
        )
    if length == cliques:
        return slice(clique, clique + 1)
    return slice(int(start[clique]), int(start[clique + 1])) if length == rows else ...


@place_of.register
def _(
    state: FTRLState | KTState | AdaptiveState | SquaredWeightsState,
    field: str,
    start: Integers,
    clique: int,
) -> Place:
    return slice(clique, clique + 1)


@place_of.register
def _(state: MTFTRLKTState | TwoPhaseState, field: str, start: Integers, clique: int) -> Place:
    if field in ("gradients", "seen", "weight"):
        return slice(int(start[clique]), int(start[clique + 1]))
    return slice(clique, clique + 1)


@place_of.register
def _(state: MTFTRLState, field: str, start: Integers, clique: int) -> Place:
    plan = state.plan[clique]
    experts = slice(int(plan["expert"]), int(plan["expert"] + plan["experts"]))
    places: dict[str, Place] = {
        "gradients": slice(int(start[clique]), int(start[clique + 1])),
        "experts": (slice(None), experts),
        "centre": experts,
    }
    return places.get(field, slice(clique, clique + 1))


@place_of.register
def _(state: DPMTFTRLState, field: str, start: Integers, clique: int) -> Place:
    first, last = start[clique], start[clique + 1]
    return slice(int(state.first[first]), int(state.first[last]))


def pairs_of_arrays(
    one: State, its_start: Integers, its_clique: int, two: State, start: Integers, clique: int
) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Views of the numbers of a clique in two states, which hold it at different places."""
    for (_, a), (_, b) in zip(states(one), states(two), strict=True):
        for field, array in own_arrays(b):
            there = getattr(a, field)[place_of(a, field, its_start, its_clique)]
            here = array[place_of(b, field, start, clique)]
            if there.shape != here.shape:
                raise ValueError(
                    f"{field} of {type(a).__name__} must have an entry for each clique or for each "
                    f"row, or be a constant, got {there.shape} where a clique has {here.shape}"
                )
            yield there, here


@functools.singledispatch
def block_of(state: State, field: str, agent: int) -> Place:
    """Where the numbers of an agent are in a field of the state of an aggregator."""
    raise ValueError(f"{type(state).__name__} must have a place for {field}, got none")


@block_of.register
def _(state: TreeState, field: str, agent: int) -> Place:
    begins = {"node": state.slot, "prefix": state.slot, "padding": state.pad}
    begins["published"] = state.start
    if field not in begins:
        return slice(agent, agent + 1)
    return slice(int(begins[field][agent]), int(begins[field][agent + 1]))


@block_of.register
def _(state: FilterState, field: str, agent: int) -> Place:
    span = slice(int(state.start[agent]), int(state.start[agent + 1]))
    if field == "activations":
        return slice(agent, agent + 1)
    return (slice(None), span) if field in ("inner", "outer") else span


def blocks_of_arrays(
    one: State, its_agent: int, two: State, agent: int
) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Views of the numbers of an agent in two states of an aggregator.

    An agent alone may need fewer buffers than its network has: the others stay zero.
    """
    for field, array in own_arrays(two):
        there = getattr(one, field)[block_of(one, field, its_agent)]
        here = array[block_of(two, field, agent)]
        common = min(len(there), len(here))
        yield there[:common], here[:common]
