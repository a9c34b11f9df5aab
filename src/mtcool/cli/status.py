"""`mtcool status`: how the hosts of a live network are."""

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from mtcool.cli.asking import ask_hosts
from mtcool.cli.node import NetworkFile
from mtcool.cli.terminal import console, shown

if TYPE_CHECKING:
    from mtcool.types import Plain


def status(
    network: NetworkFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Ask the hosts of a network that run on this machine how they are.

    The exit status is 1 if none runs here.
    """
    from mtcool.live.description import read_description

    found = ask_hosts(read_description(network), {"do": "status"})
    if as_json:
        print(json.dumps(found))
    else:
        _show(found)
    if not any("status" in one for one in found.values()):
        raise typer.Exit(1)


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
