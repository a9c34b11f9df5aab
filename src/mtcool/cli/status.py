"""`mtcool status`: how the hosts of a live network are."""

import json
import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from mtcool.cli.asking import ask_status
from mtcool.cli.node import NetworkFile
from mtcool.cli.terminal import console, printable, shown, tell

if TYPE_CHECKING:
    from mtcool.types import Plain

MOST_TOLD = 5
"""Hosts that are named while they are waited for."""


def status(
    network: NetworkFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
    wait: Annotated[
        float, typer.Option(min=0.0, help="Seconds to wait until all hosts are well.")
    ] = 0.0,
) -> None:
    """Ask the hosts of a network how they are.

    Hosts on other machines are asked over HTTP, if the file says where and has a token. The exit
    status is 1 if none answers, and with --wait, if not all are well in time.
    """
    from mtcool.live.description import read_description

    described, end = read_description(network), time.monotonic() + wait
    found = ask_status(described)
    told = time.monotonic()
    while wait and (ill := _not_well(found)) and time.monotonic() < end:
        if time.monotonic() - told > 2.0:
            tell("waiting for " + "; ".join(ill[:MOST_TOLD]) + (" ..." if ill[MOST_TOLD:] else ""))
            told = time.monotonic()
        time.sleep(0.5)
        found = ask_status(described)
    if as_json:
        print(json.dumps(found))
    else:
        _show(found)
    if (wait and _not_well(found)) or not any("status" in one for one in found.values()):
        raise typer.Exit(1)


def _not_well(found: dict[str, dict[str, "Plain"]]) -> list[str]:
    """What is wrong with which hosts, in words."""
    healths = {host: _health(told) for host, told in found.items()}
    return [f"{host}: {printable(health)}" for host, health in healths.items() if health != "well"]


def _health(told: dict[str, "Plain"]) -> str:
    """How the agents of a host are, or why it is not known."""
    if "status" not in told:
        return str(told["error"])
    return ", ".join(sorted({agent["health"] for agent in told["status"]["agents"]}))


def _show(found: dict[str, dict[str, "Plain"]]) -> None:
    table = Table(box=box.SIMPLE)
    heads = ("host", "health", "agents", "activations", "outbox", "refused", "positions")
    for head in heads:
        table.add_column(head, overflow="fold")
    trouble: list[str] = []
    for host, told in found.items():
        if "status" not in told:
            table.add_row(*map(_cell, (host, _health(told), *[""] * (len(heads) - 2))))
            continue
        status = told["status"]
        links = status["links"].items()
        positions = ", ".join(f"{name} {link['sent']}/{link['taken']}" for name, link in links)
        cells = (
            host,
            _health(told),
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
