"""A viewer of a whole network, in a process of its own: hosts only tell it how they are."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

from fastapi import FastAPI

from mtcool.live.config import Description
from mtcool.live.config.addresses import ANY, address_in
from mtcool.live.http import serving, token_in
from mtcool.live.http.urls import url_of
from mtcool.live.page.page import show_on
from mtcool.live.page.watching import Watch, of_urls


def urls_of(network: Description) -> dict[str, str]:
    """Where hosts answer over HTTP, by name; one without such a place cannot be watched.

    Examples
    --------
    >>> from mtcool.live.config import described
    >>> urls_of(described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...     "learn": {"features": ["x"]}, "shards": {"count": 1, "http": 8000}}))
    {'host0': 'http://127.0.0.1:8000'}
    """
    found = {}
    for name, place in network.places.items():
        url = url_of(place)
        if url is None:
            raise ValueError(f"http of host {name!r} must be given to watch it, got none")
        found[name] = url
    return found


async def view(network: Description, address: str, tell: Callable[[str], None]) -> None:
    """Show a network until a signal ends it; `address` is where the page is."""
    file = network.file.security.token
    token = None if file is None else token_in(network.path(file))
    app = FastAPI(title="mtcool", docs_url=None, redoc_url=None, openapi_url=None)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as stack:
        watch = await stack.enter_async_context(Watch(of_urls(urls_of(network), token)))
        show_on(app, watch)
        url = await stack.enter_async_context(serving(app, address, token))
        everywhere = address_in("address", address, least=0).name in ANY
        others = ", and at this port of all addresses of this machine" if everywhere else ""
        tell(f"the page is at {url}{others}")
        await stop.wait()
