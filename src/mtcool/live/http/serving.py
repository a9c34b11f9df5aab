"""Serving an app on the loop of its node."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp

from mtcool.live.config.addresses import Address, address_in
from mtcool.live.http.connection_limits import Impatient
from mtcool.live.http.gate import Gate

LOOPBACK = ("localhost", "127.0.0.1", "::1")
CALLED = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}
"""Addresses to listen at that nobody can call, and what this machine calls them."""
STEP = 0.01  # seconds between two looks at whether the server is there


class _Server(uvicorn.Server):
    """A server that leaves signals to the program that it is part of."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(app: ASGIApp, address: str, token: str | None = None) -> AsyncIterator[str]:
    """Serve an app on the running loop for as long as the context lasts; gives its URL.

    Parameters
    ----------
    app
        The app, behind a `Gate`.
    address
        Where to listen: "127.0.0.1:8000"; port 0 takes a free one.
    token
        What callers must know. Needed wherever other machines can call.

    Examples
    --------
    >>> import httpx
    >>> from fastapi import FastAPI
    >>> async def asked():
    ...     async with serving(FastAPI(title="demo"), "127.0.0.1:0") as url:
    ...         async with httpx.AsyncClient(trust_env=False) as client:
    ...             return (await client.get(f"{url}/openapi.json")).json()["info"]["title"]
    >>> asyncio.run(asked())
    'demo'
    """
    where = address_in("address", address, least=0)
    if token is None and not where.local:
        raise ValueError(
            f"token must be given to listen elsewhere than on loopback, got {address!r}"
        )
    # With a token, a name that somebody else has bound to this machine is no way in, and a proxy
    # with TLS calls us by the name that it has.
    gate = Gate(app, token, (*LOOPBACK, where.name) if token is None else None)
    with _bound(where) as bound:
        config = uvicorn.Config(
            gate,
            http=Impatient,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
        server = _Server(config)
        task = asyncio.create_task(server.serve([bound]))
        try:
            while not server.started:
                if task.done():
                    task.result()
                    raise OSError(f"server at {address} could not start")
                await asyncio.sleep(STEP)
            name = f"[{where.name}]" if ":" in where.name else where.name
            name = CALLED.get(name, name)
            yield f"http://{name}:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


def _bound(where: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in where.name else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((where.name, where.port))
    except OSError as error:
        found.close()
        raise OSError(f"address must be free, got {where.name}:{where.port}: {error}") from None
    return found
