"""Claims about a learner's parameters and about the state that it makes."""

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np

from mtcool.axes import CLIQUE, ROW, Location, axes_of, copy_cliques, states
from mtcool.learners import Cliques
from mtcool.learners.adaptive.adaptive import AdaptiveState
from mtcool.learners.squared_weights import SquaredWeightsState
from mtcool.learners.two_phase import TwoPhaseState
from mtcool.testing.checks import require, require_equal
from mtcool.testing.learners.trial import (
    DIM,
    SIZES,
    START,
    WEIGHT,
    LearnerTrial,
    arrays,
    changed,
    content,
    make_cliques,
    updates,
)


def learner_is_a_frozen_dataclass(trial: LearnerTrial) -> None:
    """A learner is a frozen dataclass of its parameters; files and reports show its repr."""
    kind = type(trial.learner)
    require(dataclasses.is_dataclass(kind), f"{kind.__name__} is no dataclass")
    frozen: Any = getattr(kind, "__dataclass_params__", None)
    require(frozen.frozen, f"{kind.__name__} is not frozen: use @dataclass(frozen=True)")
    shown = repr(trial.learner)
    require(shown.startswith(kind.__name__ + "("), f"its repr is {shown}")


def state_is_a_named_tuple_of_arrays(trial: LearnerTrial) -> None:
    """The state is a NamedTuple of C-contiguous arrays of float64 or int64, numbers, and states."""
    state = trial.make_state()
    require(hasattr(state, "_fields"), f"make_state returned a {type(state).__name__}")
    for name, field in zip(state._fields, state, strict=True):
        known = isinstance(field, np.ndarray | tuple | int | float)
        require(known, f"field {name} is a {type(field).__name__}")
    for name, array in arrays(state):
        column = array.base is not None and array.base.dtype.names  # of an array of records
        require(array.flags.c_contiguous or column, f"field {name} is not C-contiguous")
        for kind in [array.dtype[part] for part in array.dtype.names or ()] or [array.dtype]:
            require(kind in (np.float64, np.int64), f"field {name} has numbers of type {kind}")


def state_has_a_clock_and_a_rate(trial: LearnerTrial) -> None:
    """Field `n` (int64) is zero, and field `rate` is the given one, for every clique."""
    state = trial.make_state()
    if isinstance(state, TwoPhaseState | AdaptiveState | SquaredWeightsState):
        state = state.inner
    for name in ("n", "rate"):
        require(hasattr(state, name), f"{type(state).__name__} has no field {name}")
    require(state.n.dtype == np.int64, f"n has numbers of type {state.n.dtype}")
    require_equal(state.n, np.zeros(len(SIZES), np.int64), "n of a fresh state is not zero")
    require_equal(state.rate, make_cliques().rate, "rate is not that of the cliques")


def state_says_what_its_arrays_run_along(trial: LearnerTrial) -> None:
    """`mtcool.learners.set_axes` says which arrays have an entry for each clique or for each row.

    What it does not name is a constant, scratch, or a view of another array.
    """
    lengths = {CLIQUE: len(SIZES), ROW: int(START[-1])}
    for _, part in states(trial.make_state()):
        try:
            axes = axes_of(part)
        except ValueError as error:
            raise AssertionError(str(error)) from None
        for name, along in axes.items():
            array = getattr(part, name.partition(".")[0])
            for found, axis in zip(array.shape, along, strict=False):
                wanted = lengths.get(axis, found)
                require(found == wanted, f"{name} has {found} entries along {axis}, not {wanted}")


def state_shares_no_memory_with_the_cliques(trial: LearnerTrial) -> None:
    """Learning changes nothing in the cliques that the state was made for: copy their arrays."""
    cliques, fresh = make_cliques(), make_cliques()
    trial.learn(trial.make_state(cliques), updates())
    for name in cliques._fields:
        found, wanted = getattr(cliques, name), getattr(fresh, name)
        require_equal(found, wanted, f"{name} of the cliques was changed by learning")


def two_states_are_independent(trial: LearnerTrial) -> None:
    """Two states of one learner share no memory."""
    one, other = trial.make_state(), trial.make_state()
    fresh = content(other)
    trial.learn(one, updates())
    found = changed(fresh, content(other))
    require(not found, f"learning in one state changed {found} of another")


def states_can_be_cut_and_joined(trial: LearnerTrial) -> None:
    """The numbers of one clique are a state of their own, and can be put back, to the bit.

    `mtcool.learners.set_axes` says what the arrays run along.
    """
    whole, joined, cliques = trial.make_state(), trial.make_state(), make_cliques()
    trial.learn(whole, updates())
    models = trial.predictions(whole)
    for c, (first, last) in enumerate(pairwise(START.tolist())):
        start = np.array([0, last - first])
        start.setflags(write=False)
        given = Cliques(start, cliques.rate[c : c + 1], cliques.bound[c : c + 1])
        alone = trial.make_state(given, WEIGHT[first:last])
        there, here = Location.of(c, first, last), Location.of(0, 0, last - first)
        copy_cliques(whole, there, alone, here)
        for row in range(last - first):
            model = np.empty(DIM)
            trial.predict_at(alone, 0, row, model)
            require_equal(model, models[first + row], f"clique {c} alone predicts something else")
        copy_cliques(alone, here, joined, there)
    found = changed(content(whole), content(joined))
    require(not found, f"cut and joined, {found} is not what it was")


FORM = (
    learner_is_a_frozen_dataclass,
    state_is_a_named_tuple_of_arrays,
    state_has_a_clock_and_a_rate,
)
CLAIMS = (
    state_shares_no_memory_with_the_cliques,
    two_states_are_independent,
    state_says_what_its_arrays_run_along,
    states_can_be_cut_and_joined,
)
