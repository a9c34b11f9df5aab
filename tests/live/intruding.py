"""Intruders: zenoh sessions with a right certificate, a wrong one or none, that keep no rules."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import zenoh

from live.ports import free_ports
from mtcool.agents.messages import RowRequest, encode
from mtcool.live.config import Description
from mtcool.live.transport.zenoh import Credentials, Peers, configuration
from mtcool.live.wire import Ask, to_bytes

WAIT = 0.5  # seconds for an answer that never comes


def peers_of(network: Description, name: str, certs: str | None) -> Peers:
    """A session that calls itself `name` and wants to talk to the host of agent a."""
    credentials = None
    if certs is not None:
        folder = network.folder / certs
        credentials = Credentials(
            folder / "authority.pem", folder / f"{name}.pem", folder / f"{name}.key"
        )
    (port,) = free_ports(1)
    others = {"one": network.places["one"].address}
    return Peers(network.number, name, f"127.0.0.1:{port}", others, 5.0, credentials, 1 << 20)


def without_certificate(peers: Peers, authority: Path) -> dict[str, object]:
    """The session of somebody who knows the authority and has no certificate of it."""
    config = configuration(peers)
    (address,) = peers.others.values()
    config["listen"] = {"endpoints": []}
    config["connect"] |= {"endpoints": [f"tls/{address}"]}
    tls = {"root_ca_certificate": str(authority), "verify_name_on_connect": False}
    config["transport"]["link"] |= {"tls": tls}
    return config


def ask(
    peers: Peers, claimed: str, content: bytes, config: dict[str, object] | None = None
) -> list[bytes]:
    """Open a session, ask the host of agent a in the name of `claimed`, and return the replies.

    On a busy machine it may close before it was heard: whoever counts on that asks again.
    """
    with asking(peers, claimed, config) as question:
        time.sleep(0.3)  # a connection takes a moment
        return question(content, WAIT)


@contextlib.contextmanager
def asking(
    peers: Peers, claimed: str, config: dict[str, object] | None = None
) -> Iterator[Callable[[bytes, float], list[bytes]]]:
    """Open a session; what it gives asks the host of agent a, and returns the replies."""
    config = configuration(peers) if config is None else config
    config["access_control"] = {"enabled": False}  # an intruder keeps to no rules
    session = zenoh.open(zenoh.Config.from_json5(json.dumps(config)))
    key = f"mtcool/{peers.network:x}/one/{claimed}"

    def question(content: bytes, wait: float) -> list[bytes]:
        replies = session.get(key, payload=content, timeout=wait)
        return [reply.ok.payload.to_bytes() for reply in replies if reply.ok is not None]

    try:
        yield question
    finally:
        session.close()


@contextlib.contextmanager
def announced(peers: Peers, key: str) -> Iterator[None]:
    """A session that announces at this key all that one can be asked for or told."""
    config = configuration(peers)
    config["access_control"] = {"enabled": False}
    with (
        zenoh.open(zenoh.Config.from_json5(json.dumps(config))) as session,
        session.declare_queryable(key),
        session.declare_subscriber(key),
        session.liveliness().declare_token(key),
    ):
        yield


@contextlib.contextmanager
def answering(peers: Peers, name: str, heard: list[bytes]) -> Iterator[None]:
    """A session that answers what the host of agent a asks host `name`, with what is no reply."""
    config = configuration(peers)
    config["access_control"] = {"enabled": False}

    def answer(query: zenoh.Query) -> None:
        heard.append(query.payload.to_bytes() if query.payload is not None else b"")
        query.reply(query.key_expr, b"no reply")

    with (
        zenoh.open(zenoh.Config.from_json5(json.dumps(config))) as session,
        session.declare_queryable(f"mtcool/{peers.network:x}/{name}/one", answer),
        session.declare_queryable("**", answer),
    ):
        yield


def question(network: Description, sender: str) -> bytes:
    return to_bytes(Ask(network.number, 0, [("a", encode(RowRequest(sender)))]))
