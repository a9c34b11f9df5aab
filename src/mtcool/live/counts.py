"""What a node counts: messages and bytes, how long calls take, and the losses of its agents.

All counts begin with the process and only grow, so that whoever reads them twice has what was
between.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from typing import TypeAlias

from mtcool.types import Label

Content: TypeAlias = bytes
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
    >>> from mtcool.live.wire import Position, to_bytes
    >>> traffic = Traffic()
    >>> traffic.add(to_bytes(Position(5)))
    >>> traffic.messages["position"], traffic.bytes["position"]
    (1, 6)
    """

    messages: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)

    def add(self, content: Content) -> None:
        """Count a message."""
        self.count(kind_of(content), len(content))

    def count(self, kind: str, length: int) -> None:
        """Count a message of which nothing else is known."""
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
    _answered: deque[tuple[str, int, int]] = field(default_factory=deque)

    def answered(self, host: str, asked: int, replied: int) -> None:
        """Remember the bytes of a question for rows and its reply, on any thread, until `settle`.

        A flood of questions must not fill the memory: their contents are not kept.
        """
        self._answered.append((host, asked, replied))

    def settle(self) -> None:
        """Count what was answered on other threads."""
        while self._answered:
            host, asked, replied = self._answered.popleft()
            self.received.count("ask", asked)
            self.to[host].count("rows", replied)

    def leaves(self, host: str, content: bytes) -> None:
        """Count a message to a host."""
        self.to[host].add(content)

    @property
    def sent(self) -> Traffic:
        """What was sent to all other hosts."""
        sent = Traffic()
        for traffic in self.to.values():
            sent.messages.update(traffic.messages)
            sent.bytes.update(traffic.bytes)
        return sent
