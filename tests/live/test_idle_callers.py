"""Callers over HTTP that say nothing, or nonsense, hold up nobody."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import httpx
import pytest

from live.small_network import opened, small
from mtcool.live.http import connection_limits, http_app, serving


def with_url(folder, calls):
    async def run():
        async with (
            opened(small(folder)) as nodes,
            serving(http_app(nodes["host0"]), "127.0.0.1:0") as url,
        ):
            return await calls(url)

    return asyncio.run(run())


async def connections(url, count):
    """Connections that say nothing, one after the other."""
    port = int(url.rpartition(":")[2])
    return [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]


def narrow(url):
    """A connection whose caller has little room for what it does not read."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.connect(("127.0.0.1", int(url.rpartition(":")[2])))
    one.settimeout(60.0)
    return one


def test_connections_that_say_nothing_are_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(connection_limits, "PATIENCE", 0.3)

    async def calls(url):
        opened = await connections(url, 5)
        async with asyncio.timeout(60):
            assert await asyncio.gather(*(reader.read() for reader, _ in opened)) == [b""] * 5
        for _, writer in opened:
            writer.close()

    with_url(tmp_path, calls)


def test_connections_cannot_be_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(connection_limits, "PATIENCE", 3600.0)  # silence closes none
    monkeypatch.setattr(connection_limits, "MOST_CONNECTIONS", 5)

    async def calls(url):
        opened = await connections(url, 9)
        async with asyncio.timeout(60):
            surplus = await asyncio.gather(*(ended(reader) for reader, _ in opened[:4]))
        assert surplus == [b""] * 4
        assert not any(reader.at_eof() for reader, _ in opened[4:])
        async with httpx.AsyncClient(base_url=url) as client:  # who says something is let in
            assert (await client.get("/status")).status_code == 200
        for _, writer in opened:
            writer.close()

    with_url(tmp_path, calls)


async def ended(reader):
    """What comes until the server closes the connection."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while part := await reader.read(1 << 16):
            found += part
    return found


HEAD = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
SCHEMA = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.mark.parametrize(
    "said",
    [[HEAD + b"Content-Length: 100\r\n\r\n["], [SCHEMA, SCHEMA[:20]]],
    ids=["slow body", "slow second request"],
)
def test_who_keeps_a_request_waiting_is_closed(tmp_path, monkeypatch, said):
    monkeypatch.setattr(connection_limits, "PATIENCE", 0.3)

    async def calls(url):
        opened = await connections(url, 4)
        for reader, writer in opened:
            for words in said:
                writer.write(words)
                if words == SCHEMA:
                    await reader.readuntil(b"\r\n\r\n")
        async with asyncio.timeout(60):
            await asyncio.gather(*(ended(reader) for reader, _ in opened))
        for _, writer in opened:
            writer.close()

    with_url(tmp_path, calls)


def test_replies_that_nobody_reads_are_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(connection_limits, "PATIENCE", 0.3)
    asked, closed = 4000, asyncio.Event()
    lost = connection_limits.Impatient.connection_lost

    def noted(connection, error):
        lost(connection, error)
        closed.set()

    monkeypatch.setattr(connection_limits.Impatient, "connection_lost", noted)

    async def calls(url):
        one = narrow(url)
        one.sendall(asked * SCHEMA)
        async with asyncio.timeout(60):
            await closed.wait()
        found = b""
        with contextlib.suppress(ConnectionError):
            while part := one.recv(1 << 16):
                found += part
        assert 0 < found.count(b"HTTP/1.1 200") < asked
        one.close()

    with_url(tmp_path, calls)


def test_a_request_that_takes_long_is_answered(tmp_path, monkeypatch):
    monkeypatch.setattr(connection_limits, "PATIENCE", 0.1)

    async def calls(url):
        async with httpx.AsyncClient(base_url=url, timeout=60.0) as client:
            for _ in range(2):
                row = {"agent": 0, "features": [1.0, 1.0], "timeout": 0.5}
                assert (await client.post("/predict", json=row)).status_code == 200

    async def run():
        async with opened(small(tmp_path)) as nodes:
            nodes["host0"].cut.add("host2")
            nodes["host2"].cut.add("host0")
            nodes["host2"]._take = lambda *given: None
            async with serving(http_app(nodes["host0"]), "127.0.0.1:0") as url:
                await calls(url)

    asyncio.run(run())


@pytest.mark.parametrize("headers", [{"host": "["}, {"origin": "http://["}])
def test_headers_that_are_no_addresses_are_refused(tmp_path, headers):
    async def calls(url):
        async with httpx.AsyncClient(base_url=url) as client:
            assert (await client.get("/status", headers=headers)).status_code == 403

    with_url(tmp_path, calls)
