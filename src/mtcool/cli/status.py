"""`mtcool status`: how the hosts of a live network are."""

import json
import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from mtcool.cli.hosts import ask_hosts
from mtcool.cli.node import NetworkFile
from mtcool.cli.terminal import console, printable, shown, tell

if TYPE_CHECKING:
    from mtcool.types import Plain

SLOW = 1.0
"""Seconds after which it is told how long a host has taken."""
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
    from mtcool.live.config import read_description

    described, end = read_description(network), time.monotonic() + wait
    found, revision = ask_hosts(described, "status"), described.file.revision
    told = time.monotonic()
    while wait and (ill := _not_well(found, revision)) and time.monotonic() < end:
        if time.monotonic() - told > 2.0:
            tell("waiting for " + "; ".join(ill[:MOST_TOLD]) + (" ..." if ill[MOST_TOLD:] else ""))
            told = time.monotonic()
        time.sleep(0.5)
        found = ask_hosts(described, "status")
    if as_json:
        print(json.dumps(found))
    else:
        _show(found, revision)
    if (wait and _not_well(found, revision)) or not any("status" in one for one in found.values()):
        raise typer.Exit(1)


def _not_well(found: dict[str, dict[str, "Plain"]], revision: int) -> list[str]:
    """What is wrong with which hosts, in words; the file has this revision."""
    healths = {host: _health(told) for host, told in found.items()}
    ill = [f"{host}: {printable(health)}" for host, health in healths.items() if health != "well"]
    return ill + [f"{host}: revision {other}" for host, other in _others(found, revision).items()]


def _others(found: dict[str, dict[str, "Plain"]], revision: int) -> dict[str, int]:
    """The revisions of hosts that have another one than the file."""
    told = {host: one["status"]["revision"] for host, one in found.items() if "status" in one}
    return {host: other for host, other in told.items() if other != revision}


def _health(told: dict[str, "Plain"]) -> str:
    """How the agents of a host are, or why it is not known."""
    if "status" not in told:
        return str(told["error"])
    return ", ".join(sorted({agent["health"] for agent in told["status"]["agents"]}))


def _show(found: dict[str, dict[str, "Plain"]], revision: int) -> None:
    """The hosts as a table, and what is wrong in sentences; the file has this revision."""
    from mtcool.live.status_schema import refused_in

    table = Table(box=None, padding=(0, 2, 0, 0))  # all of it is read on 80 columns
    heads = (
        *("host", "health", "revision", "release"),
        *("agents", "activations", "outbox", "refused"),
    )
    for head in heads:
        table.add_column(head, overflow="fold")
    trouble: list[str] = []
    for host, told in found.items():
        if "status" not in told:
            table.add_row(*map(_cell, (host, "unknown", *[""] * (len(heads) - 2))))
            trouble.append(f"{host}: {_health(told)}")
            continue
        status = told["status"]
        cells = (
            host,
            _health(told),
            f"{status['revision']}",
            status.get("release") or "unknown",
            f"{len(status['agents']):,}",
            f"{status['activations']:,}",
            f"{status['outbox']:,}",
            f"{status['refused']:,}",
        )
        table.add_row(*map(_cell, cells))
        if told.get("seconds", 0.0) > SLOW:
            trouble.append(f"{host} has taken {told['seconds']:.1f} seconds to answer")
        trouble += [f"{host}: {reason}" for reason in status["trouble"].values()]
        if unwritten := status.get("unwritten"):
            trouble.append(f"{host}: its disk took nothing {unwritten:,} times since it began")
    trouble += [
        f"{host} has revision {other}, and this file {revision}: use `mtcool reload`"
        for host, other in _others(found, revision).items()
    ]
    statuses = {host: told["status"] for host, told in found.items() if "status" in told}
    trouble += [
        f"{host} has refused {other} {count:,} times: {reason}"
        for host, other, reason, count in refused_in(statuses)
    ]
    screen = console()
    screen.print(table)
    for sentence in trouble:
        screen.print(shown(printable(sentence)), markup=False)


def _cell(text: str) -> str:
    """A text of which nothing is taken for markup: another server may have said it."""
    return escape(shown(printable(text)))
