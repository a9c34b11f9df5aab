"""A node as a process: it says when it is ready, answers lines, and stops when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable

from mtcool.live.config import Description
from mtcool.live.lines import Lines, ready_line
from mtcool.live.node import Node
from mtcool.live.sockets import listening
from mtcool.live.stdio import standard_input, standard_output
from mtcool.types import Plain


@contextlib.asynccontextmanager
async def _over_http(
    node: Node, read: Callable[[], Description], web: bool, tell: Callable[[str], None]
) -> AsyncIterator[None]:
    """Answer over HTTP if the description says where; with `web`, show the node there, too."""
    place = node.network.places[node.name]
    address = place.http
    if address is None:
        if web:
            raise ValueError(f"http of host {node.name!r} must be given to show it, got none")
        yield
        return
    from mtcool.live.http import http_app, serving, token_in
    from mtcool.live.http.urls import url_of

    file = node.network.file.security.token
    token = None if file is None else token_in(node.network.path(file))
    app = http_app(node, read)
    async with contextlib.AsyncExitStack() as stack:
        if web:
            from mtcool.live.page import Watch, of_node, show_on

            show_on(app, await stack.enter_async_context(Watch(of_node(node))))
        url = await stack.enter_async_context(serving(app, address, token))
        port = url.rpartition(":")[2]
        here = place._replace(http=f"{address.rpartition(':')[0]}:{port}")
        tell(f"host {node.name} answers at {url_of(here)}")
        yield


async def serve(
    read: Callable[[], Description],
    host: str | None,
    *,
    lines: bool,
    tell: Callable[[str], None],
    web: bool = False,
) -> None:
    """Run a host until it is told to stop: by a signal, a request, or the end of standard input.

    Parameters
    ----------
    read
        Reads the description of the network: now, and again when it is to be reloaded.
    host
        Which host this is.
    lines
        Whether to answer requests on standard input.
    tell
        Takes sentences for people.
    web
        Whether to show it on a page.
    """
    network = read()
    # These take a second to import, in which nobody must wait.
    if web:
        import mtcool.live.page
    elif any(place.http is not None for place in network.places.values()):
        import mtcool.live.http  # noqa: F401
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with Node(network, host) as node:
        spoken = Lines(node, read)
        async with listening(spoken), _over_http(node, read, web, tell):
            agents = len(node.host.drivers)
            broken = asyncio.create_task(node.broken())
            waits: list[asyncio.Task[Plain]] = [
                asyncio.create_task(stop.wait()),
                asyncio.create_task(spoken.stopped.wait()),
                broken,
            ]
            if lines:
                reader, writer = await standard_input(), await standard_output()
                writer.write(ready_line(node))
                waits.append(asyncio.create_task(spoken.serve(reader, writer)))
            else:
                tell(f"host {node.name} is ready, with {agents} agent{'s' * (agents != 1)}")
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for task in waits:
                task.cancel()
            for task in waits:
                with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                    await task
            if lines:
                with contextlib.suppress(ConnectionError):
                    await writer.drain()
            if not broken.cancelled():  # who starts it again, starts it from what is on disk
                raise OSError(f"host {node.name!r} has stopped: {broken.result()}")
