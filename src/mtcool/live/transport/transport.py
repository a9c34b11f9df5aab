"""How questions travel between hosts: another way to carry them is another file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

Reply: TypeAlias = Callable[[bytes], None]
"""Sends the reply to a question; called once, on any thread."""
Answer: TypeAlias = Callable[[str, bytes, Reply], None]
"""Takes a question on any thread: who asks, as the transport knows it, and what."""

LONGEST_WAIT = 5.0
"""Seconds for a reply, at most. zenoh remembers each question so long, even if it was answered."""


class Transport(Protocol):
    """Carries questions to other hosts, and theirs to this one."""

    async def open(self, answer: Answer) -> None:
        """Begin to carry; questions of others go to `answer`."""

    async def ask(self, questions: Mapping[str, bytes], timeout: float) -> dict[str, bytes]:
        """Ask several hosts at once; returns the replies that have come in time.

        Nobody waits longer than `LONGEST_WAIT`.

        A reply that is missing says nothing: the question may have arrived, or arrive later.
        """

    async def close(self) -> None:
        """Carry nothing any more."""
