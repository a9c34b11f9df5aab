"""Asks the hosts of a network how they are, once a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Protocol, TypeAlias

import httpx

from mtcool.live.http.client import at_most, client_of, status_at
from mtcool.live.logs import LOG
from mtcool.live.node import Node
from mtcool.live.page.network_view import LossSums, NetworkView, Status

Source: TypeAlias = Callable[[], Awaitable[Mapping[str, Status | None]]]
"""Asks all hosts; None for those that do not answer.

One that is a context manager, too, is open while it is watched.
"""
EVERY = 1.0
"""Seconds between two looks."""
PATIENCE = 1.0
"""Seconds that a host has for a sign of life."""


class Controls(Protocol):
    """What a page may do to a network that is there to be tried out."""

    @property
    def killed(self) -> set[str]:
        """Hosts that were killed and not restarted."""

    @property
    def cut(self) -> set[frozenset[str]]:
        """Pairs of hosts whose link is cut."""

    async def kill(self, host: str) -> None:
        """Kill a host.

        Parameters
        ----------
        host
            Its name.
        """

    async def restart(self, host: str) -> None:
        """Start it again.

        Parameters
        ----------
        host
            Its name.
        """

    async def cut_link(self, one: str, other: str) -> None:
        """Let two hosts not reach each other.

        Parameters
        ----------
        one, other
            Their names.
        """

    async def heal_link(self, one: str, other: str) -> None:
        """Let them reach each other again.

        Parameters
        ----------
        one, other
            Their names.
        """


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
        pooled: Callable[[], LossSums] | None = None,
    ) -> None:
        self.network, self.controls = NetworkView(), controls
        self._source, self._pooled = source, pooled

    async def look(self) -> None:
        """Ask once."""
        statuses = await self._source()
        self.network.take(time.time(), statuses, None if self._pooled is None else self._pooled())

    async def __aenter__(self) -> Watch:
        async with AsyncExitStack() as stack:
            if isinstance(self._source, AbstractAsyncContextManager):
                await stack.enter_async_context(self._source)
            await self.look()
            self._open = stack.pop_all()
        self._task = asyncio.create_task(self._go_on())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._open.aclose()

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            try:
                await self.look()
            except Exception:
                LOG.exception("look")  # the page goes on with what it has seen


def of_node(node: Node) -> Source:
    """A node by itself: its own share of the network.

    Parameters
    ----------
    node
        Which is asked without a message, so it must be in this process.

    Examples
    --------
    >>> from mtcool.live import described
    >>> node = Node(described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...     "learn": {"features": ["x"]}, "shards": {"count": 1}}))
    >>> watch = Watch(of_node(node))
    >>> watch.network.hosts
    {}
    """

    async def ask() -> dict[str, Status | None]:
        return {node.name: node.status()}

    return ask


def of_urls(urls: Mapping[str, str], token: str | None = None) -> Source:
    """Hosts that are asked over HTTP, by name.

    Parameters
    ----------
    urls
        Where each host answers, by its name: the `http` of the network file, with "http://".
    token
        What the hosts want to be told, if they want a token.

    Examples
    --------
    >>> watch = Watch(of_urls({"rome": "http://127.0.0.1:8000", "milan": "http://127.0.0.1:8001"}))
    >>> watch.network.hosts
    {}
    """
    return _Urls(urls, token)


class _Urls:
    """Asks over connections that are kept open while somebody watches."""

    def __init__(self, urls: Mapping[str, str], token: str | None) -> None:
        self._urls, self._token = urls, token

    async def __aenter__(self) -> None:
        self._client = client_of(self._token, PATIENCE)

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def __call__(self) -> dict[str, Status | None]:
        """Ask all of them at once."""
        found = await asyncio.gather(*(self._one(*each) for each in self._urls.items()))
        return dict(zip(self._urls, found, strict=True))

    async def _one(self, host: str, url: str) -> Status | None:
        try:
            async with at_most(PATIENCE):
                return await status_at(self._client, url, host)
        except (httpx.HTTPError, TimeoutError):
            return None
