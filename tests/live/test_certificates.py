"""Who gets in: real zenoh sessions with certificates, wrong ones, and none."""

import asyncio
import datetime
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from live.intruding import answering, ask, peers_of, question, without_certificate
from live.ports import free_ports
from mtcool.cli.certs import certs
from mtcool.live import Node, certificates
from mtcool.live.certificates import make_certificates
from mtcool.live.config import Description, described
from mtcool.live.wire import RowReplies, reply_in

AGENTS = {"one": ["a"], "two": ["b"], "three": ["c"]}
"""A path: the agent a is a neighbour of b, and b of c."""


def path_of(folder: Path, ports: list[int]) -> Description:
    return described(
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


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Description:
    folder = tmp_path_factory.mktemp("strangers")
    found = path_of(folder, free_ports(3))
    places = {name: place.address for name, place in found.places.items()}
    make_certificates(folder / "certs", "path", places)
    make_certificates(folder / "foreign", "path", places)
    return found


def neighbour(network: Description) -> list[bytes]:
    """What the neighbour is answered, who may ask."""
    return ask(peers_of(network, "two", "certs"), "two", question(network, "b"))


async def attacked(
    network: Description, attack: Callable[[], list[bytes]]
) -> tuple[list[bytes], Node]:
    """Run the host of agent a, and let an intruder try, who has as much time as a neighbour needs.

    On a busy machine neither of them may come through: both try until the neighbour is answered.
    """
    async with Node(network, "one") as node, asyncio.timeout(60.0):
        while True:
            replies = await asyncio.to_thread(attack)
            answers = await asyncio.to_thread(neighbour, network)
            if replies or answers:
                return replies, node


def test_a_neighbour_is_answered(network: Description) -> None:
    replies, _ = asyncio.run(attacked(network, lambda: neighbour(network)))
    assert isinstance(reply_in(replies[0]), RowReplies)


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


@pytest.mark.parametrize("knows_the_authority", [True, False])
def test_nobody_gets_in_without_a_certificate(
    network: Description, knows_the_authority: bool
) -> None:
    peers, config = peers_of(network, "two", None), None
    if knows_the_authority:
        config = without_certificate(peers, network.folder / "certs" / "authority.pem")
    attack = lambda: ask(peers, "two", question(network, "b"), config)  # noqa: E731
    replies, node = asyncio.run(attacked(network, attack))
    assert replies == []
    assert node.host.version == 0


def test_the_files_that_each_host_needs_are_printed_with_graph_and_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "roads.csv").write_text("a,b\n")
    (tmp_path / "net.toml").write_text(
        'name = "path"\ngraph = {kind = "file", path = "roads.csv"}\nlearn = {features = ["x"]}\n'
        'security = {token = "token"}\n'
        '[hosts.one]\nagents = ["a"]\nlisten = "127.0.0.1:9"\nhttp = "0.0.0.0:8"\n'
        '[hosts.two]\nagents = ["b"]\nlisten = "127.0.0.1:10"\n'
    )
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        certs(Path("net.toml"))
        said = capsys.readouterr().out.splitlines()
        assert said[1:] == [
            f"host {host} needs net.toml, certs/authority.pem, roads.csv, token, certs/{host}.pem, "
            f"certs/{host}.key"
            for host in ("one", "two")
        ]


@pytest.mark.parametrize(
    ("name", "days", "words"),
    [
        ("one", (-9.0, -2.0), r"one\.pem, which expired on \d{4}-\d\d-\d\d: remove it"),
        ("one", (2.0, 9.0), r"one\.pem, which is not valid before .*: is the clock"),
        ("authority", (-9.0, -2.0), r"authority\.pem, which expired on"),
        ("two", (-9.0, 9.0), r"certificate must name host 'one', got one of 'two' in "),
    ],
    ids=["expired", "not yet valid", "authority", "another's"],
)
def test_a_host_does_not_begin_with_a_certificate_that_nobody_accepts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    days: tuple[float, float],
    words: str,
) -> None:
    """It says why, before it is turned away."""
    certs, own = tmp_path / "certs", "one" if name == "two" else name
    make, now = certificates._builder, datetime.datetime.now(datetime.UTC)

    def dated(*whose: Any) -> x509.CertificateBuilder:
        builder = make(*whose)
        if whose[0].rfc4514_string() in (f"CN={name}", f"CN=mtcool {name}"):
            first, last = (now + datetime.timedelta(days=day) for day in days)
            builder._not_valid_before, builder._not_valid_after = first, last
        return builder

    monkeypatch.setattr(certificates, "_builder", dated)
    make_certificates(certs, "authority", dict.fromkeys(AGENTS, "127.0.0.1:1"))
    if own != name:
        for end in ("pem", "key"):
            shutil.copy2(certs / f"{name}.{end}", certs / f"{own}.{end}")

    async def begin() -> None:
        async with Node(path_of(tmp_path, free_ports(3)), "one"):
            pass

    with pytest.raises(ValueError, match=words):
        asyncio.run(begin())


def test_who_answers_under_anothers_name_is_neither_asked_nor_believed(
    network: Description,
) -> None:
    """At the place of host two, with the certificate of host three; host two has as much time."""

    async def asked(name: str, seconds: float) -> tuple[list[bytes], int]:
        listener = peers_of(network, name, "certs")._replace(listen=network.places["two"].address)
        heard: list[bytes] = []
        end = time.monotonic() + seconds
        async with Node(network, "one") as node:
            with answering(listener, "two", heard):
                while not node.host.refused and time.monotonic() < end:
                    await node.predict("a")
                    await asyncio.sleep(0.05)
            return heard, sum(node.host.refused.values())

    begun = time.monotonic()
    heard, refused = asyncio.run(asked("two", 60.0))
    assert heard
    assert refused > 0
    assert asyncio.run(asked("three", 2.0 * (time.monotonic() - begun))) == ([], 0)
