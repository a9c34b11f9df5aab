"""Two-phase strategy for stochastic activations with unknown probabilities (`apx:unknown_q`).

A clique predicts zero until its clock reaches tau, counting who is active. It then sets its
learning rate from the empirical frequencies and starts its learner afresh.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mtcool import validation
from mtcool.axes import CLIQUE, ROW, set_axes
from mtcool.learners.learner import Cliques, Learner, predict_row, update_row, updates_at_once
from mtcool.types import Floats, Integers


class TwoPhaseState(NamedTuple):
    """State of `TwoPhase` for all cliques."""

    inner: Any
    """State of the learner of the second phase."""
    start: Integers
    """Rows of clique j are start[j]:start[j + 1]."""
    weight: Floats
    """Weight w_ij of every row."""
    seen: Integers
    """Activations of every row in the first phase."""
    elapsed: Integers
    """Length of the first phase so far, one for each clique."""
    tau: int
    """Length of the first phase."""


set_axes(TwoPhaseState, weight=ROW, seen=ROW, elapsed=CLIQUE)


@dataclass(frozen=True)
class TwoPhase:
    """Any learner behind a first phase that estimates who is active how often."""

    learner: Learner
    weight: Floats
    tau: int

    def make_state(self, cliques: Cliques, dim: int) -> TwoPhaseState:
        """Fresh state for the given cliques."""
        return TwoPhaseState(
            inner=self.learner.make_state(cliques, dim),
            start=cliques.start,
            weight=self.weight,
            seen=np.zeros(cliques.start[-1], np.int64),
            elapsed=np.zeros(len(cliques.rate), np.int64),
            tau=self.tau,
        )


def first_phase(agents: int, q_min: float, horizon: int) -> int:
    """Length tau of the first phase: ceil(12 / q_min * ln(2 N^2 T)).

    The theorem states 4 in place of 12; its proof needs 12.

    Parameters
    ----------
    agents
        Number N of agents.
    q_min
        Smallest activation probability of an agent.
    horizon
        Number T of rounds of the whole network. The horizon of `Privacy` is another number: it
        counts the activations of one agent.

    Examples
    --------
    >>> first_phase(agents=30, q_min=1 / 30, horizon=150_000)
    6990
    """
    agents = validation.count("agents", agents)
    horizon = validation.count("horizon", horizon)
    q_min = validation.positive("q_min", q_min)
    if q_min > 1.0 / agents:
        raise ValueError(f"q_min must be at most 1 / {agents} agents, got {q_min!r}")
    if horizon >= 2**63:
        raise ValueError(f"horizon must be below 2**63 rounds, got {horizon!r}")
    length = 12.0 / q_min * (math.log(2 * agents * agents) + math.log(horizon))
    if length >= 2**62:
        raise ValueError(f"q_min must allow a first phase below 2**62 rounds, got {q_min!r}")
    return math.ceil(length)


@updates_at_once.register
def _(state: TwoPhaseState) -> int:
    return updates_at_once(state.inner)


@predict_row.register
def _(state: TwoPhaseState, clique: int, row: int, out: Floats) -> None:
    if state.elapsed[clique] < state.tau:
        out[:] = 0.0
    else:
        predict_row(state.inner, clique, row, out)


@update_row.register
def _(state: TwoPhaseState, clique: int, row: int, weight: float, gradient: Floats) -> None:
    if state.elapsed[clique] == state.tau:
        update_row(state.inner, clique, row, weight, gradient)
        return
    state.seen[row] += 1
    state.elapsed[clique] += 1
    if state.elapsed[clique] == state.tau:
        variance = 0.0
        for r in range(state.start[clique], state.start[clique + 1]):
            variance += state.seen[r] / state.tau * state.weight[r] ** 2
        state.inner.rate[clique] = np.sqrt(variance)
