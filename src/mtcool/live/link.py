"""One host's view of another: what is still to be delivered to it, and what has come from it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from mtcool.types import Name


@dataclass
class Link:
    """Numbers of messages in both directions.

    Messages to the other host are numbered 1, 2, 3, ... and kept until it says that they are
    durable there. Those from it are taken in the order of their numbers, each once.
    """

    sent: int = 0
    """Number of the last message to the other host."""
    durable: int = 0
    """Number of the last message to it that survives a crash here: only those may leave."""
    taken: int = 0
    """Number of the last message from it that was taken."""
    taken_durable: int = 0
    """The same, of those that survive a crash here: only those are acknowledged."""
    outbox: deque[tuple[int, Name, bytes]] = field(default_factory=deque)
    """Number, receiver and content of messages that it has not acknowledged."""
    greeted: bool = False
    """Whether it has said its position since this process began: nothing leaves before."""
    waiting: bool = False
    """Whether a batch is under way."""

    def batch(self, most: int, size: int) -> tuple[int, list[tuple[Name, bytes]]]:
        """The first messages that may leave: at most so many, of about so many bytes."""
        items: list[tuple[Name, bytes]] = []
        first = self.outbox[0][0] if self.outbox else self.sent + 1
        if not self.greeted:
            return first, items
        total = 0
        for number, to, content in self.outbox:
            total += len(content)
            if number > self.durable or len(items) == most or (items and total > size):
                break
            items.append((to, content))
        return first, items

    def acknowledge(self, last: int) -> int:
        """Forget messages up to this number; returns how many there were."""
        count = 0
        while self.outbox and self.outbox[0][0] <= last:
            self.outbox.popleft()
            count += 1
        return count
