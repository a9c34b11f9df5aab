"""Every check of learners catches the mistake that it is there for, and says what is wrong.

The mistakes are planted in online gradient descent, and played in plain Python.
"""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from mtcool.learners import (
    CLIQUE,
    ROW,
    Cliques,
    begin_clique,
    clear_rows,
    grow_clique,
    move_rows,
    predict_row,
    raise_bound,
    set_axes,
    update_row,
)
from mtcool.testing import check_learner, learner_checks


class State(NamedTuple):
    points: Any
    n: Any
    rate: Any
    spare: Any
    bug: Any
    work: Any


set_axes(State, points=ROW, n=CLIQUE, rate=CLIQUE, spare=CLIQUE)


NAMES = [
    "narrow",
    "no clock",
    "greedy",
    "shared",
    "curious",
    "careless",
    "neighbourly",
    "impatient",
    "random",
    "stopped clock",
    "weightless",
    "optimist",
    "lazy",
    "backwards",
    "crash",
    "far",
    "timid",
    "favourite",
    "crowded",
    "secretive",
    "hoarder",
    "flat",
    "divider",
    "numbered",
]
BUG = {name: number for number, name in enumerate(["none", *NAMES])}
SHARED = np.zeros((9, 2))
NOISE = np.random.default_rng(0)


@dataclass(frozen=True)
class OGD:
    """Gradient descent on the ball, with one mistake if it is named."""

    bug: str = "none"

    def make_state(self, cliques: Cliques, dim: int) -> Any:
        rows, count = int(cliques.start[-1]), len(cliques.rate)
        points = SHARED[:rows] if self.bug == "shared" else np.zeros((rows, dim))
        if self.bug == "optimist":
            points = np.full((rows, dim), 0.1)
        return State(
            points=points.astype(np.float32) if self.bug == "narrow" else points,
            n=np.ones(count, np.int64) if self.bug == "no clock" else np.zeros(count, np.int64),
            rate=cliques.rate if self.bug == "greedy" else cliques.rate.copy(),
            spare=np.zeros(count + (self.bug == "crowded")),
            bug=np.array([BUG[self.bug], 0]),
            work=np.zeros(1),
        )


@dataclass
class Mutable:
    """A dataclass that is not frozen."""

    def make_state(self, cliques: Cliques, dim: int) -> Any:
        return OGD().make_state(cliques, dim)


@predict_row.register
def _(state: State, clique: int, row: int, out: Any) -> None:
    bug = state.bug[0]
    if bug == BUG["flat"]:
        out[:2] = state.points[row, :2]
        return
    out[:] = state.points[row]
    if bug == BUG["curious"]:
        state.spare[clique] += 1.0
    if bug == BUG["lazy"]:
        out[:] = 0.0
    if bug == BUG["timid"]:
        out[:] *= 0.5


@update_row.register
def _(state: State, clique: int, row: int, weight: float, gradient: Any) -> None:
    bug = state.bug[0]
    if bug == BUG["greedy"]:
        state.rate[clique] += 1.0
    if bug == BUG["careless"]:
        gradient *= 0.5
    if bug == BUG["neighbourly"]:
        state.spare[0] += 1.0
    if bug == BUG["impatient"]:
        state.spare[clique] = state.n.sum()
    if bug == BUG["secretive"]:
        state.bug[1] += 1
    if bug == BUG["random"]:
        state.spare[clique] = NOISE.standard_normal()
    if bug == BUG["weightless"]:
        weight = 1.0
    if bug == BUG["crash"] and len(state.n) == 3:
        state.spare[len(state.n)] = 0.0
    if bug == BUG["favourite"] and row == 4:
        weight *= 2.0
    if bug != BUG["stopped clock"]:
        state.n[clique] += 1
    if bug == BUG["hoarder"]:
        state.work[0] += 1.0
        weight /= np.sqrt(state.work[0])
    if bug == BUG["divider"]:
        weight /= np.linalg.norm(gradient)
    if bug == BUG["numbered"] and clique == 3:
        weight *= 0.5
    sign = 1.0 if bug == BUG["backwards"] else -1.0
    state.points[row] += sign * weight * gradient
    norm = np.linalg.norm(state.points[row])
    if norm > 1.0 and bug != BUG["far"]:
        state.points[row] /= norm


CAUGHT = {
    "narrow": ("state_is_a_named_tuple_of_arrays", "field points has numbers of type float32"),
    "no clock": ("state_has_a_clock_and_a_rate", "n of a fresh state is not zero"),
    "greedy": ("state_shares_no_memory_with_the_cliques", "rate of the cliques was changed"),
    "shared": ("two_states_are_independent", "learning in one state changed points of another"),
    "curious": ("predicting_changes_nothing", "predict_row changed spare"),
    "careless": ("updating_leaves_the_gradient_alone", "update_row changed its gradient"),
    "neighbourly": ("updating_changes_its_own_clique_only", "changed spare of another one"),
    "impatient": ("cliques_may_take_turns_in_any_order", "spare depends on the order"),
    "random": ("learning_is_deterministic", "spare differs after the same updates"),
    "stopped clock": ("the_clock_counts_updates", "n does not count updates"),
    "weightless": ("the_weight_multiplies_the_gradient", "got a difference of"),
    "optimist": ("a_fresh_state_predicts_zero", "a fresh state predicts something else"),
    "lazy": ("a_used_state_predicts_something_finite", "after 120 updates the models are"),
    "backwards": ("models_follow_the_gradients", "the model is"),
    "crash": ("cliques_may_be_empty", "it raised IndexError"),
    "far": ("models_stay_in_the_ball", "a model has norm"),
    "timid": ("models_reach_the_ball", "after 400 updates the models have norms"),
    "crowded": ("state_says_what_its_arrays_run_along", "spare has 5 entries along clique, not 4"),
    "secretive": ("states_can_be_cut_and_joined", "cut and joined, bug is not what it was"),
    "hoarder": ("scratch_is_no_memory", "points depends on what was left in work"),
    "flat": ("models_have_every_coordinate", "in dimension 3, after gradients"),
    "divider": ("a_zero_gradient_does_no_harm", "after gradients of zero the models are"),
    "numbered": ("clique_numbers_do_not_matter", "models depend on the number of a clique"),
    "favourite": ("rows_have_no_order", "models depend on the order of the rows"),
}


def checks(bug):
    return {check.name: check for check in learner_checks(OGD(bug), compiled=False)}


@pytest.mark.parametrize("bug", CAUGHT)
def test_a_planted_mistake_is_caught_by_its_check(bug, monkeypatch):
    SHARED[:] = 0.0
    name, words = CAUGHT[bug]
    said = re.escape(f"OGD(bug={bug!r}) fails the check {name}: ") + f"(?s:.*){words}"
    with pytest.raises(AssertionError, match=said + "(?s:.*)What must hold: "):
        checks(bug)[name].run()


def test_without_a_mistake_all_checks_pass():
    check_learner(OGD, compiled=False)
    check_learner(OGD(), compiled=False, first_phase=12)


def test_a_learner_that_can_change_is_caught():
    with pytest.raises(
        AssertionError, match="learner_is_a_frozen_dataclass: Mutable is not frozen"
    ):
        check_learner(Mutable())


class ScaledState(NamedTuple):
    total: Any
    n: Any
    rate: Any


set_axes(ScaledState, total=CLIQUE, n=CLIQUE, rate=CLIQUE)


SCALE = 1.0


@dataclass(frozen=True)
class Scaled:
    """Reads a global that changes after it was compiled."""

    def make_state(self, cliques: Cliques, dim: int) -> ScaledState:
        count = len(cliques.rate)
        return ScaledState(np.zeros((count, dim)), np.zeros(count, np.int64), cliques.rate.copy())


@predict_row.register
def _(state: ScaledState, clique: int, row: int, out: Any) -> None:
    for k in range(out.shape[0]):
        out[k] = -SCALE * state.total[clique, k]


@update_row.register
def _(state: ScaledState, clique: int, row: int, weight: float, gradient: Any) -> None:
    state.n[clique] += 1
    for k in range(gradient.shape[0]):
        state.total[clique, k] += weight * gradient[k]


def test_compiled_code_that_is_not_what_is_written_is_caught(monkeypatch):
    (check,) = (c for c in learner_checks(Scaled()) if c.name.startswith("compiled_code"))
    check.run()
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    with pytest.raises(AssertionError, match="compiled models differ"):
        check.run()


def test_a_state_without_axes_is_caught():
    class BareState(NamedTuple):
        total: Any
        n: Any
        rate: Any

    @dataclass(frozen=True)
    class Bare:
        def make_state(self, cliques, dim):
            count = len(cliques.rate)
            return BareState(np.zeros((count, dim)), np.zeros(count, int), cliques.rate.copy())

    (check,) = (c for c in learner_checks(Bare()) if c.name.startswith("state_says"))
    with pytest.raises(AssertionError, match="set_axes was not called"):
        check.run()


class ChangingState(NamedTuple):
    points: Any
    n: Any
    rate: Any
    bug: Any


set_axes(ChangingState, points=ROW, n=CLIQUE, rate=CLIQUE)

CHANGING = {
    "none": None,
    "stale": ("a_clique_begins_as_a_fresh_state", "rate of a new clique is another"),
    "shifted": ("a_clique_that_grows_keeps_its_rows", "points of a clique that grew is another"),
    "dizzy": ("a_clique_learns_with_larger_weights", "the model of row 0 is"),
}


@dataclass(frozen=True)
class Changing:
    """Gradient descent on networks that change, with one mistake if it is named."""

    bug: str = "none"

    def make_state(self, cliques: Cliques, dim: int) -> ChangingState:
        count = len(cliques.rate)
        return ChangingState(
            np.zeros((cliques.start[-1], dim)),
            np.zeros(count, np.int64),
            cliques.rate.copy(),
            np.array([list(CHANGING).index(self.bug)]),
        )


@predict_row.register
def _(state: ChangingState, clique: int, row: int, out: Any) -> None:
    for k in range(out.shape[0]):
        out[k] = state.points[row, k]


@update_row.register
def _(state: ChangingState, clique: int, row: int, weight: float, gradient: Any) -> None:
    state.n[clique] += 1
    for k in range(gradient.shape[0]):
        state.points[row, k] -= 0.01 * weight * gradient[k] / state.rate[clique]


@begin_clique.register
def _(state: ChangingState, clique: int, layout: Any, bound: float) -> None:
    clear_rows(state.points, layout)
    state.n[clique] = 0
    state.rate[clique] = 1.0 if state.bug[0] == 1 else bound


@grow_clique.register
def _(state: ChangingState, clique: int, old: int, used: int, layout: Any) -> None:
    move_rows(state.points, old + (1 if state.bug[0] == 2 else 0), used, layout)


@raise_bound.register
def _(state: ChangingState, clique: int, bound: float, ratio: float, rate: float) -> None:
    state.rate[clique] = 0.0 if state.bug[0] == 3 else rate


@pytest.mark.parametrize("bug", CHANGING)
def test_a_mistake_on_networks_that_change_is_caught(bug):
    names = [name for name, _ in filter(None, CHANGING.values())]
    for check in learner_checks(Changing(bug)):
        if bug == "none" and check.name in names:
            check.run()
        elif bug != "none" and check.name == CHANGING[bug][0]:
            with pytest.raises(AssertionError, match=CHANGING[bug][1]):
                check.run()


def test_every_check_has_a_mistake():
    planted = {name for name, _ in CAUGHT.values()}
    besides = {
        "functions_compile",
        "learner_is_a_frozen_dataclass",
        "compiled_code_and_plain_python_agree",
    }
    assert planted | besides == {check.name for check in learner_checks(OGD())}
    found = {check.name for check in learner_checks(Changing())}
    assert found == planted | besides | {name for name, _ in filter(None, CHANGING.values())}
