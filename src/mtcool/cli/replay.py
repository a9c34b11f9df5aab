"""`mtcool replay`: play a live run again, and compare."""

import json
from pathlib import Path
from typing import Annotated

import typer

from mtcool.cli.terminal import tell

MOST_SHOWN = 10
COUNTED = (
    "predictions", "same", "learned", "messages", "waiting", "lost", "twice", "refused",
)  # fmt: skip


def replay(
    journals: Annotated[list[Path], typer.Argument(help="Databases of hosts: state/*.db.")],
    network: Annotated[
        Path | None,
        typer.Option(help="The network file.  [default: as it is kept in the databases]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Play the journals of a live network again, in the simulator's own agents.

    Every prediction must come out the same bit for bit, every message must have been taken once and
    in order, and every row must be the one that was said. The status is 1 if anything is not so.
    """
    from mtcool.live.description import read_description
    from mtcool.live.journals import replay_files

    description = None if network is None else read_description(network)
    found = replay_files(journals, description, tell)
    wrong = bool(found.differences or found.lost or found.twice)
    if as_json:
        shown = (
            "predictions",
            "same",
            "learned",
            "messages",
            "waiting",
            "lost",
            "twice",
            "refused",
        )
        told = {name: getattr(found, name) for name in shown}
        print(json.dumps(told | {"differences": found.differences}))
    else:
        print(
            f"{found.same:,} of {found.predictions:,} predictions came out the same bit for bit; "
            f"{found.messages:,} messages were taken, {found.waiting:,} wait, {found.lost:,} are "
            f"lost, {found.twice:,} were taken twice, {found.refused:,} were refused"
        )
        for sentence in found.differences[:MOST_SHOWN]:
            print(f"  {sentence}")
        if len(found.differences) > MOST_SHOWN:
            print(f"  ... and {len(found.differences) - MOST_SHOWN:,} more differences")
    if wrong:
        raise typer.Exit(1)
