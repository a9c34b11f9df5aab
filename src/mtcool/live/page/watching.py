"""Asks the hosts of a network how they are, once a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias

import httpx

from mtcool.live.node import Node
from mtcool.live.page.seen import Network, Paid, Status

Source: TypeAlias = Callable[[], Awaitable[Mapping[str, Status | None]]]
"""Asks all hosts; None for those that do not answer."""
EVERY = 1.0
"""Seconds between two looks."""


class Controls(Protocol):
    """What a page may do to a network that is there to be tried out."""

    @property
    def killed(self) -> set[str]:
        """Hosts that were killed and not restarted."""

    @property
    def cut(self) -> set[frozenset[str]]:
        """Pairs of hosts whose link is cut."""

    async def kill(self, host: str) -> None:
        """Kill a host."""

    async def restart(self, host: str) -> None:
        """Start it again."""

    async def cut_link(self, one: str, other: str) -> None:
        """Let two hosts not reach each other."""

    async def heal_link(self, one: str, other: str) -> None:
        """Let them reach each other again."""


class Watch:
    """Watches a network for as long as `async with` lasts.

    Parameters
    ----------
    source
        Asks the hosts: `of_node`, `of_urls`, or a function of yours.
    controls
        What may be done to them; None if nothing.
    pooled
        What one model for all agents has paid, where somebody knows that.
    """

    def __init__(
        self,
        source: Source,
        controls: Controls | None = None,
        pooled: Callable[[], Paid] | None = None,
    ) -> None:
        self.network, self.controls = Network(), controls
        self._source, self._pooled = source, pooled

    async def look(self) -> None:
        """Ask once."""
        statuses = await self._source()
        self.network.take(time.time(), statuses, None if self._pooled is None else self._pooled())

    async def __aenter__(self) -> Watch:
        await self.look()
        self._task = asyncio.create_task(self._go_on())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            await self.look()


def of_node(node: Node) -> Source:
    """A node by itself: its own share of the network."""

    async def ask() -> dict[str, Status | None]:
        return {node.name: node.status()}

    return ask


def of_urls(urls: Mapping[str, str], token: str | None = None) -> Source:
    """Hosts that are asked over HTTP, by name."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    # Proxies of the environment are not for hosts of our own.
    client = httpx.AsyncClient(headers=headers, timeout=EVERY, trust_env=False)

    async def one(url: str) -> Status | None:
        try:
            answer = await client.get(f"{url}/status")
            answer.raise_for_status()
            status: Status = answer.json()
        except (httpx.HTTPError, ValueError):
            return None
        return status

    async def ask() -> dict[str, Status | None]:
        found = await asyncio.gather(*(one(url) for url in urls.values()))
        return dict(zip(urls, found, strict=True))

    return ask
