"""A learner on a few small cliques, and random gradients for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.agents.kernels import learn_row, read_row
from mtcool.learners import Cliques, Learner, predict_row, update_row
from mtcool.learners.adaptive.adaptive import AdaptiveState
from mtcool.learners.squared_weights import SquaredWeightsState
from mtcool.learners.two_phase import TwoPhase, TwoPhaseState
from mtcool.types import Floats, Integers, State

DIM = 2
SIZES = (3, 0, 1, 5)  # a clique that nobody listens to, and a clique of one, among the others
START = np.concatenate(([0], np.cumsum(SIZES)))
START.setflags(write=False)  # as in a network: the compiled code is then the same
ROWS = int(START[-1])
WEIGHT = np.array([0.5, 0.2, 1.0, 0.3, 0.25, 0.5, 1.0, 0.125, 0.7])


class Step(NamedTuple):
    """One update."""

    row: int
    gradient: Floats
    """Weighted already."""


class LearnerTrial(NamedTuple):
    """A learner to check, and how it is played."""

    learner: Learner
    first_phase: int
    compiled: bool

    def make_state(
        self, cliques: Cliques | None = None, weight: Floats = WEIGHT, dim: int = DIM
    ) -> State:
        """A fresh state; `weight` has one entry for each row."""
        learner = self.learner
        if self.first_phase:
            learner = TwoPhase(learner, weight, self.first_phase)
        return learner.make_state(make_cliques() if cliques is None else cliques, dim)

    def update(self, state: State, step: Step, weight: float = 1.0) -> None:
        """Feed a gradient to the clique of its row."""
        self.update_at(state, clique_of(step.row), step.row, step.gradient, weight)

    def update_at(
        self, state: State, clique: int, row: int, gradient: Floats, weight: float = 1.0
    ) -> None:
        """Feed a gradient to a clique of any cliques."""
        play = learn_row if self.compiled else update_row
        with np.errstate(all="ignore"):  # as compiled code divides
            play(state, clique, row, weight, gradient)

    def predict_at(self, state: State, clique: int, row: int, out: Floats) -> None:
        """Write the model of a row of any cliques into `out`."""
        play = read_row if self.compiled else predict_row
        with np.errstate(all="ignore"):
            play(state, clique, row, out)

    def learn(self, state: State, steps: Iterable[Step]) -> None:
        """Feed several gradients."""
        for step in steps:
            self.update(state, step)

    def predictions(self, state: State) -> Floats:
        """The model of every row, (rows, dim)."""
        out = np.full((ROWS, DIM), np.nan)
        for row in range(ROWS):
            self.predict_at(state, clique_of(row), row, out[row])
        return out


def make_cliques(weight: Floats = WEIGHT) -> Cliques:
    """The cliques of `SIZES`, with a weight for each row."""
    bound = np.array([weight[a:b].max(initial=0.0) for a, b in pairwise(START)])
    return Cliques(start=START, rate=bound.copy(), bound=bound)


def clique_of(row: int) -> int:
    """The clique that a row belongs to."""
    return int(np.searchsorted(START, row, side="right")) - 1


def updates(count: int = 120, lean: float = 0.6) -> Iterator[Step]:
    """Random rows and weighted gradients; they lean one way, so that models reach the ball."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        row = int(rng.integers(ROWS))
        g = rng.normal(size=DIM) + lean * np.array([1.0, -0.5])
        yield Step(row, WEIGHT[row] * g / np.linalg.norm(g))


def clock_of(state: State) -> Integers:
    """Updates that each clique received, whichever phase they fell into."""
    if isinstance(state, TwoPhaseState):
        return np.asarray(state.elapsed + state.inner.n)
    return np.asarray(
        state.inner.n if isinstance(state, AdaptiveState | SquaredWeightsState) else state.n
    )


def arrays(state: State, prefix: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Names and arrays of a state, nested states included; a field `work` is scratch."""
    for name, field in zip(state._fields, state, strict=True):
        if name == "work":
            continue
        if hasattr(field, "_fields"):
            yield from arrays(field, f"{prefix}{name}.")
        elif isinstance(field, np.ndarray):
            yield prefix + name, field


def soil(state: State, fresh: State) -> None:
    """Leave nothing of what earlier calls wrote into the scratch of a state, its fields `work`.

    Numbers become NaN; indices, which must be valid ones, become those of a fresh state.
    """
    for name, field, new in zip(state._fields, state, fresh, strict=True):
        if name == "work":
            _soil(field, new)
        elif hasattr(field, "_fields"):
            soil(field, new)


def _soil(work: object, fresh: object) -> None:
    if isinstance(work, tuple) and isinstance(fresh, tuple):
        for part, new in zip(work, fresh, strict=True):
            _soil(part, new)
    elif isinstance(work, np.ndarray) and work.flags.writeable:
        work[...] = np.nan if work.dtype == np.float64 else fresh


def content(state: State) -> dict[str, bytes]:
    """Everything that a state knows, to the bit."""
    return {name: array.tobytes() for name, array in arrays(state)}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> str:
    """The fields in which two contents differ, for a message."""
    return ", ".join(name for name in before if before[name] != after.get(name))
