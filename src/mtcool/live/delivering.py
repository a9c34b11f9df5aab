"""Delivers what waits in outboxes: a task for each other host, one batch at a time.

Where nothing waits, and nothing else is asked, it asks now and then whether the host is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mtcool.live.connecting import Connection
    from mtcool.live.node import Node

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Seconds until a host that did not acknowledge is tried again."""
PATIENCE = 0.01
"""Seconds in which messages may travel with the next question to the same host."""
LOOK = 0.05
"""Seconds between two looks of who waits until everything is delivered."""


class Deliveries:
    """The deliveries of one node, to all hosts that it has links with."""

    def __init__(self, node: Node, connection: Connection) -> None:
        self._node, self._connection = node, connection
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._news: dict[str, asyncio.Event] = {}
        self._soon: dict[str, asyncio.TimerHandle] = {}
        self._progress = asyncio.Event()

    def begin(self) -> None:
        """Have a task for each host that there is a link with, and none for others."""
        links = self._node.host.links
        for other in self._tasks.keys() - links.keys():
            self._tasks.pop(other).cancel()
            del self._news[other]
        for other in links.keys() - self._tasks.keys():
            self._news[other] = asyncio.Event()
            self._tasks[other] = asyncio.create_task(self._deliver_to(other))

    async def end(self) -> None:
        """Deliver nothing any more."""
        for timer in self._soon.values():
            timer.cancel()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def soon(self) -> None:
        """Deliver what waits, unless the next questions to the same hosts carry it before."""
        for host, link in self._node.host.links.items():
            if link.outbox and host not in self._soon:
                loop = asyncio.get_running_loop()
                self._soon[host] = loop.call_later(PATIENCE, self._due, host)
        self._progress.set()

    def again(self) -> None:
        """Look anew what is to be delivered: the host has begun again, or the graph has changed."""
        for news in self._news.values():
            news.set()

    def _due(self, host: str) -> None:
        self._soon.pop(host, None)
        if host in self._news:
            self._news[host].set()

    async def done(self, timeout: float) -> bool:
        """Wait until other hosts have acknowledged everything; False if they have not in time.

        Nobody waits for a link that has stopped: it will not go on by itself.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while True:
            full = {host: link for host, link in self._node.host.links.items() if link.outbox}
            left = end - loop.time()
            if not full or left <= 0.0 or full.keys() <= self._node.host.trouble.keys():
                return not full
            for host, link in full.items():
                if not link.waiting and host in self._news:
                    self._news[host].set()
            self._progress.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(LOOK, left)):
                    await self._progress.wait()

    async def _deliver_to(self, other: str) -> None:
        """Deliver what waits for a host, again and again until it is there."""
        pause = FIRST_PAUSE
        while True:
            try:
                agreed = await self._deliver_once(other)
            except Exception as error:  # whatever it is must not end deliveries
                reason, report = repr(error), self._node.report
                report.tell("delivery", peer=other, reason=reason, level=logging.ERROR)
                agreed = False
            if agreed:
                pause = FIRST_PAUSE
            else:
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE, 2 * pause)

    async def _deliver_once(self, other: str) -> bool:
        """Wait for something to deliver, and deliver it; whether it need not be tried again."""
        news, node, host = self._news[other], self._node, self._node.host
        news.clear()
        timing = node.network.file.timing
        content = host.batch(other)
        if content is None:
            left = timing.heartbeat - self._connection.unheard_for(other)
            if left <= 0.0:
                content, left = host.heartbeat(other), timing.heartbeat
            if content is None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await news.wait()
                return True
        reply: bytes | None = None
        again = host.links[other].again
        try:
            replies = await self._connection.ask({other: content}, timing.delivery, again)
            reply = replies.get(other)
        finally:
            same = host is node.host and other in host.links  # or it has begun again meanwhile
            agreed = not same or host.delivered(other, reply)
        if same and agreed:
            self._progress.set()
        return agreed
