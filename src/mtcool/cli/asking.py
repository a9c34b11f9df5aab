"""Ask the hosts of a live network that run on this machine."""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mtcool.live.description import Description
    from mtcool.types import Plain

WAIT = 2.0
"""Seconds that a host has to answer."""


def ask_hosts(
    network: "Description", request: dict[str, "Plain"], wait: float = WAIT
) -> dict[str, "Plain"]:
    """What each host of a network replies, or an error if it does not."""

    async def ask_all() -> dict[str, "Plain"]:
        hosts = list(network.places)
        found = await asyncio.gather(*(_ask(network, host, request, wait) for host in hosts))
        return dict(zip(hosts, found, strict=True))

    return asyncio.run(ask_all())


async def _ask(
    network: "Description", host: str, request: dict[str, "Plain"], wait: float
) -> dict[str, "Plain"]:
    from mtcool.live.sockets import ask_host

    try:
        return await asyncio.wait_for(ask_host(network, host, request), wait)
    except TimeoutError:
        return {"error": f"does not answer within {wait:g} seconds"}
    except OSError:
        return {"error": "does not run on this machine"}
