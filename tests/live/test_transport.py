"""What zenoh does with the messages of a host."""

import asyncio
import contextlib
import re
import socket
import time
from pathlib import Path

from live.ports import free_ports
from mtcool.live.certificates import make_certificates
from mtcool.live.transport.lingering import linger_not
from mtcool.live.transport.transport import Reply
from mtcool.live.transport.zenoh import LOOK, Credentials, Peers, ZenohTransport

LONG = bytes(100_000)


def test_long_messages_take_no_way_around_tls(tmp_path: Path) -> None:
    """zenoh would put them into memory that processes of one machine share."""
    ports = free_ports(2)
    places = {name: f"127.0.0.1:{port}" for name, port in zip("ab", ports, strict=True)}
    make_certificates(tmp_path, "test", places)

    def host(me: str, other: str) -> ZenohTransport:
        files = Credentials(
            tmp_path / "authority.pem", tmp_path / f"{me}.pem", tmp_path / f"{me}.key"
        )
        return ZenohTransport(Peers(1, me, places[me], {other: places[other]}, 5.0, files, 1 << 20))

    def echo(host: str, content: bytes, reply: Reply) -> None:
        reply(content)

    async def play() -> tuple[bytes, str]:
        one, two = host("a", "b"), host("b", "a")
        async with contextlib.AsyncExitStack() as stack, asyncio.timeout(60.0):
            for transport in (one, two):
                await transport.open(echo)
                stack.push_async_callback(transport.close)
            while not (replies := await one.ask({"b": LONG}, 1.0)):
                await asyncio.sleep(0.05)
            return replies["b"], Path("/proc/self/maps").read_text()

    reply, mapped = asyncio.run(play())
    assert reply == LONG
    assert not re.search(r"/dev/shm/\d+\.zenoh", mapped)


def test_what_is_too_long_arrives_so_that_it_can_be_refused_in_words(tmp_path: Path) -> None:
    ports = free_ports(2)
    places = {name: f"127.0.0.1:{port}" for name, port in zip("ab", ports, strict=True)}

    def host(me: str, other: str) -> ZenohTransport:
        return ZenohTransport(Peers(1, me, places[me], {other: places[other]}, 5.0, None, 1000))

    def double(host: str, content: bytes, reply: Reply) -> None:
        reply(2 * content)

    async def play() -> bytes:
        one, two = host("a", "b"), host("b", "a")
        async with contextlib.AsyncExitStack() as stack, asyncio.timeout(60.0):
            for transport in (one, two):
                await transport.open(double)
                stack.push_async_callback(transport.close)
            while not (replies := await one.ask({"b": bytes(2000)}, 1.0)):
                await asyncio.sleep(0.05)
            return replies["b"]

    assert asyncio.run(play()) == bytes(4000)


def test_hosts_whose_packets_vanish_keep_nobody_from_those_that_answer() -> None:
    """Each of them was waited for, for five seconds, before the next one was tried."""
    here, there = (f"127.0.0.1:{port}" for port in free_ports(2))

    def echo(host: str, content: bytes, reply: Reply) -> None:
        reply(content)

    async def play(gone: dict[str, str]) -> float:
        one = ZenohTransport(Peers(1, "a", here, gone | {"b": there}, 5.0, None, 1000))
        # The other one does not try to reach us: it knows another address.
        two = ZenohTransport(Peers(1, "b", there, {"a": "127.0.0.1:9"}, 5.0, None, 1000))
        async with contextlib.AsyncExitStack() as stack, asyncio.timeout(60.0):
            await two.open(echo)
            stack.push_async_callback(two.close)
            began = time.monotonic()
            await one.open(echo)
            stack.push_async_callback(one.close)
            while not await one.ask({"b": b"?"}, 1.0):
                await asyncio.sleep(0.05)
            took = time.monotonic() - began
            await asyncio.sleep(1.1 * LOOK)
            ports = [int(address.rpartition(":")[2]) for address in (here, there)]
            assert linger_not(ports[0], ports) == 0  # when they end, nobody waits for that either
            return took

    with contextlib.ExitStack() as stack:
        gone = {}
        for name in ("x", "y"):
            server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
            for _ in range(4):  # its queue is full then, and the system drops what else comes
                caller = stack.enter_context(socket.socket())
                caller.setblocking(False)
                caller.connect_ex(server.getsockname())
            gone[name] = f"127.0.0.1:{server.getsockname()[1]}"
        assert asyncio.run(play(gone)) < 8.0  # of ten
