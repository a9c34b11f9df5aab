"""What happened to a host, in order: enough to play it again, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from mtcool.live.link import Numbers
from mtcool.live.offset import Offset
from mtcool.live.refusals import LONGEST_REASON
from mtcool.types import Name


class Lives(msgspec.Struct, frozen=True, array_like=True):
    """Which agents live on a host, and where their neighbours are, past ones included."""

    revision: int
    here: list[Name]
    home: list[tuple[Name, str]]
    left: list[Name]
    gone: list[tuple[Name, str]] = []
    """Where past neighbours were whose host is in the network no more."""


class Started(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """The first entry: the host and its agents as they were in the beginning."""

    host: str
    network: int
    lives: Lives
    agents: list[tuple[Name, bytes]]


class Snapshot(msgspec.Struct, frozen=True, array_like=True, tag=8):
    """Instead of all entries before it: what had become of the host."""

    host: str
    network: int
    lives: Lives
    agents: list[tuple[Name, bytes]]
    """As they are kept, with their counts."""
    version: int
    rounds: int
    links: list[tuple[str, Numbers]]


class Begun(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """A round of an agent began; it may never have been predicted."""

    agent: Name
    number: int
    """Of the round, among those of this host."""
    features: list[float] | None


class Used(msgspec.Struct, frozen=True, array_like=True):
    """A row that a prediction used."""

    neighbour: Name
    host: str
    version: int
    """That of the state it was read from, at its host."""
    content: bytes
    """The answer as it came."""


class Predicted(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """An agent predicted; rows of neighbours on the same host are not listed, but read again."""

    number: int
    used: list[Used]
    value: list[float]


class Learned(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """An agent learned, which moved the numbers of its messages on."""

    number: int
    feedback: list[object]
    """As `driving.feedback` packs it."""
    drawn: list[float] = []
    """Noise of a private agent: a secret, as the journal is."""
    offset: Offset | None = None
    """Of the row of a stream, if that was given."""


class Taken(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """Messages of another host were taken, and agents have learned from them."""

    host: str
    first: int
    items: list[tuple[Name, bytes]]

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self.items)


class Rejected(msgspec.Struct, frozen=True, array_like=True, tag=6):
    """Messages of another host had their turn and changed nothing: what they said is not kept."""

    host: str
    first: int
    count: int
    refused: int
    """How many of them were wrong; the others were for agents that are here no more."""
    length: int
    """Bytes of all of them."""
    history: int
    """Digest of the history of the link that ends with them."""
    reason: str
    """Why the first of the wrong ones was refused."""


class Rewound(msgspec.Struct, frozen=True, array_like=True, tag=7):
    """Streams are fed from their beginning again."""


class Changed(msgspec.Struct, frozen=True, array_like=True, tag=5):
    """The description was read again: agents have other neighbours, some came, some left."""

    revision: int
    home: list[tuple[Name, str]]
    """The host of each agent that lives here or is a neighbour of one that does."""
    hosts: list[str]
    """All hosts that there are."""
    near: list[tuple[Name, list[tuple[Name, int, int]]]]
    """Of each agent that lives here its neighbours: name, index, degree."""


Entry: TypeAlias = (
    Changed | Started | Snapshot | Begun | Predicted | Learned | Taken | Rejected | Rewound
)


def rejected(
    host: str,
    first: int,
    items: Sequence[tuple[Name, bytes]],
    reasons: Sequence[str],
    history: int,
) -> Rejected:
    """What is written of messages that changed nothing: why, without words if nothing is wrong.

    Examples
    --------
    >>> rejected("rome", 5, [(1, b"x" * 900)] * 2, ["", "too long"], 7).length
    1800
    """
    wrong = [reason[:LONGEST_REASON] for reason in reasons if reason]
    length = sum(len(content) for _, content in items)
    why = wrong[0] if wrong else ""
    return Rejected(host, first, len(items), len(wrong), length, history, why)


_DECODER = msgspec.msgpack.Decoder(Entry)
_ENCODER = msgspec.msgpack.Encoder()


def entry_bytes(entry: Entry) -> bytes:
    """An entry as it is kept."""
    return _ENCODER.encode(entry)


def entry_in(content: bytes) -> Entry:
    """The entry in these bytes."""
    entry: Entry = _DECODER.decode(content)
    return entry
