"""Callers over HTTP that say nothing, or nonsense, hold up nobody."""

from __future__ import annotations

import asyncio
import contextlib

import httpx
import pytest

from live.small_network import opened, small
from mtcool.live.http import http_app, impatient, serving


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


def test_connections_that_say_nothing_are_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(impatient, "PATIENCE", 0.3)

    async def calls(url):
        opened = await connections(url, 5)
        async with asyncio.timeout(60):
            assert await asyncio.gather(*(reader.read() for reader, _ in opened)) == [b""] * 5
        for _, writer in opened:
            writer.close()

    with_url(tmp_path, calls)


def test_connections_cannot_be_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(impatient, "PATIENCE", 3600.0)  # nobody is closed for saying nothing
    monkeypatch.setattr(impatient, "MOST_CONNECTIONS", 5)

    async def calls(url):
        opened = await connections(url, 9)
        async with asyncio.timeout(60):
            surplus = await asyncio.gather(*(reader.read() for reader, _ in opened[5:]))
        assert surplus == [b""] * 4
        assert not any(reader.at_eof() for reader, _ in opened[:5])
        for _, writer in opened:
            writer.close()
        async with asyncio.timeout(60), httpx.AsyncClient(base_url=url) as client:
            while True:  # until they are closed there, too
                with contextlib.suppress(httpx.TransportError):
                    assert (await client.get("/status")).status_code == 200
                    break
                await asyncio.sleep(0.05)

    with_url(tmp_path, calls)


@pytest.mark.parametrize("headers", [{"host": "["}, {"origin": "http://["}])
def test_headers_that_are_no_addresses_are_refused(tmp_path, headers):
    async def calls(url):
        async with httpx.AsyncClient(base_url=url) as client:
            assert (await client.get("/status", headers=headers)).status_code == 403

    with_url(tmp_path, calls)
