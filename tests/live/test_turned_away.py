"""Real processes count everybody whom zenoh turns away, and nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import struct
import time
from collections import Counter
from pathlib import Path

import pytest

from live.intruding import announced, ask, peers_of, question, without_certificate
from live.ports import free_ports
from live.processes import PATIENCE, Child, running, write_network
from live.proxies import Proxy
from mtcool.live import certificates
from mtcool.live.certificates import make_certificates
from mtcool.live.config import Description, read_description
from mtcool.live.transport.zenoh import Credentials, Peers, ZenohTransport

HOSTS = {"one": ["a"], "two": ["b"], "three": ["c"]}
PATH = {"kind": "edges", "edges": [["a", "b"], ["b", "c"]]}
"""The agent a is a neighbour of b, and b of c."""
SLOW = 0.05  # seconds that bytes are under way
FOREIGN = "it has no certificate of this network's authority"
NO_NEIGHBOUR = "its certificate is not that of a neighbour"
FORBIDDEN = "its certificate does not allow this message"
EXPIRED = "its certificate has expired"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The process of the host of agent a, and that of its neighbour."""
    table = {
        "graph": PATH,
        "algorithm": {"algorithm": "pairwise", "dim": 1, "loss": "squared"},
    }
    file = write_network(tmp_path_factory.mktemp("path"), table, HOSTS)
    network = read_description(file)
    places = {name: place.address for name, place in network.places.items()}
    make_certificates(network.folder / "foreign", "test", places)
    old = network.folder / "old"
    shutil.copytree(network.folder / "certs", old)
    for name in ("two", "three"):
        (old / f"{name}.pem").unlink()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(certificates, "YEARS", -1 / 3650)  # it expired a tenth of a day ago
        make_certificates(old, "test", places)
    with running(file, ["one", "two"]) as children:
        yield network, children


def counted(child) -> Counter:
    """Who was refused, and why."""
    reasons = child.ask(do="status")["status"]["reasons"]
    return Counter({(one["host"], one["reason"]): one["count"] for one in reasons})


def settled(child) -> Counter:
    """The same, when nothing comes any more of those who were refused before."""
    now, end = counted(child), time.monotonic() + PATIENCE
    while True:
        time.sleep(0.2)
        before, now = now, counted(child)
        if before == now:
            return now
        assert time.monotonic() < end


def test_a_healthy_network_turns_nobody_away(path) -> None:
    _, children = path
    for k in range(30):
        name, agent = [("one", "a"), ("two", "b")][k % 2]
        said = children[name].ask(do="round", agent=agent, features=[0.1 * k], target=0.2)
        assert "value" in said
    assert children["one"].ask(do="delivered", timeout=60.0)["delivered"]
    assert counted(children["one"]) == counted(children["two"]) == Counter()


@pytest.mark.parametrize("tls", [True, False])
def test_neighbours_that_ask_while_connections_are_opened_are_not_turned_away(
    tmp_path: Path, tls: bool
) -> None:
    """zenoh tries each question on every connection that is not quite open yet."""

    async def play() -> None:
        ports = free_ports(len(HOSTS))
        proxies = [Proxy(port, SLOW) for port in ports]
        try:
            hosts = {
                name: {
                    "agents": HOSTS[name],
                    "listen": f"127.0.0.1:{port}",
                    "address": f"127.0.0.1:{await proxy.open()}",
                }
                for name, port, proxy in zip(HOSTS, ports, proxies, strict=True)
            }
            table = {"graph": PATH, "learn": {"features": ["x"]}, "security": {"tls": tls}}
            file = write_network(tmp_path, table | {"hosts": hosts}, HOSTS)
            await asyncio.to_thread(begin, file)
        finally:
            for proxy in proxies:
                await proxy.close()

    def begin(file: Path) -> None:
        with running(file, ["two"]) as children, contextlib.ExitStack() as late:
            middle = children["two"]
            for name in ("one", "three"):
                children[name] = Child(file, name)
                late.callback(children[name].end)
            reached, end = False, time.monotonic() + PATIENCE
            while not reached:  # the others begin meanwhile
                assert time.monotonic() < end
                said = middle.ask(do="predict", agent="b", features=[0.1])
                reached = not said["old"] and not said["missing"]
            time.sleep(4 * SLOW)  # what is under way arrives
            for name in ("one", "three"):
                children[name].wait_until_ready()
            found = {name: counted(child) for name, child in children.items()}
            assert found == {name: Counter() for name in HOSTS}

    asyncio.run(play())


@pytest.mark.parametrize(
    ("name", "certs", "claimed", "sender", "reason"),
    [
        ("two", "foreign", "two", "b", FOREIGN),
        ("two", None, "two", "b", FOREIGN),
        ("two", "old", "two", "b", EXPIRED),
        ("three", "certs", "three", "c", NO_NEIGHBOUR),
        ("two", "certs", "three", "b", FORBIDDEN),
    ],
    ids=["foreign authority", "no certificate", "expired", "no neighbour", "in another's name"],
)
def test_intruders_are_counted_with_the_reason(
    path: tuple[Description, dict],
    name: str,
    certs: str | None,
    claimed: str,
    sender: str,
    reason: str,
) -> None:
    network, children = path
    before, peers = settled(children["one"]), peers_of(network, name, certs)
    config = None
    if certs is None:
        config = without_certificate(peers, Path(network.folder) / "certs" / "authority.pem")
    end, news = time.monotonic() + PATIENCE, Counter()
    while not news["(stranger)", reason]:  # until it has come so far that it was turned away
        assert time.monotonic() < end
        assert ask(peers, claimed, question(network, sender), config) == []
        news = counted(children["one"]) - before
    assert {host for host, _ in news} == {"(stranger)"}
    assert "value" in children["one"].ask(do="predict", agent="a", features=[0.3])


def test_each_message_that_a_neighbour_may_not_send_is_counted(path) -> None:
    network, children = path
    before, end = settled(children["one"]), time.monotonic() + PATIENCE
    peers = peers_of(network, "two", "certs")
    with announced(peers, f"mtcool/{network.number:x}/three/one"):
        while (news := counted(children["one"]) - before).total() < 3:
            assert time.monotonic() < end
            time.sleep(0.05)
    assert set(news) == {("(stranger)", FORBIDDEN)}  # zenoh may say something twice


def test_connections_that_end_before_they_are_open_are_no_strangers(path) -> None:
    """Somebody has died, was cut off, or only looks whether the port is open."""
    network, children = path
    before = settled(children["one"])
    name, _, port = network.places["one"].address.rpartition(":")
    for begun in (b"", b"\x16\x03\x01\x02\x00\x01"):
        for reset in (False, True):
            with socket.create_connection((name, int(port))) as caller:
                caller.sendall(begun)
                if reset:
                    now = struct.pack("ii", 1, 0)
                    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
    with socket.create_connection((name, int(port))) as caller:
        caller.sendall(b"GET / HTTP/1.1\r\n\r\n")
        caller.recv(100)
    end = time.monotonic() + PATIENCE
    while not (news := counted(children["one"]) - before):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert news == {("(stranger)", "it does not speak TLS"): 1}


@pytest.mark.parametrize(
    ("certs", "authority", "whose", "reason"),
    [
        ("old", "certs", "reasons", EXPIRED),
        ("certs", "foreign", "denied", "the certificate that was shown is not accepted"),
    ],
    ids=["expired", "other authority"],
)
def test_who_is_connected_to_and_refuses_or_is_refused_is_named(
    path, certs: str, authority: str, whose: str, reason: str
) -> None:
    """Host two connects to host three, which is not what it should be."""
    network, children = path
    folder, other = Path(network.folder), network.places["three"].address

    async def refuse() -> None:
        files = (
            folder / authority / "authority.pem",
            *(folder / certs / f"three.{end}" for end in ("pem", "key")),
        )
        # It does not try to reach anybody itself.
        peers = Peers(
            network.number, "three", other, {"two": "127.0.0.1:9"}, 5.0, Credentials(*files), 1000
        )
        transport = ZenohTransport(peers)
        await transport.open(lambda host, content, reply: None)
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    status = await asyncio.to_thread(children["two"].ask, do="status")
                    for one in status["status"][whose]:
                        if (one["host"], one["reason"]) == ("three", reason):
                            return
                    await asyncio.sleep(0.1)
        finally:
            await transport.close()

    asyncio.run(refuse())
