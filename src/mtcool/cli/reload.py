"""`mtcool reload`: a live network reads its file again."""

from typing import TYPE_CHECKING

import typer

from mtcool.cli.hosts import ask_hosts
from mtcool.cli.node import NetworkFile
from mtcool.cli.terminal import printable, shown

if TYPE_CHECKING:
    from mtcool.types import Plain

WAIT = 20.0
"""Seconds that a host has: agents may be many."""


def reload(network: NetworkFile) -> None:
    """Let the hosts of a network read its file again, each the one on its own machine.

    Agents and edges join and leave, and nobody stops. Hosts on other machines are asked over HTTP,
    if the file says where and has a token. Hosts that are new in the file are to be started. The
    exit status is 1 if a host has refused it, was not reached, or has read another revision, or if
    none runs.
    """
    from mtcool.live.config import read_description
    from mtcool.live.http.remote_status import NOT_HERE

    described = read_description(network)
    found, revision = ask_hosts(described, "reload", WAIT), described.file.revision
    for host, reply in found.items():
        print(f"{host}{shown(printable(_sentence(reply, revision)))}")
    down = [host for host, reply in found.items() if reply.get("error") == NOT_HERE]
    done = [
        host
        for host, reply in found.items()
        if "error" not in reply and reply.get("revision", revision) == revision
    ]
    if not done or len(done) + len(down) < len(found):
        raise typer.Exit(1)


def _sentence(reply: dict[str, "Plain"], revision: int) -> str:
    """What has become of a host, after its name."""
    if "error" in reply:
        return f": {reply['error']}"
    if reply.get("revision", revision) != revision:  # hosts of 0.2.0 do not tell it
        return (
            f" has read its own file, which has revision {reply['revision']}: give it this one, "
            f"with revision {revision}, and reload again"
        )
    count = len(reply["agents"])
    return f" has read it, and has {count:,} agent{'s' * (count != 1)} and revision {revision}"
