"""What a node counts: messages and bytes, how long calls take, and the losses of its agents.

All counts begin with the process and only grow, so that whoever reads them twice has what was
between.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from mtcool.types import Label

KINDS = {1: "ask", 2: "rows", 3: "deliver", 4: "position", 5: "refused"}
"""Kinds of messages between hosts, by the tags of `wire.py`."""
HEARTBEAT = "heartbeat"
"""The kind of questions that want nothing but to know how the other host is, and of their replies:
they come all the time, and say nothing of what the network does."""
AGAIN = "again"
"""The kind of what was sent before and not acknowledged, because a host is down or replies were
lost: that is no more traffic of the network than before."""
TAG = 2  # after the version of the schema and the head of an array
NUMBERS = {1: 2, 3: 3}  # between the tag of a question and its items
BYTES = {0xCC: 2, 0xCD: 3, 0xCE: 5, 0xCF: 9}  # of a number that does not fit into its first one
NO_ITEMS = 0x90
SHORTEST, GROWTH, STEPS = 1e-5, 1.1, 170
"""Seconds of the first step of a latency, by how much steps grow, and how many there are."""
_LOG = math.log(GROWTH)


def kind_of(content: bytes) -> str:
    """The kind of a message between hosts, told from its bytes without reading all of it.

    Examples
    --------
    >>> from mtcool.live.wire import Deliver, DurablePosition, to_bytes
    >>> kind_of(to_bytes(DurablePosition(5)))
    'position'
    >>> kind_of(to_bytes(Deliver(7, 0, 5, [("rome", b"gradient")])))
    'deliver'
    >>> kind_of(to_bytes(Deliver(7, 0, 5, [])))
    'heartbeat'
    """
    if len(content) <= TAG:
        return "other"
    tag, place = content[TAG], TAG + 1
    if tag in NUMBERS:
        for _ in range(NUMBERS[tag]):
            place += BYTES.get(content[place], 1) if place < len(content) else 0
        if place < len(content) and content[place] == NO_ITEMS:
            return HEARTBEAT
    return KINDS.get(tag, "other")


def without_overhead(kinds: Mapping[str, int]) -> int:
    """The sum of counts by kind, but for heartbeats and what is sent again.

    Examples
    --------
    >>> without_overhead({"ask": 2, "rows": 2, "again": 30, "heartbeat": 60})
    4
    """
    return sum(count for kind, count in kinds.items() if kind not in (HEARTBEAT, AGAIN))


@dataclass
class HostTraffic:
    """Messages between hosts in one direction, by kind: how many, and their bytes.

    Examples
    --------
    >>> traffic = HostTraffic()
    >>> traffic.count("position", 6)
    >>> traffic.messages["position"], traffic.bytes["position"]
    (1, 6)
    >>> traffic.count("deliver", 100, again=70)
    >>> traffic.bytes["deliver"], traffic.bytes["again"]
    (30, 70)
    """

    messages: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)

    def count(self, kind: str, length: int, again: int = 0) -> None:
        """Count a message, of which so many bytes were sent before."""
        self.messages[kind] += 1
        self.bytes[kind] += length - again
        if again:
            self.bytes[AGAIN] += again


@dataclass
class Latency:
    """How long calls took, in steps that grow by a tenth: quantiles are right to that.

    Examples
    --------
    >>> latency = Latency()
    >>> for milliseconds in range(1, 101):
    ...     latency.add(milliseconds / 1000)
    >>> round(latency.quantile(0.5), 3), round(latency.quantile(0.99), 3)
    (0.051, 0.099)
    """

    count: int = 0
    total: float = 0.0
    """Seconds of all calls."""
    steps: list[int] = field(default_factory=lambda: [0] * STEPS)

    def add(self, seconds: float) -> None:
        """Count a call."""
        self.count += 1
        self.total += seconds
        step = int(math.log(seconds / SHORTEST) / _LOG) if seconds > SHORTEST else 0
        self.steps[min(step, STEPS - 1)] += 1

    def quantile(self, share: float) -> float | None:
        """Seconds within which this share of the calls were done; None without calls."""
        if self.count == 0:
            return None
        wanted, found = share * self.count, 0
        for k, many in enumerate(self.steps):
            found += many
            if found >= wanted:
                return float(SHORTEST * GROWTH ** (k + 0.5))
        return float(SHORTEST * GROWTH**STEPS)


@dataclass
class PaidCounts:
    """What an agent has paid, against what it would have paid alone; both only where known.

    Examples
    --------
    >>> paid = PaidCounts()
    >>> paid.add(1.0, 2.0)
    >>> paid.loss, paid.alone, paid.count
    (1.0, 2.0, 1)
    """

    count: int = 0
    """Activations whose loss is known."""
    loss: float = 0.0
    alone: float | None = None

    def add(self, loss: float | None, alone: float | None) -> None:
        """Count an activation, unless the sum would be larger than all numbers."""
        if loss is None or not math.isfinite(self.loss + loss + (self.alone or 0.0) + (alone or 0)):
            return
        self.count += 1
        self.loss += loss
        if alone is not None:
            self.alone = alone + (self.alone or 0.0)


@dataclass
class Counts:
    """All that a node counts."""

    received: HostTraffic = field(default_factory=HostTraffic)
    to: defaultdict[str, HostTraffic] = field(default_factory=lambda: defaultdict(HostTraffic))
    """What was sent to each other host, questions and replies."""
    predict: Latency = field(default_factory=Latency)
    learn: Latency = field(default_factory=Latency)
    old: int = 0
    """Rows of neighbours that predictions used although they were old."""
    missing: int = 0
    """Rows of neighbours that predictions went without."""
    unwritten: int = 0
    """Transactions that could not be written, because the disk was full or broken."""
    paid: dict[Label, PaidCounts] = field(default_factory=dict)
    _noted: deque[tuple[str | None, str, int, int]] = field(default_factory=deque)
    """Messages that are not counted yet: to whom, or None if they came; their kinds, their bytes,
    and how many of these were sent before.

    Noting one takes little time, and is safe on any thread. Contents are not kept, so that a flood
    of questions does not fill the memory.
    """

    def leaves(self, host: str, content: bytes, question: str | None = None, again: int = 0) -> str:
        """Note a message to a host, perhaps the reply to a question; returns its kind.

        So many of its bytes were sent before.
        """
        return self._note(host, content, question, again)

    def comes(self, content: bytes, question: str | None = None) -> str:
        """Note a message from a host, perhaps the reply to a question; returns its kind."""
        return self._note(None, content, question)

    def _note(self, host: str | None, content: bytes, question: str | None, again: int = 0) -> str:
        kind = HEARTBEAT if question == HEARTBEAT else kind_of(content)
        if again == len(content):
            kind = AGAIN
        self._noted.append((host, kind, len(content), again))
        return kind

    def settle(self) -> None:
        """Count what was noted."""
        while self._noted:
            host, kind, length, again = self._noted.popleft()
            traffic = self.received if host is None else self.to[host]
            traffic.count(kind, length, again)

    @property
    def sent(self) -> HostTraffic:
        """What was sent to all other hosts."""
        sent = HostTraffic()
        for traffic in self.to.values():
            sent.messages.update(traffic.messages)
            sent.bytes.update(traffic.bytes)
        return sent
