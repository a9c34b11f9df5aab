"""Agents that learn from gradients: MT-CO2OL, its private variant, and the baselines."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from mtcool import validation
from mtcool.agents import FieldAgent, PrivateAgent, SingleTaskAgent
from mtcool.agents.agent import Agent, answer_of
from mtcool.agents.cliques import CliqueAgent
from mtcool.agents.field.receiving import gradient_in
from mtcool.agents.messages import (
    FieldGradient,
    FieldRow,
    Gradient,
    LossShared,
    Message,
    Rows,
    sender_of,
)
from mtcool.graphs.labels import label_of, plain_name
from mtcool.live.agents.agent_state import go_on, kept_of
from mtcool.live.agents.driver import WINDOW, Feedback, Near, Prediction
from mtcool.live.agents.noise import RecordedNoise
from mtcool.peers.field.bounds import bound_for_others
from mtcool.streams import Loss
from mtcool.streams.loss import checked_loss
from mtcool.streams.losses import Kind
from mtcool.types import Floats, Label, Name, Plain

_KEPT = tuple[Plain, list[tuple[Name, tuple[float | bytes, bytes]]], Plain, list[Name], bool]
"""What `GradientDriver.keep` writes."""
NUMBERED = (FieldGradient, Gradient, LossShared)
"""Messages of which an agent notes every number that it has taken."""


class GradientDriver:
    """Drives an agent of MT-CO2OL, DPMT-CO2OL, i-FTRL, ST-FTRL or the pairwise approach.

    Parameters
    ----------
    agent
        The agent.
    kind
        The loss of a prediction <x, features> against a target, if the agent is given those.
    alone
        An agent that learns the same without neighbours, for comparison.
    """

    def __init__(
        self, agent: Agent, kind: Kind | None = None, alone: CliqueAgent | None = None
    ) -> None:
        self.noise: RecordedNoise | None = None
        if isinstance(agent, PrivateAgent):
            self.noise = RecordedNoise(agent.sanitiser.noise)
            agent = agent.with_source(self.noise)
        self.name, self.agent, self.kind, self.alone = agent.name, agent, kind, alone
        self.known: dict[Label, Message] = {}
        """The last answer of each neighbour."""
        self.first = frozenset(agent.neighbours) if isinstance(agent, FieldAgent) else frozenset()
        """Neighbours since the network began: none of them ever goes without its own row."""
        self.skipped = False
        """Whether it was not told of every change of its graph."""

    @property
    def neighbours(self) -> Collection[Label]:
        """Those that it asks and tells something, and those that may ask and tell it something.

        With weights that are not symmetric, as those of delegation, they differ.
        """
        agent: Any = self.agent
        if isinstance(agent, FieldAgent):
            return agent.neighbours.keys()
        if isinstance(agent, SingleTaskAgent):
            return agent.neighbours
        asked = (name for link in agent.links for name in link.keepers)
        return tuple(dict.fromkeys((*self.senders, *asked)))

    @property
    def senders(self) -> Collection[Label]:
        """Those whose messages it learns from: among the neighbours that it has and had."""
        agent: Any = self.agent
        if isinstance(agent, FieldAgent):
            return agent.clique.rows.keys()
        if isinstance(agent, SingleTaskAgent):
            return agent.neighbours
        cliques = (agent.clique,) if isinstance(agent, PrivateAgent) else agent.cliques
        others = dict.fromkeys(name for clique in cliques for name in clique.rows)
        return tuple(name for name in others if name != self.name)

    def check_meeting(self, neighbours: Sequence[Near]) -> None:
        """Refuse neighbours that it cannot have while it runs."""
        same = {near.name for near in neighbours} == set(self.neighbours)
        if not same and not isinstance(self.agent, FieldAgent):
            settings = self.agent.settings
            with_what = " with lipschitz = 'adaptive'" if settings.lipschitz == "adaptive" else ""
            raise ValueError(
                f"neighbours of {self.name!r} must stay as they are, because the graph of "
                f"{settings.algorithm}{with_what} cannot change, got others"
            )

    def meet(self, neighbours: Sequence[Near], skipped: bool = False) -> None:
        """Have these neighbours from now on, and no others."""
        agent = self.agent
        if not isinstance(agent, FieldAgent):
            return
        self.skipped = self.skipped or skipped
        wanted = {near.name: near.place for near in neighbours}
        if not agent.present:
            agent.join(wanted)
        for name in [name for name in agent.neighbours if name not in wanted]:
            agent.disconnect(name)
            self.known.pop(name, None)
        for name, index in wanted.items():
            if name not in agent.neighbours:
                agent.connect(name, index)
        for near in neighbours:  # all hosts know the graph, so nobody has to announce its weights
            fresh = near.name not in self.first
            agent.clique.expect(bound_for_others(agent.rules, max(1, near.degree), fresh))

    def begin(self, features: Floats | None) -> GradientRound:
        """Begin a round."""
        dim = self.agent.settings.dim
        if features is not None:
            if self.kind is None:
                raise ValueError("features need a loss in the description of the network, got none")
            features = validation.vector("features", features, dim)
        return GradientRound(self, features)

    def receive(self, message: Message) -> Message | None:
        """Take a message of a neighbour."""
        agent: Any = self.agent
        if isinstance(message, FieldGradient) and self.skipped and agent.present:
            self._expect(message)
        answer = self.agent.receive(message)
        if isinstance(message, NUMBERED):  # rounds that nobody learned from leave gaps
            agent.heard[sender_of(message)].give_up(WINDOW)
        return answer

    def _expect(self, message: FieldGradient) -> None:
        """Take a weight that was right in a revision that was not read here, if all else is, too.

        The sender may have had fewer neighbours then.
        """
        agent, sender = self.agent, sender_of(message)
        assert isinstance(agent, FieldAgent)  # nobody else takes such a message
        kappa, most = agent.rules.kappa, 0.5 if sender in self.first else 1.0
        if sender in self.senders and sender != self.name and message.weight <= most:
            gradient_in(message, agent, sender, kappa * most)
            agent.clique.expect(kappa * message.weight)

    def keep(self) -> bytes:
        """All that must survive."""
        known = [[plain_name(name, "kept"), self._row_in(row)] for name, row in self.known.items()]
        alone = None if self.alone is None else kept_of(self.alone)
        first = [plain_name(name, "kept") for name in sorted(self.first, key=str)]
        return msgspec.msgpack.encode([kept_of(self.agent), known, alone, first, self.skipped])

    def restore(self, kept: bytes) -> None:
        """Go on from what was kept."""
        agent, known, alone, first, self.skipped = msgspec.msgpack.decode(kept, type=_KEPT)
        self.first = frozenset(map(label_of, first))
        go_on(self.agent, agent)
        self.known = {label_of(name): self._row_of(name, row) for name, row in known}
        if not self.known.keys() <= set(self.neighbours):
            raise ValueError(f"rows must be those of neighbours, got {list(self.known)}")
        if self.alone is not None and alone is not None:
            go_on(self.alone, alone)

    def _row_in(self, answer: Any) -> list[Any]:  # noqa: ANN401 (two kinds of answers)
        if isinstance(answer, FieldRow):
            return [answer.stamp, answer.content]
        return [answer.model.tobytes(), answer.experts.tobytes()]

    def _row_of(self, name: Name, kept: tuple[float | bytes, bytes]) -> Message:
        """An answer as it was kept, checked as if it had come."""
        agent, (first, second) = self.agent, kept
        if isinstance(agent, FieldAgent):
            stamp = validation.non_negative("stamp", first)  # type: ignore[arg-type]  # or not
            agent.code.unpacked(f"row of agent {name!r}", second)
            return FieldRow(name, 0.0, stamp, second)
        if not isinstance(first, bytes):
            raise ValueError(f"row of agent {name!r} must be bytes, got {first!r}")
        rows, neighbour = Rows(name, np.frombuffer(first), np.frombuffer(second)), label_of(name)
        experts = self.experts_of(neighbour) * agent.settings.dim
        return answer_of({neighbour: rows}, neighbour, agent.settings.dim, experts)

    def nothing_known(self, neighbour: Label) -> Message:
        """The row of a neighbour that was never heard: as it was when the network began."""
        agent, dim = self.agent, self.agent.settings.dim
        name = plain_name(neighbour, "sent")
        if isinstance(agent, FieldAgent):
            return FieldRow(name, 0.0, 0.0, agent.code.packed(np.zeros(dim)))
        return Rows(name, np.zeros(dim), np.zeros(self.experts_of(neighbour) * dim))

    def experts_of(self, neighbour: Label) -> int:
        """How many rows of experts an answer of this neighbour has."""
        agent = self.agent
        if not isinstance(agent, PrivateAgent):
            return 0
        counts = {
            link.keepers[0]: int(count)
            for link, count in zip(agent.links, agent.products, strict=True)
            if link.own is None
        }
        return counts[neighbour]


class GradientRound:
    """A round of an agent that learns from gradients."""

    def __init__(self, driver: GradientDriver, features: Floats | None) -> None:
        self._driver, self._features = driver, features
        self._activation: Any = driver.agent.activate()
        self.requests: Mapping[Label, Message] = self._activation.requests
        self._x = np.empty(0)
        self._alone: tuple[int, Any, Floats] | None = None

    def prepare(self) -> None:
        """Let the agent that learns alone predict."""
        if self._features is not None and self._driver.alone is not None:
            self._by_itself(self._driver.alone)

    def check(self, neighbour: Label, answer: Message) -> None:
        """Refuse what is no row of this neighbour."""
        agent = self._driver.agent
        if isinstance(agent, FieldAgent):
            self._activation.check(neighbour, answer)
            return
        answer_of(
            {neighbour: answer},  # type: ignore[dict-item]  # this is what it checks
            neighbour,
            agent.settings.dim,
            self._driver.experts_of(neighbour) * agent.settings.dim,
        )

    def predict(self, answers: Mapping[Label, Message]) -> Prediction:
        """Average the models of the agent's task; of who is silent, the last one known."""
        driver, old, missing = self._driver, [], []
        full: dict[Label, Message] = {}
        for name in self.requests:
            if name in answers:
                full[name] = driver.known[name] = answers[name]
            elif name in driver.known:
                old.append(name)
                full[name] = self._of_this_round(driver.known[name])
            else:
                missing.append(name)
                full[name] = self._of_this_round(driver.nothing_known(name))
        self._x = self._activation.predict(full)
        if self._features is None:
            return Prediction(tuple(self._x.tolist()), None, tuple(old), tuple(missing))
        value, alone = float(self._x @ self._features), None
        if driver.alone is not None:
            alone = float(self._by_itself(driver.alone)[1] @ self._features)
        return Prediction(value, alone, tuple(old), tuple(missing))

    def _of_this_round(self, answer: Message) -> Message:
        if isinstance(answer, FieldRow):
            return FieldRow(
                answer.sender, float(self._activation.number), answer.stamp, answer.content
            )
        return answer

    @property
    def drawn(self) -> list[float]:
        """The noise that was drawn when it learned."""
        noise = self._driver.noise
        return [] if noise is None or noise.last is None else noise.last.tolist()

    def learn(self, feedback: Feedback, draws: Sequence[float] = ()) -> dict[Label, Message]:
        """Learn from a gradient, a target or a loss."""
        driver, loss = self._driver, self._loss_of(feedback)
        if driver.noise is not None:
            driver.noise.last = None
            driver.noise.forced = np.array(draws) if len(draws) else None
        if isinstance(driver.agent, SingleTaskAgent):
            if loss is None:
                raise ValueError("ST-FTRL must be given a loss or a target, got a gradient")
            told: dict[Label, Message] = self._activation.learn(loss)
        elif loss is None:
            told = self._activation.learn(feedback)
        else:
            told = self._activation.learn(loss.subgradient(self._x))
        if loss is not None and driver.alone is not None:
            by_itself, x = self._by_itself(driver.alone)
            with contextlib.suppress(ValueError):  # it is for comparison: the agent has learned
                by_itself.learn(loss.subgradient(x))
        return told

    def _by_itself(self, agent: CliqueAgent) -> tuple[Any, Floats]:
        """A round of the agent that learns alone, and its point; once, unless it learns between."""
        if self._alone is None or self._alone[0] != agent.activations:
            begun = agent.activate()
            self._alone = agent.activations, begun, begun.predict({})
        return self._alone[1:]

    def _loss_of(self, feedback: Feedback) -> Loss | None:
        if isinstance(feedback, Loss):
            return feedback
        if isinstance(feedback, np.ndarray):
            return None
        if self._features is None or self._driver.kind is None:
            raise ValueError(f"a target needs features and a loss, got {feedback!r} without")
        target = validation.finite("target", feedback)
        row = np.empty(self._features.size + 1)
        row[:-1], row[-1] = self._features, target
        return checked_loss(self._driver.kind, row)
