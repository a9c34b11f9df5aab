"""Who gets in: real zenoh sessions with certificates, wrong ones, and none."""

import asyncio
import json
import time
from collections.abc import Callable

import pytest
import zenoh

from live.ports import free_ports
from mtcool.agents.messages import RowRequest, encode
from mtcool.live import Node
from mtcool.live.certificates import make_certificates
from mtcool.live.description import Description, described
from mtcool.live.transport.zenoh import Credentials, Peers, configuration
from mtcool.live.wire import Ask, Rows, reply_in, to_bytes

WAIT = 1.5  # seconds for an answer that never comes
AGENTS = {"one": ["a"], "two": ["b"], "three": ["c"]}
"""A path: the agent a is a neighbour of b, and b of c."""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Description:
    folder, ports = tmp_path_factory.mktemp("strangers"), free_ports(3)
    found = described(
        {
            "name": "path",
            "graph": {"kind": "edges", "edges": [["a", "b"], ["b", "c"]]},
            "algorithm": {"algorithm": "pairwise", "dim": 1},
            "hosts": {
                name: {"agents": agents, "listen": f"127.0.0.1:{port}"}
                for (name, agents), port in zip(AGENTS.items(), ports, strict=True)
            },
        },
        folder,
    )
    places = {name: place.address for name, place in found.places.items()}
    make_certificates(folder / "certs", "path", places)
    make_certificates(folder / "foreign", "path", places)
    return found


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


def ask(peers: Peers, claimed: str, content: bytes, *, scheme: str | None = None) -> list[bytes]:
    """Open a session, ask the host of agent a in the name of `claimed`, and return the replies."""
    config = configuration(peers)
    config["access_control"] = {"enabled": False}  # an intruder keeps to no rules
    text = json.dumps(config)
    if scheme is not None:
        text = text.replace("tcp/", scheme)
    session = zenoh.open(zenoh.Config.from_json5(text))
    try:
        key = f"mtcool/{peers.network:x}/one/{claimed}"
        found: list[bytes] = []
        for _ in range(3):
            time.sleep(0.3)  # a connection takes a moment
            for reply in session.get(key, payload=content, timeout=WAIT / 3):
                if reply.ok is not None:
                    found.append(reply.ok.payload.to_bytes())
            if found:
                break
        return found
    finally:
        session.close()


async def attacked(
    network: Description, attack: Callable[[], list[bytes]]
) -> tuple[list[bytes], Node]:
    """Run the host of agent a, and let an intruder try."""
    async with Node(network, "one") as node:
        replies = await asyncio.to_thread(attack)
        return replies, node


def question(network: Description, sender: str) -> bytes:
    return to_bytes(Ask(network.number, 0, [("a", encode(RowRequest(sender)))]))


def test_a_neighbour_is_answered(network: Description) -> None:
    peers = peers_of(network, "two", "certs")
    attack = lambda: ask(peers, "two", question(network, "b"))  # noqa: E731
    replies, _ = asyncio.run(attacked(network, attack))
    assert isinstance(reply_in(replies[0]), Rows)


@pytest.mark.parametrize(
    ("name", "certs", "claimed", "sender"),
    [
        ("two", "foreign", "two", "b"),  # a certificate of a foreign authority
        ("three", "certs", "three", "c"),  # a host of the network that is no neighbour
        ("three", "certs", "two", "b"),  # in another's name
        ("two", "certs", "three", "b"),  # a neighbour in another's name
    ],
)
def test_others_are_not(
    network: Description, name: str, certs: str, claimed: str, sender: str
) -> None:
    peers = peers_of(network, name, certs)
    attack = lambda: ask(peers, claimed, question(network, sender))  # noqa: E731
    replies, node = asyncio.run(attacked(network, attack))
    assert replies == []
    assert node.host.version == 0


@pytest.mark.parametrize("scheme", ["tls/", "tcp/"])
def test_nobody_gets_in_without_a_certificate(network: Description, scheme: str) -> None:
    peers = peers_of(network, "two", None)
    attack = lambda: ask(peers, "two", question(network, "b"), scheme=scheme)  # noqa: E731
    try:
        replies, node = asyncio.run(attacked(network, attack))
    except zenoh.ZError:  # TLS without an authority cannot even be set up
        return
    assert replies == []
    assert node.host.version == 0
