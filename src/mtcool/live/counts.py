"""What a node counts: messages and bytes, how long calls take, and the losses of its agents.

All counts begin with the process and only grow, so that whoever reads them twice has what was
between.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field

from mtcool.types import Label

KINDS = {1: "ask", 2: "rows", 3: "deliver", 4: "position", 5: "refused"}
"""Kinds of messages between hosts, by the tags of `wire.py`."""
TAG = 2  # after the version of the schema and the head of an array
SHORTEST, GROWTH, STEPS = 1e-5, 1.1, 170
"""Seconds of the first step of a latency, by how much steps grow, and how many there are."""
_LOG = math.log(GROWTH)


def kind_of(content: bytes) -> str:
    """The kind of a message between hosts, told from its bytes without reading all of it.

    Examples
    --------
    >>> from mtcool.live.wire import Position, to_bytes
    >>> kind_of(to_bytes(Position(5)))
    'position'
    """
    return KINDS.get(content[TAG], "other") if len(content) > TAG else "other"


@dataclass
class Traffic:
    """Messages between hosts in one direction, by kind: how many, and their bytes.

    Examples
    --------
    >>> traffic = Traffic()
    >>> traffic.count("position", 6)
    >>> traffic.messages["position"], traffic.bytes["position"]
    (1, 6)
    """

    messages: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)

    def count(self, kind: str, length: int) -> None:
        """Count a message."""
        self.messages[kind] += 1
        self.bytes[kind] += length


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
class Paid:
    """What an agent has paid, against what it would have paid alone; both only where known.

    Examples
    --------
    >>> paid = Paid()
    >>> paid.add(1.0, 2.0)
    >>> paid.loss, paid.alone, paid.count
    (1.0, 2.0, 1)
    """

    count: int = 0
    """Activations whose loss is known."""
    loss: float = 0.0
    alone: float | None = None

    def add(self, loss: float | None, alone: float | None) -> None:
        """Count an activation."""
        if loss is None:
            return
        self.count += 1
        self.loss += loss
        if alone is not None:
            self.alone = alone + (self.alone or 0.0)


@dataclass
class Counts:
    """All that a node counts."""

    received: Traffic = field(default_factory=Traffic)
    to: defaultdict[str, Traffic] = field(default_factory=lambda: defaultdict(Traffic))
    """What was sent to each other host, questions and replies."""
    predict: Latency = field(default_factory=Latency)
    learn: Latency = field(default_factory=Latency)
    old: int = 0
    """Rows of neighbours that predictions used although they were old."""
    missing: int = 0
    """Rows of neighbours that predictions went without."""
    unwritten: int = 0
    """Transactions that could not be written, because the disk was full or broken."""
    paid: dict[Label, Paid] = field(default_factory=dict)
    _noted: deque[tuple[str | None, str, int]] = field(default_factory=deque)
    """Messages that are not counted yet: to whom, or None if they came; their kinds and bytes.

    Noting one takes little time, and is safe on any thread. Contents are not kept, so that a flood
    of questions does not fill the memory.
    """

    def leaves(self, host: str, content: bytes) -> None:
        """Note a message to a host."""
        self._noted.append((host, kind_of(content), len(content)))

    def comes(self, content: bytes) -> None:
        """Note a message from a host."""
        self._noted.append((None, kind_of(content), len(content)))

    def settle(self) -> None:
        """Count what was noted."""
        while self._noted:
            host, kind, length = self._noted.popleft()
            traffic = self.received if host is None else self.to[host]
            traffic.count(kind, length)

    @property
    def sent(self) -> Traffic:
        """What was sent to all other hosts."""
        sent = Traffic()
        for traffic in self.to.values():
            sent.messages.update(traffic.messages)
            sent.bytes.update(traffic.bytes)
        return sent
