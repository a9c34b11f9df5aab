"""`mtcool replay`: play a live run again, and compare."""

import json
from pathlib import Path
from typing import Annotated

import typer

from mtcool.cli.replayed import replayed_as_json, show_replayed
from mtcool.cli.terminal import tell


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
    in order, every row must be the one that was said, and every agent must have become what is kept
    of it. The status is 1 if anything is not so.
    """
    from mtcool.live.config import read_description
    from mtcool.live.journals import replay_files

    description = None if network is None else read_description(network)
    found = replay_files(journals, description, tell)
    if as_json:
        print(json.dumps(replayed_as_json(found)))
    else:
        show_replayed(found, found.waiting, found.refused)
    if found.differences or found.lost or found.twice:
        raise typer.Exit(1)
