"""A socket of the node in its state folder: the same lines for other programs of its owner."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec

from mtcool.live.config import Description
from mtcool.live.lines import LONGEST, Lines
from mtcool.types import Plain

MOST_BYTES = 100
"""Of the path of a socket: systems allow hardly more."""


def socket_of(network: Description, host: str) -> Path:
    """Where a host of this machine listens."""
    return network.path(network.file.state) / f"{host}.sock"


@contextlib.asynccontextmanager
async def listening(lines: Lines) -> AsyncIterator[None]:
    """Answer programs on the socket of a node; its folder is open to its owner only."""
    path = socket_of(lines.node.network, lines.node.name)
    tasks: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # the server has made one
        tasks.add(task)
        try:
            await lines.serve(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    path.unlink(missing_ok=True)
    with _short(path) as place:
        server = await asyncio.start_unix_server(answer, place, limit=LONGEST)
    os.chmod(path, 0o600)
    try:
        yield
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        path.unlink(missing_ok=True)


async def ask_host(network: Description, host: str, request: dict[str, Plain]) -> dict[str, Plain]:
    """Ask a running host of this machine; an OSError says that it does not run."""
    with _short(socket_of(network, host)) as place:
        reader, writer = await asyncio.open_unix_connection(place, limit=1 << 26)
    try:
        writer.write(msgspec.json.encode(request) + b"\n")
        line = await reader.readline()
    finally:
        writer.close()
    if not line:
        raise ConnectionError(f"host {host!r} has not answered")
    reply: dict[str, Plain] = msgspec.json.decode(line)
    return reply


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """A path that is short enough for the system: a long one is gone to over its open folder."""
    if len(os.fsencode(path)) <= MOST_BYTES:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
