"""Callers over HTTP that do not know the token take no memory, and hold no door shut."""

from __future__ import annotations

import asyncio
import contextlib

import httpx
import pytest

from live.small_network import opened, small
from mtcool.live.http import connection_limits, gate, http_app, serving

TOKEN = "correct horse battery staple"
CHUNK = b"10000\r\n" + b"x" * 65536 + b"\r\n"
MEGABYTES = 32


def with_port(folder, calls):
    """Let `calls` talk to a node that wants a token, at a port."""

    async def run():
        async with (
            opened(small(folder)) as nodes,  # which may compile for a minute
            serving(http_app(nodes["host0"]), "127.0.0.1:0", TOKEN) as url,
            asyncio.timeout(60),
        ):
            return await calls(int(url.rpartition(":")[2]))

    return asyncio.run(run())


def head(line, *headers):
    return "\r\n".join((line, "Host: 127.0.0.1", *headers, "", "")).encode()


FORM = head("GET / HTTP/1.1", "Accept: text/html")
HALF = b"GET / HTTP/1.1\r\nHos"
CHUNKED = "Transfer-Encoding: chunked"
KNOWN = f"Authorization: Bearer {TOKEN}"


@pytest.mark.parametrize(
    "asked",
    [
        head("GET /enter HTTP/1.1", CHUNKED),
        head("DELETE /enter HTTP/1.1", f"Content-Length: {MEGABYTES << 20}"),
        head("POST /enter HTTP/1.1", CHUNKED),
        head("POST /enter HTTP/1.1", f"Content-Length: {1 << 20}"),
        head("POST /learn HTTP/1.1", "Content-Length: 5", CHUNKED, KNOWN),
    ],
)
def test_what_is_not_allowed_is_not_read(tmp_path, monkeypatch, asked):
    read = 0
    body = gate._body

    async def counted(receive, *most):
        async def received():
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            return message

        return await body(received, *most)

    monkeypatch.setattr(gate, "_body", counted)

    async def calls(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked)
        with pytest.raises(ConnectionError):  # noqa: PT012 (it is refused somewhere in between)
            for _ in range(MEGABYTES * 16):
                writer.write(CHUNK)
                await writer.drain()
        assert read <= 1 << 18  # what uvicorn has in its hands, and not the whole of it
        del reader
        writer.close()

    with_port(tmp_path, calls)


@pytest.mark.parametrize(
    "said",
    [
        [head("POST /enter HTTP/1.1", "Content-Length: 100") + b"x"],
        [FORM, HALF],
        [head("GET /status HTTP/1.1"), HALF],
        [head("POST /enter HTTP/1.1", "Content-Length: 5") + b"token", HALF],
    ],
)
def test_callers_without_a_token_hold_nobody_up(tmp_path, monkeypatch, said):
    monkeypatch.setattr(connection_limits, "PATIENCE", 2.0)  # enough for four to say all they want
    monkeypatch.setattr(connection_limits, "MOST_CONNECTIONS", 4)

    async def calls(port):
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
        for reader, writer in held:
            for number, words in enumerate(said):
                writer.write(words)
                if number < len(said) - 1:
                    await reader.readuntil(b"\r\n\r\n")
        for reader, writer in held:
            with contextlib.suppress(ConnectionError):
                await reader.read()  # to its end
            writer.close()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(headers=headers) as client:
            for _ in range(2):  # who knows the token stays
                answer = await client.get(f"http://127.0.0.1:{port}/status")
                assert answer.status_code == 200
                assert "connection" not in answer.headers

    with_port(tmp_path, calls)


def test_the_form_is_shown_at_the_door_as_everywhere(tmp_path):
    async def calls(port):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            for path in ("/", "/enter"):
                asked = await client.get(path, headers={"accept": "text/html"})
                assert (asked.status_code, asked.headers["connection"]) == (401, "close")
                assert "<form" in asked.text
            right = await client.post("/enter", data={"token": TOKEN})
            assert (right.status_code, right.headers["connection"]) == (303, "close")

    with_port(tmp_path, calls)
