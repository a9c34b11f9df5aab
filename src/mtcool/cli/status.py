"""`mtcool status`: how the hosts of a live network are."""

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from mtcool.cli.asking import ask_status
from mtcool.cli.node import NetworkFile
from mtcool.cli.terminal import console, printable, shown

if TYPE_CHECKING:
    from mtcool.types import Plain


def status(
    network: NetworkFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Ask the hosts of a network how they are.

    Hosts on other machines are asked over HTTP, if the file says where and has a token. The exit
    status is 1 if none answers.
    """
    from mtcool.live.description import read_description

    found = ask_status(read_description(network))
    if as_json:
        print(json.dumps(found))
    else:
        _show(found)
    if not any("status" in one for one in found.values()):
        raise typer.Exit(1)


def _show(found: dict[str, dict[str, "Plain"]]) -> None:
    table = Table(box=box.SIMPLE)
    heads = ("host", "health", "agents", "activations", "outbox", "refused", "positions")
    for head in heads:
        table.add_column(head, overflow="fold")
    trouble: list[str] = []
    for host, told in found.items():
        if "status" not in told:
            table.add_row(*map(_cell, (host, told["error"], *[""] * (len(heads) - 2))))
            continue
        status = told["status"]
        health = sorted({agent["health"] for agent in status["agents"]})
        links = status["links"].items()
        positions = ", ".join(f"{name} {link['sent']}/{link['taken']}" for name, link in links)
        cells = (
            host,
            ", ".join(health),
            f"{len(status['agents']):,}",
            f"{status['activations']:,}",
            f"{status['outbox']:,}",
            f"{status['refused']:,}",
            positions,
        )
        table.add_row(*map(_cell, cells))
        trouble += [f"{host}: {reason}" for reason in status["trouble"].values()]
        trouble += [
            f"{host} has refused {one['host']} {one['count']:,} times: {one['reason']}"
            for one in status["reasons"]
        ]
    screen = console()
    screen.print(table)
    for sentence in trouble:
        screen.print(shown(printable(sentence)), markup=False)


def _cell(text: str) -> str:
    """A text of which nothing is taken for markup: another server may have said it."""
    return escape(shown(printable(text)))
