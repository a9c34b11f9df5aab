"""Ask the hosts of a live network: those of this machine over their sockets."""

import asyncio
from typing import TYPE_CHECKING

from mtcool.cli.terminal import tell

if TYPE_CHECKING:
    from mtcool.live.description import Description
    from mtcool.types import Plain

WAIT = 2.0
"""Seconds that a host has to answer."""
QUIET = 2.5
"""Seconds after which people who wait are told that it goes on."""
NOT_HERE = "does not run on this machine"


def ask_hosts(
    network: "Description", request: dict[str, "Plain"], wait: float = WAIT
) -> dict[str, dict[str, "Plain"]]:
    """What each host of this machine replies, or an error if it does not."""
    found = asyncio.run(_ask_all(network, request, wait))
    return {host: {"error": NOT_HERE} if told is None else told for host, told in found.items()}


def ask_status(network: "Description") -> dict[str, dict[str, "Plain"]]:
    """How each host of a network is; those that do not run here are asked over HTTP."""

    async def ask() -> dict[str, dict[str, "Plain"]]:
        found = await _ask_all(network, {"do": "status"}, WAIT)
        missing = [host for host, told in found.items() if told is None]
        answers: list[dict[str, Plain]] = []
        if missing:
            from mtcool.live.http.elsewhere import ask_elsewhere

            asked = (ask_elsewhere(network, host, WAIT) for host in missing)
            answers = await asyncio.gather(*asked)
        there = dict(zip(missing, answers, strict=True))
        return {host: there[host] if told is None else told for host, told in found.items()}

    return asyncio.run(ask())


async def _ask_all(
    network: "Description", request: dict[str, "Plain"], wait: float
) -> dict[str, dict[str, "Plain"] | None]:
    """What each host replies; None for those that do not run here."""
    asked = {
        host: asyncio.create_task(_ask(network, host, request, wait)) for host in network.places
    }
    waiting = set(asked.values())
    while waiting:
        _, waiting = await asyncio.wait(waiting, timeout=QUIET)
        if waiting:
            done = len(asked) - len(waiting)
            tell(f"{done} of {len(asked)} hosts have answered; each has {wait:g} seconds")
    return {host: task.result() for host, task in asked.items()}


async def _ask(
    network: "Description", host: str, request: dict[str, "Plain"], wait: float
) -> dict[str, "Plain"] | None:
    from mtcool.live.sockets import ask_host

    try:
        return await asyncio.wait_for(ask_host(network, host, request), wait)
    except TimeoutError:
        return {"error": f"does not answer within {wait:g} seconds"}
    except OSError:
        return None
