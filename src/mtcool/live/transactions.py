"""What a host hands out: transactions that must be written, and effects that follow from them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from mtcool.live.journal import Lives
from mtcool.live.link import Numbers
from mtcool.live.wire import RowReplies
from mtcool.types import Label, Name

Token: TypeAlias = Hashable
"""Whatever the driver of a host knows a question by."""


class Replied(NamedTuple):
    """Effect: this is the reply to a question."""

    token: Token
    content: bytes


class Durable(NamedTuple):
    """Effect: what this call asked for is done, and survives a crash."""

    token: Token


class Acknowledged(NamedTuple):
    """Effect before the commit: reply with the position that will be durable then."""

    token: Token
    host: str
    rows: RowReplies | None = None
    """What was asked for at the same time."""


Effect: TypeAlias = Replied | Durable


class Transaction(NamedTuple):
    """What must be written in one transaction, and what follows from it."""

    version: int
    rounds: int
    agents: dict[Label, bytes]
    links: dict[str, Numbers]
    """Of each link that moved."""
    outbox: list[tuple[str, int, Name, bytes]]
    delivered: dict[str, int]
    """Messages up to this number may be forgotten."""
    journal: list[bytes]
    share: Lives | None
    """Who lives here, if that has changed."""
    effects: list[Replied | Durable | Acknowledged]
    description: bytes | None = None
    """Of the network, in words that a replay understands, if that has changed."""
    drawn: int = 0
    """How often private agents have drawn noise; 0 if they are not private."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        some = self.agents or self.links or self.outbox or self.delivered or self.journal
        return not (some or self.share)


class Checkpoint(NamedTuple):
    """What a host reads from its disk when it begins again."""

    version: int
    rounds: int
    agents: Mapping[Label, bytes]
    links: Mapping[str, Numbers]
    outbox: Iterable[tuple[str, int, Name, bytes]]
    lives: Lives
    file: str = ""
    """Where it was read, to be named if something in it is wrong."""
