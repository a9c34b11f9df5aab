"""`mtcool reload`: a live network reads its file again."""

import typer

from mtcool.cli.asking import ask_hosts
from mtcool.cli.node import NetworkFile
from mtcool.cli.terminal import shown

WAIT = 20.0
"""Seconds that a host has: agents may be many."""


def reload(network: NetworkFile) -> None:
    """Let the hosts of a network that run on this machine read its file again.

    Agents and edges join and leave, and nobody stops. Hosts that are new in the file are to be
    started. The exit status is 1 if a host has refused it, or none runs here.
    """
    from mtcool.live.description import read_description

    found = ask_hosts(read_description(network), {"do": "reload"}, WAIT)
    for host, reply in found.items():
        if "agents" in reply:
            print(f"{host} has read it, and has {len(reply['agents']):,} agents")
        else:
            print(f"{host}: {shown(reply['error'])}")
    if not any("agents" in reply for reply in found.values()) or any(
        "id" in reply and "error" in reply for reply in found.values()
    ):
        raise typer.Exit(1)
