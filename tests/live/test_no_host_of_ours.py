"""What another server says where a host was is no status, or it is shown as plain text."""

from __future__ import annotations

import asyncio
import contextlib
import json
import zlib

import pytest

from live.ports import free_ports
from mtcool.cli.status import _show
from mtcool.live.config import described
from mtcool.live.http import client
from mtcool.live.http.remote_status import ask_elsewhere
from mtcool.live.page.watching import of_urls

AGENT = {
    "agent": "a", "activations": 1, "loss": None, "alone": None, "counted": 0,
    "neighbours": [], "privacy": None,
}  # fmt: skip
LINK = {"outbox": 0, "answers": True, "sent": 0, "taken": 0, "trouble": None, "bytes": 0}


def status(health="well", name="rome", reason="it is late"):
    return {
        "host": "x", "network": "n", "revision": 0, "release": name, "began": 0.0, "activations": 1,
        "agents": [AGENT | {"health": health}],
        "links": {name: LINK}, "outbox": 0, "refused": 1,
        "reasons": [{"host": name, "reason": reason, "count": 1}], "denied": [],
        "trouble": {name: reason},
        "messages": {"sent": {}}, "bytes": {"sent": {}}, "old": 0, "missing": 0, "unwritten": 0,
        "latency": {kind: {"steps": {}} for kind in ("predict", "learn")},
    }  # fmt: skip


def asked(body, headers=""):
    """What `mtcool status` and the page make of a server that says this."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            head = f"HTTP/1.1 200 OK\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode())
            writer.write(body)
            await writer.drain()
        writer.close()

    async def run():
        port, other = free_ports(2)
        hosts = {"x": {"agents": ["a", "b"], "listen": f"127.0.0.1:{other}"}}
        hosts["x"]["http"] = f"127.0.0.1:{port}"
        graph = {"kind": "edges", "edges": [["a", "b"]]}
        table = {"name": "n", "learn": {"features": ["x"]}, "graph": graph, "hosts": hosts}
        async with await asyncio.start_server(answer, "127.0.0.1", port):
            told = await ask_elsewhere(described(table), "x", 30)
            source = of_urls({"x": f"http://127.0.0.1:{port}"})
            async with source:
                seen = await source()
        return told, seen["x"]

    return asyncio.run(run())


def test_a_status_is_a_status():
    told, seen = asked(json.dumps(status()).encode())
    assert told["status"] == seen == status()


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b"1" * 5000,
        b'{"network": NaN}',
        b"\xff",
        b"",
        json.dumps(status() | {"activations": -1}).encode(),
    ],
)
def test_what_is_no_status_is_none(body):
    told, seen = asked(body)
    assert told["error"].endswith("is not host 'x' of ours")
    assert seen is None


def test_a_long_reply_is_not_read_to_its_end(monkeypatch):
    whole = json.dumps(status()).encode()
    assert "status" in asked(whole + b" " * 5000)[0]
    monkeypatch.setattr(client, "LONGEST", 4000)
    for body, headers in (
        (whole + b" " * 5000, ""),
        (zlib.compress(whole + b" " * 5000), "Content-Encoding: deflate\r\n"),
    ):
        told, seen = asked(body, headers)
        assert told["error"].endswith("is not host 'x' of ours")
        assert seen is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[/x]", "[/x]"),
        ("[link=http://example.org]well[/link]", "[link=http://example.org]well[/link]"),
        ("ok\x1b]0;owned\x07", "ok]0;owned"),
        ("h\x1b[2J\n", "h[2J"),
        ("\ud800", ""),
    ],
)
def test_texts_of_others_are_shown_as_they_are_and_do_nothing(capsys, monkeypatch, text, shown):
    monkeypatch.setenv("COLUMNS", "300")  # else a narrow table breaks the words
    _show({"x": {"status": status(text, text, text)}, "y": {"error": text}}, 0)
    found = capsys.readouterr().out
    assert found.count(shown) >= 6
    assert found.replace("\n", "").isprintable()
