"""`mtcool watch`: a running live network in the browser."""

from typing import Annotated

import typer

from mtcool.cli.node import NetworkFile
from mtcool.cli.terminal import tell


def watch(
    network: NetworkFile,
    listen: Annotated[
        str, typer.Option(help="Where the page is; beyond this machine it wants a token.")
    ] = "127.0.0.1:8765",
) -> None:
    """Show a running live network in the browser, on this or on many machines.

    Hosts are asked over HTTP, so each must have an `http` in the file. They do nothing else for it.
    """
    import asyncio

    from mtcool.live.config import read_description
    from mtcool.live.page.viewer import view

    asyncio.run(view(read_description(network), listen, tell))
