"""Ask a host over HTTP; another server may answer there, and say anything."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

import httpx
import msgspec

from mtcool.live.status_schema import is_status
from mtcool.types import Plain

LONGEST = 1 << 26
"""Bytes of a status: that of many agents is long."""
NOBODY = "has no process that listens"
PARTS = 4
"""Slow hosts have so many times as long for all of a reply as for the beginning of it."""


def client_of(token: str | None, wait: float) -> httpx.AsyncClient:
    """Asks hosts that want this token, and waits so many seconds for each sign of life."""
    headers = {"Accept-Encoding": "identity"}  # so that no reply is longer than it looks
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    # Proxies of the environment are not for hosts of our own.
    return httpx.AsyncClient(headers=headers, trust_env=False, timeout=wait)


def at_most(wait: float) -> AbstractAsyncContextManager[object]:
    """Ends what takes much longer than a host has for a sign of life, however often it gives one.

    What ends so raises a TimeoutError.
    """
    return asyncio.timeout(PARTS * wait)


async def status_at(client: httpx.AsyncClient, url: str, host: str) -> dict[str, Plain] | None:
    """What a host says of itself at an address; None if somebody else answers there."""
    told = await _told(client, "GET", f"{url}/status")
    return told if is_status(told) and told["host"] == host else None


async def reload_at(client: httpx.AsyncClient, url: str, host: str) -> dict[str, Plain] | None:
    """Let a host at an address read its file again; None if somebody else answers there.

    The reply has the agents that it has then, and which revision, or an `error`.
    """
    if await status_at(client, url, host) is None:
        return None
    told = await _told(client, "POST", f"{url}/reload", also=(400, 409, 503))
    if not isinstance(told, dict):
        return None
    if isinstance(told.get("error"), str):
        return {"error": told["error"]}
    known = isinstance(told.get("agents"), list) and isinstance(told.get("revision"), int)
    return told if known else None


async def _told(
    client: httpx.AsyncClient, method: str, url: str, also: tuple[int, ...] = ()
) -> Plain:
    """What a server tells in JSON; None if it is none, or too long."""
    content = bytearray()
    async with client.stream(method, url) as answer:
        if answer.status_code not in also:
            answer.raise_for_status()
        async for part in answer.aiter_raw():
            content += part
            if len(content) > LONGEST:
                return None
    try:
        return msgspec.json.decode(content)
    except (ValueError, RecursionError):
        return None


def why_not(error: Exception, url: str, wait: float) -> str:
    """Why nobody has answered, as far as one can know from here.

    Examples
    --------
    >>> why_not(httpx.ConnectTimeout(""), "http://192.0.2.1:8000", 5.0)
    'http://192.0.2.1:8000 cannot be reached within 5 seconds'
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return f"{url} {NOBODY}"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ConnectTimeout):
        return f"{url} cannot be reached within {wait:g} seconds"
    if isinstance(error, httpx.ConnectError):
        return f"{url} cannot be reached"
    if isinstance(error, (httpx.TimeoutException, TimeoutError)):
        return f"{url} takes connections and does not answer within {wait:g} seconds"
    return f"{url} does not answer as a host does"
