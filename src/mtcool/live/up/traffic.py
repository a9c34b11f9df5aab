"""What hosts have counted, over all of their processes: one that begins again counts from 0."""

from __future__ import annotations

from typing import NamedTuple

from mtcool.live.counts import without_overhead
from mtcool.types import Plain


class Counted(NamedTuple):
    """What was counted by some processes."""

    messages: int = 0
    bytes: int = 0
    refused: int = 0

    def plus(self, other: Counted) -> Counted:
        """The sum."""
        return Counted(*(one + more for one, more in zip(self, other, strict=True)))


class TrafficSums:
    """Adds up what the statuses of hosts say.

    Examples
    --------
    >>> traffic = TrafficSums()
    >>> def told(began, messages):
    ...     return {"began": began, "messages": {"sent": {"ask": messages}},
    ...             "bytes": {"sent": {"ask": 100 * messages}}, "refused": 0}
    >>> for began, messages in ((1.0, 3), (1.0, 5), (2.0, 1)):  # the last one is another process
    ...     traffic.take("rome", told(began, messages))
    >>> traffic.total
    Counted(messages=6, bytes=600, refused=0)
    """

    def __init__(self) -> None:
        self._ended = Counted()
        self._last: dict[str, dict[str, Plain]] = {}

    def take(self, host: str, status: dict[str, Plain]) -> None:
        """Take what a host says of itself."""
        last = self._last.get(host)
        if last is not None and last["began"] != status["began"]:
            self._ended = self._ended.plus(_counted(last))
        self._last[host] = status

    @property
    def total(self) -> Counted:
        """All of it."""
        total = self._ended
        for status in self._last.values():
            total = total.plus(_counted(status))
        return total


def _counted(status: dict[str, Plain]) -> Counted:
    messages, size = status["messages"]["sent"], status["bytes"]["sent"]
    return Counted(without_overhead(messages), without_overhead(size), status["refused"])
