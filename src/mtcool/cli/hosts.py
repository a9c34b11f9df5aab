"""Ask the hosts of a live network: those of this machine over their sockets, others over HTTP."""

import asyncio
import time
from typing import TYPE_CHECKING, Literal

from mtcool.cli.terminal import tell

if TYPE_CHECKING:
    from mtcool.live.config import Description
    from mtcool.types import Plain

WAIT = 5.0
"""Seconds that a host has for a sign of life."""
QUIET = 2.5
"""Seconds after which people who wait are told that it goes on."""


def ask_hosts(
    network: "Description", do: Literal["status", "reload"], wait: float = WAIT
) -> dict[str, dict[str, "Plain"]]:
    """What each host replies, and after how many seconds, or an error that says why it does not."""
    from mtcool.live.sockets import socket_of

    if not all(socket_of(network, host).exists() for host in network.places):
        import mtcool.live.http.remote_status  # noqa: F401  # takes a second, in which nobody is heard
    return asyncio.run(_ask_all(network, do, wait))


async def _ask_all(
    network: "Description", do: Literal["status", "reload"], wait: float
) -> dict[str, dict[str, "Plain"]]:
    asked = {host: asyncio.create_task(_ask(network, host, do, wait)) for host in network.places}
    waiting = set(asked.values())
    while waiting:
        _, waiting = await asyncio.wait(waiting, timeout=QUIET)
        if waiting:
            done = len(asked) - len(waiting)
            tell(f"{done} of {len(asked)} hosts have answered; each has {wait:g} seconds")
    return {host: task.result() for host, task in asked.items()}


async def _ask(
    network: "Description", host: str, do: Literal["status", "reload"], wait: float
) -> dict[str, "Plain"]:
    from mtcool.live.sockets import ask_host

    began = time.monotonic()
    try:
        told = await asyncio.wait_for(ask_host(network, host, {"do": do}), wait)
    except TimeoutError:
        return {"error": f"its process does not answer within {wait:g} seconds"}
    except OSError:
        from mtcool.live.http.remote_status import ask_elsewhere

        told = await ask_elsewhere(network, host, wait, do)
    return told if "error" in told else {**told, "seconds": time.monotonic() - began}
