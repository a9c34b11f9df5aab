"""What hosts say to each other: batches of agents' messages, and their bytes.

Everything is a question with a reply, because a message without one can be lost unseen. All that is
wanted of one host travels together: rows for many agents in one `Ask`, gradients in one `Deliver`.
In bytes: the version of the schema, one byte, and a MessagePack array.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

import msgspec

from mtcool.live.history import chained
from mtcool.types import Name

SCHEMA = 2
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""No honest host counts farther."""
Digest: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""Of a history, as `mtcool.live.history` makes it."""

HEAD = 80
"""Bytes of a question or a reply beside its items, at most: its kind, and counts."""


class Ask(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """Ask agents of the receiving host for rows.

    Examples
    --------
    >>> len(to_bytes(Ask(7, 0, [("rome", b"request")])))
    24
    """

    network: Count
    """Which network this is: hosts of different ones do not understand each other."""
    revision: Count
    """Of the description that the asker has; who has an older one must read it again first."""
    items: list[tuple[Name, bytes]]
    """Who is asked, and the request as `mtcool.agents.encode` writes it."""
    first: Count = 0
    """Number of the first message in `told`, if there are any: they travel with the question."""
    told: list[tuple[Name, bytes]] = []
    after: Digest = 0
    """As in `Deliver`."""

    @property
    def count(self) -> int:
        """How many messages it has."""
        return len(self.items) + len(self.told)


class RowReplies(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """The reply to `Ask`: an answer to each request in its order, or None if it was refused.

    Examples
    --------
    >>> RowReplies(3, [None]).version
    3
    """

    version: Count
    """How many changes the state had seen from which the rows were read."""
    items: list[bytes | None]
    last: Annotated[int, msgspec.Meta(ge=-1, le=2**53)] = -1
    """As in `DurablePosition`, if messages came with the question."""
    drawn: Count = 0
    """Private agents only: how often agents of this host have drawn noise for what they say."""


class Deliver(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """Tell agents of the receiving host what to learn from; without items, ask for its position.

    Examples
    --------
    >>> Deliver(7, 0, 5, [("rome", b"gradient")]).first
    5
    """

    network: Count
    revision: Count
    first: Count
    """Number of the first item; the others follow it. All before it are known to be durable."""
    items: list[tuple[Name, bytes]]
    """Who is told, and the message as `mtcool.agents.encode` writes it."""
    dropped: Count = 0
    """Messages up to this number were given up while the receiver was out of the network."""
    after: Digest = 0
    """Of all messages before the items: who has taken others under these numbers must say so."""
    ahead: Count = 0
    """Without items: so many messages from `first` on are in the digest, too."""

    @property
    def count(self) -> int:
        """How many messages it has."""
        return len(self.items)


class DurablePosition(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """The reply to `Deliver`: up to which number everything is durable.

    Examples
    --------
    >>> DurablePosition(5).last
    5
    """

    last: Count
    heard: Count = 0
    """The newest `RowReplies.drawn` that the other side has let us know of."""
    known: Count = 0
    """The other side has acknowledged our messages up to this number: it must know of them."""


class Refused(msgspec.Struct, frozen=True, array_like=True, tag=5):
    """The reply to what could not be understood or is not allowed.

    Examples
    --------
    >>> Refused("too long").reason
    'too long'
    """

    reason: str
    stopped: bool = False
    """Whether it will be refused again and again: the memory of the one contradicts the other's."""
    either: bool = False
    """Whether it is not known which of the two has forgotten."""


Question: TypeAlias = Ask | Deliver
Reply: TypeAlias = RowReplies | DurablePosition | Refused


def in_slices(question: Question, most: int) -> Iterator[tuple[Question, bool]]:
    """A question as several that tell at most so many messages each, and whether it is the last.

    Examples
    --------
    >>> told = [("rome", b"gradient")] * 5
    >>> [(one.first, one.count, last) for one, last in in_slices(Deliver(7, 0, 8, told), 2)]
    [(8, 2, False), (10, 2, False), (12, 1, True)]
    """
    deliver = isinstance(question, Deliver)
    told = question.items if isinstance(question, Deliver) else question.told
    dropped = question.dropped if isinstance(question, Deliver) else 0
    first, after, begins = question.first, question.after, 0
    while len(told) - begins > most:
        now = told[begins : begins + most]
        yield Deliver(question.network, question.revision, first, now, dropped, after), False
        first, after, begins = first + most, chained(after, now), begins + most
    rest = {"items" if deliver else "told": told[begins:]} if begins else {}
    yield msgspec.structs.replace(question, first=first, after=after, **rest), True


def to_bytes(said: Question | Reply) -> bytes:
    """The bytes of a question or a reply.

    Examples
    --------
    >>> len(to_bytes(DurablePosition(5)))
    6
    """
    return _SCHEMA + _ENCODER.encode(said)


def name_bytes(name: Name) -> int:
    """Bytes that the name of an agent takes in a question, at most.

    Examples
    --------
    >>> name_bytes(7), name_bytes("rome")
    (9, 9)
    """
    if isinstance(name, int):
        return 9
    if isinstance(name, str) and name.isascii():
        return len(name) + 5
    return len(_ENCODER.encode(name))


def item_bytes(to: Name, content: bytes) -> int:
    """Bytes that an item takes in a question, at most.

    Examples
    --------
    >>> item_bytes("rome", b"request")
    22
    """
    return 6 + name_bytes(to) + len(content)


def question_in(content: bytes) -> Question:
    """The question in these bytes; anything else is refused with a ValueError.

    Examples
    --------
    >>> question_in(to_bytes(Deliver(7, 0, 1, []))).first
    1
    """
    question: Question = _decoded(_QUESTIONS, content)
    return question


def reply_in(content: bytes) -> Reply:
    """The reply in these bytes; anything else is refused with a ValueError.

    Examples
    --------
    >>> reply_in(b"")
    Traceback (most recent call last):
    ...
    ValueError: content must be of schema 2, got nothing
    """
    reply: Reply = _decoded(_REPLIES, content)
    return reply


def _decoded(decoder: Any, content: bytes) -> Any:  # noqa: ANN401 (msgspec has no type for it)
    if not content or content[0] != SCHEMA:
        found = f"schema {content[0]}" if content else "nothing"
        raise ValueError(f"content must be of schema {SCHEMA}, got {found}")
    try:
        return decoder.decode(memoryview(content)[1:])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ValueError(f"content must be understood, got {len(content)} bytes: {error}") from None


_SCHEMA = bytes([SCHEMA])
_ENCODER = msgspec.msgpack.Encoder()
_QUESTIONS = msgspec.msgpack.Decoder(Question)
_REPLIES = msgspec.msgpack.Decoder(Reply)
