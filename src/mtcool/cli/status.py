"""`mtcool status`: how the hosts of a live network are."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from mtcool.cli.node import NetworkFile
from mtcool.cli.terminal import console, shown

if TYPE_CHECKING:
    from mtcool.live.description import Description
    from mtcool.types import Plain

WAIT = 2.0
"""Seconds that a host has to answer."""


def status(
    network: NetworkFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Ask the hosts of a network that run on this machine how they are.

    The exit status is 1 if none runs here.
    """
    from mtcool.live.description import read_description

    found = asyncio.run(_ask_all(read_description(network)))
    if as_json:
        print(json.dumps(found))
    else:
        _show(found)
    if not any("status" in one for one in found.values()):
        raise typer.Exit(1)


async def _ask_all(network: "Description") -> dict[str, "Plain"]:
    hosts = list(network.places)
    found = await asyncio.gather(*(_ask(network, host) for host in hosts))
    return dict(zip(hosts, found, strict=True))


async def _ask(network: "Description", host: str) -> dict[str, "Plain"]:
    from mtcool.live.sockets import ask_host

    try:
        return await asyncio.wait_for(ask_host(network, host, {"do": "status"}), WAIT)
    except TimeoutError:
        return {"error": f"does not answer within {WAIT:g} seconds"}
    except OSError:
        return {"error": "does not run on this machine"}


def _show(found: dict[str, "Plain"]) -> None:
    table = Table(box=box.SIMPLE)
    heads = ("host", "health", "agents", "activations", "outbox", "refused", "positions")
    for head in heads:
        table.add_column(head, overflow="fold")
    trouble: list[str] = []
    for host, told in found.items():
        if "status" not in told:
            table.add_row(host, told["error"], *[""] * (len(heads) - 2))
            continue
        one = told["status"]
        health = sorted({agent["health"] for agent in one["agents"]})
        links = one["links"].items()
        positions = ", ".join(f"{name} {link['sent']}/{link['taken']}" for name, link in links)
        table.add_row(
            host,
            ", ".join(health),
            f"{len(one['agents']):,}",
            f"{one['activations']:,}",
            f"{one['outbox']:,}",
            f"{one['refused']:,}",
            positions,
        )
        trouble += [f"{host}: {reason}" for reason in one["trouble"].values()]
        trouble += [
            f"{host} has refused {one['host']} {one['count']:,} times: {one['reason']}"
            for one in one["reasons"]
        ]
    screen = console()
    screen.print(table)
    for sentence in trouble:
        screen.print(shown(sentence), markup=False)
