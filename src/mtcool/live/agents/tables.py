"""Agents of `mtcool.learn`: rows of features in, predictions out, nothing to tune."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec
import numpy as np

from mtcool import validation
from mtcool.agents.messages import Lesson, Message, sender_of
from mtcool.learn.agent import PanelAgent
from mtcool.learn.stored_predictions import RowPrediction
from mtcool.live.agents.driver import WINDOW, Feedback, Near, Prediction
from mtcool.live.agents.packing import Index
from mtcool.live.agents.panel_checkpoint import go_on, kept_of
from mtcool.types import Floats, Label, Plain


class TableDriver:
    """Drives an agent of `mtcool.learn.Model`."""

    def __init__(self, agent: PanelAgent) -> None:
        self.name, self.agent = agent.name, agent
        self.known: set[Label] = set()
        """Neighbours that have answered once: copies of their rows stay with the agent."""

    @property
    def neighbours(self) -> tuple[Label, ...]:
        """Those that may ask and tell it something."""
        return self.agent.neighbours

    @property
    def senders(self) -> Collection[Label]:
        """Those whose messages it takes: its neighbours, and those that it had."""
        return self.agent.heard.keys()

    def check_meeting(self, neighbours: Sequence[Near]) -> None:
        """Every neighbour is welcome."""

    def meet(self, neighbours: Sequence[Near], skipped: bool = False) -> None:
        """Have these neighbours from now on, and no others."""
        names = [near.name for near in sorted(neighbours, key=lambda near: near.place)]
        self.agent.meet(names)
        self.known.intersection_update(names)

    def begin(self, features: Floats | None) -> TableRound:
        """Begin a round."""
        if features is None:
            raise ValueError("features must be given to an agent that learns from tables, got None")
        return TableRound(self, features)

    def receive(self, message: Message) -> Message | None:
        """Take a message of a neighbour."""
        answer = self.agent.receive(message)
        if isinstance(message, Lesson):  # rounds in which they were no neighbours leave gaps
            self.agent.heard[sender_of(message)].give_up(WINDOW)
        return answer

    def keep(self) -> bytes:
        """All that must survive."""
        known = [k for k, name in enumerate(self.agent.neighbours) if name in self.known]
        return msgspec.msgpack.encode([kept_of(self.agent), known])

    def restore(self, kept: bytes) -> None:
        """Go on from what was kept."""
        agent, known = msgspec.msgpack.decode(kept, type=tuple[Plain, list[Index]])
        go_on(self.agent, agent)
        self.known = {self.agent.neighbours[k] for k in known}


class TableRound:
    """A round of an agent of `mtcool.learn`."""

    def __init__(self, driver: TableDriver, features: Floats) -> None:
        agent = driver.agent
        agent.row_of(features)  # what is wrong is refused before anybody is asked
        self._driver, self._features = driver, features
        # What learning will want is asked for now: between the two steps nobody is asked again.
        self.requests: Mapping[Label, Message] = (
            agent.requests(learning=True) if agent.panel.rows else agent.requests()
        )
        self._said: RowPrediction | None = None
        self.drawn: list[float] = []  # nothing is left to chance

    def prepare(self) -> None:
        """Everything needs the answers."""

    def check(self, neighbour: Label, answer: Message) -> None:
        """Refuse what is no knowledge of this neighbour."""
        self._driver.agent.check_answer(neighbour, answer)

    def predict(self, answers: Mapping[Label, Message]) -> Prediction:
        """Predict with what the neighbours know; of who is silent, with what it said last."""
        driver = self._driver
        silent = [name for name in driver.agent.neighbours if name not in answers]
        old = tuple(name for name in silent if name in driver.known)
        missing = tuple(name for name in silent if name not in driver.known)
        said = self._said = driver.agent.predict(self._features, answers)
        driver.known.update(answers)
        logistic = bool(driver.agent.panel.logistic)
        alone = None if math.isnan(said.alone) else _value(said.alone, logistic)
        return Prediction(_value(said.score, logistic), alone, old, missing)

    def learn(self, feedback: Feedback, draws: Sequence[float] = ()) -> dict[Label, Message]:
        """Learn from a target."""
        target = validation.finite("target", feedback)  # type: ignore[arg-type]  # refuses others
        return self._driver.agent.learn(self._features, target, {}, self._said)


def _value(score: float, logistic: bool) -> float:
    """A prediction, or the probability of the class 1."""
    if not logistic:
        return score
    return float(1.0 / (1.0 + np.exp(-score))) if score > -700 else 0.0
