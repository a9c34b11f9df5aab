"""`mtcool prune`: journals of a live run without what is long past."""

from pathlib import Path
from typing import Annotated

import typer

from mtcool.cli.terminal import tell


def prune(
    journals: Annotated[list[Path], typer.Argument(help="Databases of hosts: state/*.db.")],
) -> None:
    """Put a snapshot in place of the journal of each host, which must not run meanwhile.

    Hosts go on as if nothing had happened, and replays begin with the snapshots: what was before
    can be played again no more.
    """
    from mtcool.live.journals import check_not_running, prune_journal

    for path in journals:
        check_not_running(path)
    for path in journals:
        pruned = prune_journal(path, tell)
        print(
            f"{path}: {pruned.entries:,} entries are pruned, which gives back "
            f"{max(0, pruned.bytes):,} bytes; replays begin after round {pruned.rounds:,}"
        )
