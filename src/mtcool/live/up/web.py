"""A network of processes in the browser, where hosts can be killed and links cut."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI

from mtcool.live.http import serving
from mtcool.live.page import Watch, show_on
from mtcool.live.page.network_view import LossSums, Status
from mtcool.live.up.process import Gone
from mtcool.live.up.supervisor import Running

PLACE = "127.0.0.1:8765"
"""Where the page is, if nobody else is there."""


class Harm:
    """What the buttons of the page do; all of it is undone before a network settles."""

    def __init__(self, running: Running) -> None:
        self._processes = running.processes
        self.cut: set[frozenset[str]] = set()
        self._over = False
        running.undo = self.undo

    @property
    def killed(self) -> set[str]:
        """Hosts that were killed and not restarted."""
        return {host for host, process in self._processes.items() if process.held}

    async def kill(self, host: str) -> None:
        """Kill a host."""
        if not self._over:
            await self._processes[host].kill()

    async def restart(self, host: str) -> None:
        """Start it again; what was cut stays cut."""
        await self._processes[host].restart()
        for pair in list(self.cut):
            if host in pair and pair in self.cut:  # others may be cut and healed meanwhile
                (other,) = pair - {host}
                await self._tell("cut", host, other)

    async def cut_link(self, one: str, other: str) -> None:
        """Let two hosts not reach each other."""
        if self._over:
            return
        self.cut.add(frozenset((one, other)))
        await self._tell("cut", one, other)
        await self._tell("cut", other, one)

    async def heal_link(self, one: str, other: str) -> None:
        """Let them reach each other again."""
        self.cut.discard(frozenset((one, other)))
        await self._tell("heal", one, other)
        await self._tell("heal", other, one)

    async def undo(self) -> None:
        """Restart and heal all, and do no more harm."""
        self._over = True
        for host in self.killed:
            await self.restart(host)
        await asyncio.gather(*(self.heal_link(*pair) for pair in list(self.cut)))

    async def _tell(self, what: str, host: str, other: str) -> None:
        if host in self._processes:
            with contextlib.suppress(Gone):  # a restart cuts again
                await self._processes[host].ask({"do": what, "host": other})


@contextlib.asynccontextmanager
async def on_the_web(running: Running, place: str = PLACE) -> AsyncIterator[str]:
    """Show a network on a page; gives its address."""
    harm = Harm(running)

    async def ask() -> dict[str, Status | None]:
        told, hosts = running.status, (*running.processes, *running.left)
        return {host: None if host in running.silent else told.get(host) for host in hosts}

    def pooled() -> LossSums:
        tally = running.feeder.tally
        if tally.pooled is None or not running.network.publishes_losses:
            return LossSums()
        return LossSums(tally.counted, tally.pooled)

    app = FastAPI(title="mtcool", docs_url=None, redoc_url=None, openapi_url=None)
    async with Watch(ask, harm, pooled) as watch:
        show_on(app, watch)
        async with contextlib.AsyncExitStack() as stack:
            try:
                url = await stack.enter_async_context(serving(app, place))
            except OSError:  # somebody else is there
                url = await stack.enter_async_context(serving(app, "127.0.0.1:0"))
            yield url
