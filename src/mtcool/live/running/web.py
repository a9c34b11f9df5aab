"""A network of processes in the browser, where hosts can be killed and links cut."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI

from mtcool.live.http import serving
from mtcool.live.page import Watch, show_on
from mtcool.live.page.seen import Paid, Status
from mtcool.live.running.process import Gone
from mtcool.live.running.whole import Running

PLACE = "127.0.0.1:8765"
"""Where the page is, if nobody else is there."""


class Harm:
    """What the buttons of the page do; all of it is undone before a network stops."""

    def __init__(self, running: Running) -> None:
        self._processes = running.processes
        self.cut: set[frozenset[str]] = set()

    @property
    def killed(self) -> set[str]:
        """Hosts that were killed and not restarted."""
        return {host for host, process in self._processes.items() if process.held}

    async def kill(self, host: str) -> None:
        """Kill a host."""
        await self._processes[host].kill()

    async def restart(self, host: str) -> None:
        """Start it again; what was cut stays cut."""
        await self._processes[host].restart()
        for pair in self.cut:
            if host in pair:
                (other,) = pair - {host}
                await self._tell("cut", host, other)

    async def cut_link(self, one: str, other: str) -> None:
        """Let two hosts not reach each other."""
        self.cut.add(frozenset((one, other)))
        await self._tell("cut", one, other)
        await self._tell("cut", other, one)

    async def heal_link(self, one: str, other: str) -> None:
        """Let them reach each other again."""
        self.cut.discard(frozenset((one, other)))
        await self._tell("heal", one, other)
        await self._tell("heal", other, one)

    async def undo(self) -> None:
        """Restart and heal all."""
        for host in self.killed:
            await self.restart(host)
        for pair in list(self.cut):
            one, other = pair
            await self.heal_link(one, other)

    async def _tell(self, what: str, host: str, other: str) -> None:
        if host in self._processes:
            with contextlib.suppress(Gone):  # a restart cuts again
                await self._processes[host].ask({"do": what, "host": other})


@contextlib.asynccontextmanager
async def on_the_web(
    running: Running, stopped: asyncio.Event, place: str = PLACE
) -> AsyncIterator[str]:
    """Show a network on a page; gives its address."""
    harm = Harm(running)

    async def ask() -> dict[str, Status | None]:
        told = running.status
        return {
            host: None if host in running.silent else told.get(host) for host in running.processes
        }

    def pooled() -> Paid:
        tally = running.feeder.tally
        return Paid(tally.counted, tally.pooled or 0.0) if tally.pooled is not None else Paid()

    async def calm() -> None:
        await stopped.wait()
        await harm.undo()

    app = FastAPI(title="mtcool", docs_url=None, redoc_url=None, openapi_url=None)
    calming = asyncio.create_task(calm())
    try:
        async with Watch(ask, harm, pooled) as watch:
            show_on(app, watch)
            async with contextlib.AsyncExitStack() as stack:
                try:
                    url = await stack.enter_async_context(serving(app, place))
                except OSError:  # somebody else is there
                    url = await stack.enter_async_context(serving(app, "127.0.0.1:0"))
                yield url
    finally:
        calming.cancel()
