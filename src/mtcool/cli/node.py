"""`mtcool node`: one process of a live network."""

from pathlib import Path
from typing import Annotated

import typer

from mtcool.cli.errors import MAY_PASS, NOT_THERE, end
from mtcool.cli.terminal import tell

NetworkFile = Annotated[Path, typer.Argument(metavar="NETWORK", help="A network file in TOML.")]


def node(
    network: NetworkFile,
    host: Annotated[
        str | None, typer.Option(help="Which host of the file this is.  [default: the only one]")
    ] = None,
    lines: Annotated[
        bool,
        typer.Option("--lines", help="Speak JSON lines on standard input and output."),
    ] = False,
    journal: Annotated[
        bool, typer.Option("--journal", help="Write a journal, whatever the file says.")
    ] = False,
    web: Annotated[
        bool, typer.Option("--web", help="Show this host in the browser, at its `http`.")
    ] = False,
) -> None:
    """Run one host of a live network, until a signal or a request stops it.

    It goes on from what is in its state folder, and its neighbours give it what it has missed. The
    exit status is 1 if it should be tried again, because the disk is full or an address is taken,
    and 2 if something must be changed first.
    """
    if not lines:  # before imports that take seconds
        tell(f"host {host} begins" if host else f"the host of {network} begins")
    import asyncio

    from mtcool.live.config import Description, read_description
    from mtcool.live.logs import log_to
    from mtcool.live.serving import serve
    from mtcool.live.transport.turned_away import listen

    def read() -> Description:
        description = read_description(network)
        return description.with_journal() if journal else description

    log_to()
    listen()
    try:
        asyncio.run(serve(read, host, lines=lines, tell=tell, web=web))
    except NOT_THERE as error:
        end(error)
    except (OSError, MemoryError) as error:
        end(error, MAY_PASS)
