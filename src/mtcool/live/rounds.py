"""Rounds that have begun on a host, and were not learned from yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mtcool.live.agents import DriverRound
from mtcool.types import Label


@dataclass
class OpenRound:
    """A round that has begun."""

    number: int
    agent: Label
    round: DriverRound
    asked: dict[str, list[Label]] = field(default_factory=dict)
    """Neighbours that other hosts were asked about, in the order of the questions."""
    riding: set[str] = field(default_factory=set)
    """Hosts to which messages travel with the questions."""
    predicted: bool = False


class OpenRounds:
    """The open rounds of a host, by number and by agent."""

    def __init__(self) -> None:
        self._rounds: dict[int, OpenRound] = {}
        self._of: dict[Label, dict[int, OpenRound]] = {}
        self._predicted: dict[Label, dict[int, None]] = {}
        """Numbers of those that were predicted, in that order."""

    def __contains__(self, number: int) -> bool:
        return number in self._rounds

    def __getitem__(self, number: int) -> OpenRound:
        begun = self._rounds.get(number)
        if begun is None:
            raise ValueError(
                f"round must be open, got {number!r}, which was learned from before or has given "
                "way to newer rounds of its agent"
            )
        return begun

    def add(self, begun: OpenRound) -> None:
        """A round has begun."""
        self._rounds[begun.number] = begun
        self._of.setdefault(begun.agent, {})[begun.number] = begun

    def pop(self, number: int) -> OpenRound | None:
        """Close a round, if it is open."""
        begun = self._rounds.pop(number, None)
        if begun is not None:
            del self._of[begun.agent][number]
            self._predicted.get(begun.agent, {}).pop(number, None)
        return begun

    def predicted(self, begun: OpenRound) -> None:
        """A round was predicted, and may be learned from now."""
        begun.predicted = True
        self._predicted.setdefault(begun.agent, {})[begun.number] = None

    def of(self, agent: Label) -> list[int]:
        """The numbers of an agent's open rounds, the oldest first."""
        return list(self._of.get(agent, ()))

    def beyond(self, agent: Label, most: int) -> Iterable[int]:
        """The oldest rounds of an agent that were predicted, if there are more than so many."""
        mine = self._predicted.get(agent, {})
        return list(mine)[: len(mine) - most] if len(mine) > most else ()
