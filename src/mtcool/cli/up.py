"""`mtcool up`: a whole live network on this machine."""

import asyncio
import contextlib
import functools
import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from mtcool.cli.node import NetworkFile
from mtcool.cli.replayed import show_replayed
from mtcool.cli.terminal import is_read, shown, tell

if TYPE_CHECKING:
    from mtcool.live.config import Description
    from mtcool.live.streams import OpenStream
    from mtcool.live.up import Running, UpOutcome

EVERY = 2.0
"""Seconds between two lines where there is no terminal."""


def up(
    network: NetworkFile,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Feed so many rows of the stream, at most.  [default: all of them]"
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Feed the stream from its beginning, also if it was fed before."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    host: Annotated[
        list[str] | None,
        typer.Option(help="Start only this host of the file; may be given again.  [default: all]"),
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Show it in the browser, too.")] = False,
    no_replay: Annotated[
        bool,
        typer.Option("--no-replay", help="Do not play the journals again: after days, it is long."),
    ] = False,
) -> None:
    """Start a live network, one process for each host, and feed it the stream of its file.

    It goes on after the rows that it has fed before. It ends with the stream, after so many rows,
    or with Ctrl-C. Then all journals are played again: the status is 1 if a message was lost or
    taken twice, if anything came out different, or if hosts have stopped because they remember less
    than others.
    """
    tell(f"reading {network}")  # before imports that take seconds
    from mtcool.live.config import read_description

    description = read_description(network).with_journal()
    for name in host or ():
        description.share(name)  # refuses hosts that are not in the file
    outcome = asyncio.run(
        _run(network, description, rounds, host, web, again=again, replay=not no_replay)
    )
    summary = outcome.summary()
    if as_json:
        print(json.dumps(summary))
    else:
        conclude(outcome)
    if not outcome.right:
        raise typer.Exit(1)


async def _run(
    file: Path,
    network: "Description",
    rounds: int | None,
    hosts: list[str] | None,
    web: bool,
    *,
    again: bool,
    replay: bool,
) -> "UpOutcome":
    from mtcool.live.streams import open_stream
    from mtcool.live.up import Running
    from mtcool.live.up.supervisor import make_missing_certificates

    stopped, loop = asyncio.Event(), asyncio.get_running_loop()

    # Whoever closes the output has seen enough: that ends it, as Ctrl-C does.
    say = functools.partial(tell, unread=stopped.set)

    def stop() -> None:
        stopped.set()
        say("stopping")
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)  # a second Ctrl-C ends it at once

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    running = Running(file, network, hosts or list(network.places), say, again=again)
    complain = functools.partial(running.feeder.complaints.tell, "left out")
    source = open_stream(network, rounds, complain)  # first: refuses a file that is wrong
    if not hosts:  # the authority of a network on many machines is made in one place
        made = make_missing_certificates(network)
        if made:
            say(f"certificates are made: {', '.join(made)}")
    async with contextlib.AsyncExitStack() as stack:
        if web:
            from mtcool.live.up.web import on_the_web

            say(f"the page is at {await stack.enter_async_context(on_the_web(running))}")
        return await _shown_in_terminal(running, source, stopped, replay=replay)


async def _shown_in_terminal(
    running: "Running", source: "OpenStream | None", stopped: asyncio.Event, *, replay: bool
) -> "UpOutcome":
    from mtcool.live.up import run_network

    def wanted() -> bool:
        return replay and is_read(sys.stdout)

    screen, total = Console(stderr=True, highlight=False), source and source.total
    if not screen.is_terminal:
        return await run_network(running, source, _lines(total), stopped, wanted)
    with Live(console=screen, auto_refresh=False, transient=True) as live:

        def watch(running: "Running") -> None:
            live.update(_table(running, total), refresh=True)

        return await run_network(running, source, watch, stopped, wanted)


def _lines(total: int | None) -> "Callable[[Running], None]":
    """Shows a network in lines, one every two seconds."""
    last = 0.0

    def watch(running: "Running") -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            running.tell("; ".join(f"{name} {value}" for name, value in _facts(running, total)))

    return watch


def _table(running: "Running", total: int | None) -> Table:
    table = Table(title=f"{running.network.file.name}: {len(running.processes)} hosts", box=None)
    table.add_column(justify="right", style="bold")
    table.add_column()
    for name, value in _facts(running, total):
        table.add_row(shown(name), shown(value))
    return table


def _facts(running: "Running", total: int | None) -> list[tuple[str, str]]:
    tally = running.feeder.tally
    of = "" if total is None else f" of {total:,}"
    counted = running.traffic.total
    outbox = sum(told["outbox"] for told in running.status.values())
    facts = [
        *([("fed before", f"{tally.before:,}")] if tally.before else []),
        ("activations", f"{tally.activations:,}{of}"),
        ("per second", f"{running.per_second:,.0f}"),
    ]
    if tally.counted:
        facts += [
            (name, f"{tally.mean(paid):.5g}")
            for name, paid in (
                ("loss", tally.learned),
                ("alone", tally.alone),
                ("pooled", tally.pooled),
            )
            if paid is not None
        ]
    return [
        *facts,
        ("messages", f"{counted.messages:,}"),
        ("bytes", f"{counted.bytes:,}"),
        ("refused", f"{counted.refused:,}"),
        ("old rows", f"{tally.old + tally.missing:,}"),
        ("outbox", f"{outbox:,}"),
    ]


def conclude(outcome: "UpOutcome") -> None:
    """Print what came of a run."""
    told, again, waiting = outcome.summary(), outcome.replayed, outcome.waiting
    losses = [
        f"{told[name]['loss']:.5g} {words}"
        for name, words in (("learned", "together"), ("alone", "alone"), ("pooled", "pooled"))
        if told[name]["loss"] is not None
    ]
    before = f" after {told['before']:,} rows that were fed before" if told["before"] else ""
    print(
        f"{told['activations']:,} activations{before}, {told['per_second']:,.0f} a second, with "
        f"{told['messages']:,} messages and {told['bytes']:,} bytes between hosts"
    )
    if told["left_out"]:
        print(f"rows that were left out: {told['left_out']:,}")
    if losses:
        print(f"mean loss: {', '.join(losses)}")
    for host, reasons in outcome.trouble.items():
        print(f"host {host} has stopped: {next(iter(reasons.values()))}")
    if again is None or waiting is None:
        print("the journals were not played again: whether anything was lost is not known")
        return
    show_replayed(again, waiting, outcome.refused, "played again: ")
    for name, count in outcome.kept_by_left.items():
        if count:
            print(f"  {count:,} messages of {name}, which has left, are kept until it is back")
