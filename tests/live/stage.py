"""Networks in memory on a page: a thread with a loop of its own, while tests drive a browser."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading

import pytest
from fastapi import FastAPI

from live.small_network import greeted, play
from mtcool.live import Node
from mtcool.live.config import Description
from mtcool.live.http import serving
from mtcool.live.page import Watch, show_on
from mtcool.live.page.network_view import NetworkView
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

CHROMIUM = "/usr/bin/chromium"


def launched(playwright, *args):
    """A browser; tests without one are left out, but never in continuous integration."""
    if shutil.which(CHROMIUM) is None and not os.environ.get("CI"):
        pytest.skip("chromium is not there")
    return playwright.chromium.launch(
        executable_path=CHROMIUM,
        args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *args],
        env={**os.environ, "HOME": "/tmp", "no_proxy": "*"},
    )


class Demo:
    """A network in memory whose hosts can be killed, and whose links can be cut."""

    def __init__(self, network: Description) -> None:
        self.network, self.nodes = network, {}
        self.killed: set[str] = set()
        self._exchange = MemoryExchange()

    @property
    def cut(self):
        return self._exchange.cut

    async def begin(self):
        for host in self.network.places:
            await self._start(host)
        await greeted(*self.nodes.values())  # private agents wait for it

    async def end(self):
        for host in list(self.nodes):
            await self.kill(host)

    async def _start(self, host):
        transport = MemoryTransport(host, self._exchange)
        self.nodes[host] = await Node(self.network, host, transport=transport).__aenter__()

    async def kill(self, host):
        self.killed.add(host)
        await self.nodes.pop(host).__aexit__(None, None, None)

    async def restart(self, host):
        await self._start(host)
        self.killed.discard(host)

    async def cut_link(self, one, other):
        self.cut.add(frozenset((one, other)))

    async def heal_link(self, one, other):
        self.cut.discard(frozenset((one, other)))

    async def play(self, rounds, seed=0):
        await play(self.network, self.nodes, rounds, seed)

    async def delivered(self):
        for node in self.nodes.values():
            assert await node.delivered()


class Stage:
    """A server with one page, on which networks come and go."""

    def __init__(self) -> None:
        self.demo: Demo | None = None
        self.statuses: dict | None = None
        """Instead of a network: what its hosts say."""
        self._began = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._run(),))
        self._thread.start()
        assert self._began.wait(30)

    async def _run(self):
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        app = FastAPI()
        self.watch = Watch(self._ask)
        show_on(app, self.watch)
        async with self.watch, serving(app, "127.0.0.1:0") as self.url:
            self._began.set()
            await self._over.wait()

    async def _ask(self):
        if self.demo is None:
            return self.statuses or {}
        places, nodes = self.demo.network.places, self.demo.nodes
        return {host: nodes[host].status() if host in nodes else None for host in places}

    def do(self, work):
        """Run a coroutine on the loop of the page."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def show(self, network: Description) -> Demo:
        """Begin a network, and show it."""
        demo = Demo(network)
        self.do(demo.begin())
        self.do(self._set(demo, None))
        return demo

    def say(self, statuses: dict) -> None:
        """Show what hosts say that are not there."""
        self.do(self._set(None, statuses))

    async def _set(self, demo, statuses):
        if self.demo is not None:
            await self.demo.end()
        self.demo, self.statuses = demo, statuses
        self.watch.network, self.watch.controls = NetworkView(), demo
        await self.watch.look()

    def look(self):
        """Let the page see how things are now."""
        self.do(self.watch.look())

    def close(self):
        self.do(self._set(None, None))
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
