"""Every check of aggregators catches the mistake that it is there for, and says what is wrong."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from mtcool.privacy.aggregators.aggregator import begin, decode, encode, known_horizon
from mtcool.testing import aggregator_checks, check_aggregator


class State(NamedTuple):
    activations: Any
    width: Any
    start: Any
    total: Any
    published: Any
    bug: Any


NAMES = ["wrong sums", "fractions", "curious", "stopped clock", "same noise", "mixed up", "leaky"]
BUG = {name: number for number, name in enumerate(["none", *NAMES])}


@dataclass(frozen=True)
class Plain:
    """Noise on every leaf, with one mistake if it is named."""

    bug: str = "none"
    name: ClassVar[str] = "plain"
    title: ClassVar[str] = "plain"
    laws: ClassVar = ("laplace", "gaussian")
    calibrations: ClassVar = ("tight",)
    whole: ClassVar[bool] = True

    def check(self, law, horizon):
        return known_horizon(horizon)

    def column_norm(self, horizon, law):
        return 0.5 if self.bug == "long column" else 1.0

    def growth(self, activations, law):
        return np.full(len(activations), 2.0 if self.bug == "loud" else 1.0)

    def spent(self, activations, horizon, law):
        return activations / horizon if self.bug == "slow ledger" else float(activations > 0)

    def variance(self, activations, horizon, law):
        return np.maximum(activations, 0.0 if self.bug == "quiet" else 1.0)

    def make_state(self, blocks, law):
        start = np.concatenate(([0], np.cumsum(blocks.width)))
        agents, numbers = len(blocks.width), int(start[-1])
        return State(
            np.zeros(agents, np.int64),
            np.array(blocks.width),
            start,
            np.zeros(numbers),
            np.zeros(numbers),
            np.array([BUG.get(self.bug, 0)]),
        )

    def padding(self, state):
        return np.ones_like(state.width)


@begin.register
def _(state: State, agent: int, draws: Any) -> None:
    for k in range(state.width[agent]):
        state.published[state.start[agent] + k] = draws[k]


@encode.register
def _(state: State, agent: int, leaf: Any, value: Any) -> None:
    bug = state.bug[0]
    for k in range(state.width[agent]):
        value[k] = leaf[k] * (0.5 if bug == 2 else 1.0)
    if bug == 3:
        state.total[state.start[agent]] += 1.0


@decode.register
def _(state: State, agent: int, value: Any, noisy: Any) -> None:
    bug = state.bug[0]
    for k in range(state.width[agent]):
        here = state.start[agent] + k
        if bug == 6:
            here = k
        new = noisy[0] - value[0] + value[k] if bug == 5 else noisy[k]
        state.total[here] += new * (2.0 if bug == 2 else 1.0)
        if bug == 1 and state.activations[agent] == 1:
            state.total[here] -= noisy[k]
        if bug == 7 and agent == 2 and state.activations[agent] == 1:
            state.total[here] += value[k] - noisy[k]
        state.published[here] = state.total[here]
    if bug != 4:
        state.activations[agent] += 1


CAUGHT = {
    "wrong sums": ("published_sums_are_prefix_sums", "B C is something else"),
    "leaky": ("sums_are_made_of_noisy_nodes_alone", "activation 2 gives leaves of agent 2"),
    "fractions": ("nodes_of_whole_leaves_are_whole", "C has fractions"),
    "curious": ("encoding_changes_nothing", "encode changed total"),
    "stopped clock": ("activations_are_counted", "after 1 activations it counts 0"),
    "long column": ("no_column_is_longer_than_claimed", "norm 1, column_norm says 0.5"),
    "loud": ("noise_begins_at_its_base_scale", "the first growth is 2.0"),
    "slow ledger": ("the_ledger_says_what_is_out", "after 1 activations, spent says 0.5"),
    "quiet": ("sums_have_the_claimed_variance", "variance says"),
    "same noise": ("every_number_of_a_leaf_has_noise_of_its_own", "sums of 4000 numbers have"),
    "mixed up": ("agents_do_not_meet", "publishes another sum"),
}


@pytest.mark.parametrize("bug", CAUGHT)
def test_a_planted_mistake_is_caught_by_its_check(bug):
    name, words = CAUGHT[bug]
    checks = {check.name: check for check in aggregator_checks(Plain(bug), horizons=(1, 2, 3))}
    said = re.escape(f"Plain(bug={bug!r}) fails the check {name}: ") + f"(?s:.*){words}"
    with pytest.raises(AssertionError, match=said + "(?s:.*)What must hold: "):
        checks[name].run()


def test_without_a_mistake_all_checks_pass():
    check_aggregator(Plain, horizons=(1, 2, 3))


def test_an_aggregator_without_a_title_is_caught(monkeypatch):
    monkeypatch.setattr(Plain, "title", "")
    with pytest.raises(AssertionError, match="aggregator_says_what_it_is: title is ''"):
        check_aggregator(Plain())


def test_every_check_has_a_mistake():
    planted = {name for name, _ in CAUGHT.values()} | {"aggregator_says_what_it_is"}
    assert planted == {check.name for check in aggregator_checks(Plain())}
