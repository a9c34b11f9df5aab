"""One host's view of another: what is still to be delivered to it, and what has come from it."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from mtcool.live.history import NOTHING, chained
from mtcool.live.wire import item_bytes
from mtcool.types import Name


class Numbers(NamedTuple):
    """What is kept of a link, but for the messages that wait."""

    sent: int
    taken: int
    dropped: int = 0
    heard: int = 0
    after: int = NOTHING
    history: int = NOTHING


@dataclass
class HostLink:
    """Numbers of messages in both directions.

    Messages to the other host are numbered 1, 2, 3, ... and kept until it says that they are
    durable there. Those from it are taken in the order of their numbers, each once. Both ends keep
    a digest of what was said: equal numbers alone do not mean that they remember the same.
    """

    sent: int = 0
    """Number of the last message to the other host."""
    durable: int = 0
    """Number of the last message to it that survives a crash here: only those may leave."""
    taken: int = 0
    """Number of the last message from it that was taken."""
    taken_durable: int = 0
    """The same, of those that survive a crash here: only those are acknowledged."""
    dropped: int = 0
    """Up to this number, messages to it were given up, because it was out of the network."""
    heard: int = 0
    """How often its private agents have drawn noise for what it has said: never less than that."""
    outbox: deque[tuple[int, Name, bytes]] = field(default_factory=deque)
    """Number, receiver and content of messages that it has not acknowledged."""
    after: int = NOTHING
    """Digest of all messages to it before those in the outbox."""
    history: int = NOTHING
    """Digest of all messages from it that were taken."""
    position: int = 0
    """Where it says that it is, if we have not asked yet whether it remembers the same up to it."""
    asked: int = 0
    """Up to which number it was asked last whether it remembers the same, or told to."""
    greeted: bool = False
    """Whether it has agreed with us since this process began: nothing leaves before."""
    left: int = 0
    """Number of the last message that has left for it since this process began."""
    again: int = 0
    """Bytes of the batch under way that have left before."""
    waiting: bool = False
    """Whether a batch is under way."""
    silent: bool = False
    """Whether the last batch had no reply: until one has, none travels with questions."""

    @property
    def numbers(self) -> Numbers:
        """What must be kept."""
        return Numbers(self.sent, self.taken, self.dropped, self.heard, self.after, self.history)

    def go_on(self, numbers: Numbers) -> None:
        """As it was kept."""
        self.sent, self.taken, self.dropped, self.heard, self.after, self.history = numbers
        self.durable, self.taken_durable = self.sent, self.taken

    def give_up(self) -> None:
        """The other host is out of the network: what waits for it is not sent any more."""
        self.acknowledge(self.sent)
        self.dropped = self.sent
        self.greeted = self.waiting = False

    def batch(self, most: int, size: int, least: int) -> tuple[int, list[tuple[Name, bytes]]]:
        """The first messages that may leave: at most so many, in at most so many bytes.

        But at least so many, if there are, however long they are.
        """
        items: list[tuple[Name, bytes]] = []
        first = self.outbox[0][0] if self.outbox else self.sent + 1
        if not self.greeted:
            return first, items
        total = 0
        for number, to, content in self.outbox:
            total += item_bytes(to, content)
            full = len(items) == most or (total > size and len(items) >= least)
            if number > self.durable or full:
                break
            items.append((to, content))
        return first, items

    def leave(self, first: int, items: list[tuple[Name, bytes]], batch: bytes) -> None:
        """These messages leave now as a batch, some of them again."""
        old = items[: max(0, self.left + 1 - first)]
        whole = bool(items) and len(old) == len(items)
        self.again = len(batch) if whole else sum(len(content) for _, content in old)
        self.left = max(self.left, first - 1 + len(items))

    @property
    def acknowledged(self) -> int:
        """Up to which number the other host has said that it has our messages; 0 if it need not."""
        last = self.outbox[0][0] - 1 if self.outbox else self.sent
        return last if last > self.dropped else 0

    def claim(self, first: int, count: int) -> tuple[int, int]:
        """What we say of our history when so many messages leave, to be compared over there.

        Returns its digest, and how many messages from `first` on it covers. Those that leave follow
        it; if none does, it reaches as far as the other host says that it is.
        """
        self.asked = max(first - 1, self.position) if count == 0 else first - 1 + count
        ahead = self.asked + 1 - first if count == 0 else 0
        return self.digest(self.asked) if ahead else self.after, ahead

    def digest(self, last: int) -> int:
        """That of all messages up to this number, which is not before the outbox."""
        waiting = itertools.takewhile(lambda one: one[0] <= last, self.outbox)
        return chained(self.after, ((to, content) for _, to, content in waiting))

    def acknowledge(self, last: int) -> int:
        """Forget messages up to this number; returns how many there were."""
        self.after = self.digest(last)
        count = 0
        while self.outbox and self.outbox[0][0] <= last:
            self.outbox.popleft()
            count += 1
        return count
