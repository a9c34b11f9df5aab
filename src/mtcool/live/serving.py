"""A node as a process: it says when it is ready, answers lines, and stops when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

from mtcool.live.description import Description
from mtcool.live.lines import Lines, ready_line
from mtcool.live.node import Node
from mtcool.live.sockets import listening
from mtcool.live.standard import standard_input, standard_output
from mtcool.types import Plain


async def serve(
    network: Description, host: str | None, *, lines: bool, tell: Callable[[str], None]
) -> None:
    """Run a host until it is told to stop: by a signal, a request, or the end of standard input."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with Node(network, host) as node:
        spoken = Lines(node)
        async with listening(spoken):
            agents = len(node.host.drivers)
            waits: list[asyncio.Task[Plain]] = [
                asyncio.create_task(stop.wait()),
                asyncio.create_task(spoken.stopped.wait()),
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
