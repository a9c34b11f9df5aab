"""How the live system drives an agent, whatever its algorithm: rounds, messages, what is kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from mtcool.agents.messages import Message
from mtcool.streams import Loss
from mtcool.types import Floats, Label

WINDOW = 256
"""Rounds of a neighbour after which an older one is learned from no more: it has forgotten them."""

Feedback: TypeAlias = float | Floats | Loss
"""What an agent learns from: a target, a gradient at its prediction, or a loss."""


class Prediction(NamedTuple):
    """What an agent predicts, and how much of it is old.

    Examples
    --------
    >>> Prediction(5.0, None, old=("rome",)).value
    5.0
    """

    value: float | tuple[float, ...]
    """A number, or a point if there were no features."""
    alone: float | None
    """What the agent would predict without neighbours, where that is known."""
    old: tuple[Label, ...] = ()
    """Neighbours that did not answer in time: their last known rows were used."""
    missing: tuple[Label, ...] = ()
    """Neighbours that did not answer in time, and of which nothing is known."""
    round: int = 0
    """A number of its own, by which `learn` and `update` of the same process may name it."""


class Near(NamedTuple):
    """A neighbour of an agent.

    Examples
    --------
    >>> Near("rome", 3, 2).degree
    2
    """

    name: Label
    place: int
    """Its place in the order of all agents, which never changes."""
    degree: int
    """How many neighbours it has itself: that bounds its weights."""


class DriverRound(Protocol):
    """One round of an agent; several may be under way."""

    @property
    def requests(self) -> Mapping[Label, Message]:
        """Step 2: what to ask, and whom."""

    def prepare(self) -> None:
        """Do what needs no answers, while they are waited for; it may be left out."""

    def check(self, neighbour: Label, answer: Message) -> None:
        """Refuse what is no answer of this neighbour to this round, be it another's."""

    def predict(self, answers: Mapping[Label, Message]) -> Prediction:
        """Step 3: the prediction, from the answers that have come."""

    def learn(self, feedback: Feedback, draws: Sequence[float] = ()) -> dict[Label, Message]:
        """Step 5: learn; returns what to tell, and whom. Refused feedback changes nothing.

        A private agent may be told which noise to draw: that of a journal.
        """

    @property
    def drawn(self) -> list[float]:
        """The noise that was drawn in the last step, if the agent is private."""


class Driver(Protocol):
    """An agent as a host drives it."""

    name: Label

    @property
    def neighbours(self) -> Collection[Label]:
        """Those that may ask and tell it something."""

    @property
    def senders(self) -> Collection[Label]:
        """Those whose messages it learns from: its neighbours, and those that it had."""

    def check_meeting(self, neighbours: Sequence[Near]) -> None:
        """Refuse neighbours that it cannot have while it runs."""

    def meet(self, neighbours: Sequence[Near], skipped: bool = False) -> None:
        """Have these neighbours from now on, and no others.

        Some changes may have been skipped, and messages of neighbours as they were then may come.
        """

    def begin(self, features: Floats | None) -> DriverRound:
        """Step 1: begin a round, with features or without."""

    def receive(self, message: Message) -> Message | None:
        """Take a message of a neighbour; a request is answered. Refused ones change nothing."""

    def keep(self) -> bytes:
        """All that must survive."""

    def restore(self, kept: bytes) -> None:
        """Go on from what was kept."""
