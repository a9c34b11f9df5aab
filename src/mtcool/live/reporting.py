"""What a node logs: its start and stop, what it refused, and what is wrong."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Set

from mtcool.live.host import Host
from mtcool.live.logs import LOG

MOST_LINES = 10
"""Lines about refused messages in one look: a flood of them must not fill a disk."""


class Reporter:
    """Logs the events of one node.

    Refused messages, failed transactions and silent neighbours are told at the next look: those who
    send nonsense, a disk that is full and a bad line must not decide how often.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._refused: Counter[tuple[str, str]] = Counter()
        self._trouble: set[str] = set()
        self._unwritten: Counter[str] = Counter()
        self._silent: set[str] = set()

    def tell(
        self,
        event: str,
        *,
        peer: str | None = None,
        reason: str | None = None,
        count: int | None = None,
        level: int = logging.INFO,
    ) -> None:
        """Log one event."""
        extra = {"host": self._name, "peer": peer, "reason": reason, "count": count}
        LOG.log(level, event, extra=extra)

    def unwritten(self, reason: str) -> None:
        """A transaction could not be written."""
        self._unwritten[reason] += 1

    def forget_all_but(self, peers: Set[str]) -> None:
        """Others are not asked any more, so that they are not heard again is nothing to tell."""
        self._silent &= peers

    def look(self, host: Host, silent: Set[str] | None = None) -> None:
        """Log what was refused, who fell silent, and what went wrong since the last look.

        When a node stops, nobody is called silent any more.
        """
        silent = self._silent if silent is None else silent
        for peer in sorted(silent - self._silent):
            self.tell("silent", peer=peer, level=logging.WARNING)
        for peer in sorted(self._silent - silent):
            self.tell("heard", peer=peer)
        self._silent = set(silent)
        if host.refused.total() < self._refused.total():  # the host has begun again
            self._refused.clear()
        news = host.refused - self._refused
        for (peer, reason), count in news.most_common(MOST_LINES):
            self.tell("refused", peer=peer, reason=reason, count=count, level=logging.WARNING)
        rest = news.most_common()[MOST_LINES:]
        if rest:
            reason = f"{len(rest)} other reasons"
            count = sum(count for _, count in rest)
            self.tell("refused", reason=reason, count=count, level=logging.WARNING)
        if news:
            self._refused = Counter(host.refused)
        for peer in host.trouble.keys() - self._trouble:
            self.tell("trouble", peer=peer, reason=host.trouble[peer], level=logging.ERROR)
        self._trouble = set(host.trouble)
        for reason, count in self._unwritten.items():
            self.tell("disk", reason=reason, count=count, level=logging.ERROR)
        self._unwritten.clear()
