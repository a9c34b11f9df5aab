"""Hosts in one process: a transport for tests and for trying things out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from mtcool.live.transport.transport import Answer


class MemoryExchange:
    """What hosts in one process are connected by."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.cut: set[frozenset[str]] = set()
        """Pairs of hosts that do not reach each other."""


class MemoryTransport:
    """Carries questions between hosts in one process."""

    def __init__(self, name: str, exchange: MemoryExchange) -> None:
        self._name, self._exchange = name, exchange

    async def open(self, answer: Answer) -> None:
        """Begin to carry."""
        self._exchange.answers[self._name] = answer

    async def ask(self, questions: Mapping[str, bytes], timeout: float) -> dict[str, bytes]:
        """Ask several hosts at once."""
        loop, replies = asyncio.get_running_loop(), dict[str, bytes]()
        done: asyncio.Future[None] = loop.create_future()

        def replied(host: str, content: bytes) -> None:
            replies[host] = content
            if len(replies) == len(questions) and not done.done():
                done.set_result(None)

        for host, content in questions.items():
            there = self._exchange.answers.get(host)
            if there is not None and frozenset((self._name, host)) not in self._exchange.cut:
                loop.call_soon(
                    there, self._name, content, lambda reply, host=host: replied(host, reply)
                )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):  # `wait_for` can swallow a cancellation
                await done
        return dict(replies)

    async def close(self) -> None:
        """Carry nothing any more."""
        self._exchange.answers.pop(self._name, None)
