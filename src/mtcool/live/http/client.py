"""Ask a host for its status over HTTP; another server may answer there, and say anything."""

from __future__ import annotations

import httpx
import msgspec

from mtcool.live.told import is_status
from mtcool.types import Plain

LONGEST = 1 << 26
"""Bytes of a status: that of many agents is long."""


def client_of(token: str | None) -> httpx.AsyncClient:
    """Asks hosts that want this token."""
    headers = {"Accept-Encoding": "identity"}  # so that no reply is longer than it looks
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    # Proxies of the environment are not for hosts of our own.
    return httpx.AsyncClient(headers=headers, trust_env=False)


async def status_at(client: httpx.AsyncClient, url: str) -> dict[str, Plain] | None:
    """What the host at an address says of itself; None if that is no status of a host."""
    content = bytearray()
    async with client.stream("GET", f"{url}/status") as answer:
        answer.raise_for_status()
        async for part in answer.aiter_raw():
            content += part
            if len(content) > LONGEST:
                return None
    try:
        told: Plain = msgspec.json.decode(content)
    except (ValueError, RecursionError):
        return None
    return told if is_status(told) else None
