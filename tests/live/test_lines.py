"""JSON lines: every line has one reply, nothing that comes in ends a node."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random

import numpy as np
import pytest

from live.small_network import KT
from mtcool.live import Node
from mtcool.live.config import described
from mtcool.live.lines import LONGEST, UNDER_WAY, Lines
from mtcool.live.sockets import ask_host, listening

TABLE = {"learn": {"features": ["x", "y"]}}
POINTS = {"algorithm": {"dim": 2} | KT}


def network(folder, extra):
    ring = {"kind": "ring", "agents": 4}
    return described({"name": "test", "graph": ring, "shards": {"count": 1}} | extra, folder)


class Heard:
    """Keeps what a node writes."""

    def __init__(self):
        self.content = b""

    def write(self, content):
        self.content += content

    async def drain(self):
        await asyncio.sleep(0)

    def replies(self):
        return [json.loads(line) for line in self.content.splitlines()]


def say(folder, lines, extra=TABLE):
    """All lines to a fresh node; returns its replies, and its status in the end."""

    async def play():
        async with Node(network(folder, extra)) as node:
            reader, heard = asyncio.StreamReader(limit=LONGEST), Heard()
            for line in lines:
                reader.feed_data(line if isinstance(line, bytes) else json.dumps(line).encode())
                reader.feed_data(b"\n")
            reader.feed_eof()
            await Lines(node).serve(reader, heard)
            return heard.replies(), node.status()

    return asyncio.run(play())


def test_a_round_is_a_prediction_and_what_is_learned_from_it(tmp_path):
    x = [1.0, 2.0]
    replies, status = say(
        tmp_path,
        [
            {"id": "a", "do": "round", "agent": 0, "features": x, "target": 5.0},
            {"id": "b", "do": "predict", "agent": 0, "features": {"x": 1.0, "y": 2.0}},
            {"id": "c", "do": "learn", "agent": 0, "features": x, "target": 5.0},
        ],
    )
    told = {reply["id"]: reply for reply in replies}
    assert told["a"]["value"] == 0.0
    assert told["a"]["activations"] == 1
    assert told["b"]["value"] == pytest.approx(5.0)
    assert told["c"] == {"id": "c", "activations": 2}
    assert (status["rounds"], status["activations"]) == (2, 2)  # c learned from b


def test_losses_and_gradients_are_learned_from(tmp_path):
    loss = {"kind": "quadratic", "row": [0.5, 0.5]}
    replies, _ = say(
        tmp_path,
        [
            {"id": 1, "do": "round", "agent": 0, "loss": loss},
            {"id": 0, "do": "update", "agent": 0, "gradient": [-0.1, -0.1]},
            {"id": 4, "do": "predict", "agent": 0},
            {"id": 2, "do": "update", "agent": 0, "gradient": [-0.1, -0.1]},
            {"id": 3, "do": "predict", "agent": 0},
        ],
        POINTS,
    )
    told = {reply["id"]: reply for reply in replies}
    assert told[1]["value"] == [0.0, 0.0]
    assert "predict first" in told[0]["error"]  # a gradient is that of a point
    assert told[2]["activations"] == 2
    assert all(number > 0.0 for number in told[3]["value"])


REFUSED = {
    b"": None,
    b"hello": "line must be a request in JSON",
    b"[1, 2]": "line must be a request in JSON, got [1, 2]",
    b'{"id": 1}': "do must be given",
    b'{"id": 1, "do": "dance"}': "stop, got 'dance'",
    b'{"id": 1, "do": "predict", "agent": 0, "colour": 1}': "timeout, got 'colour'",
    b'{"id": 1, "do": "predict"}': "agent must be given",
    b'{"id": 1, "do": "predict", "agent": 9}': "agent must live",
    b'{"id": 1, "do": "predict", "agent": {"a": 1}, "features": [1, 2]}': "name of an agent, got",
    b'{"id": 1, "do": "predict", "agent": ["a", {}], "features": [1]}': "an agent, got ['a', {}]",
    b'{"id": 1, "do": "predict", "agent": 0, "features": "no"}': "unknown ones, got 'no'",
    b'{"id": 1, "do": "learn", "agent": 0, "target": "no"}': "target must be a number, got 'no'",
    b'{"id": 1, "do": "delivered", "timeout": "no"}': "timeout must be a number of seconds, got",
    b'{"id": 1, "do": "learn", "agent": 0, "offset": 5}': "row and its checksum, got 5",
    b'{"id": 1, "do": "update", "agent": 0, "loss": {"kind": 3}}': "loss must be an object with a",
    b'{"id": 1, "do": "predict", "agent": 0}': "features must be given",
    b'{"id": 1, "do": "predict", "agent": 0, "features": [1]}': "features must be 2 numbers",
    b'{"id": 1, "do": "predict", "agent": 0, "features": {"z": 1}}': "features must be among",
    b'{"id": 1, "do": "learn", "agent": 0, "features": [1, 2]}': "target must be given",
    b'{"id": 1, "do": "learn", "agent": 0, "features": [1, 2], "target": 1e300}': "target",
    b'{"id": 1, "do": "round", "agent": 0, "features": [1, 2]}': "one of target and loss",
    b'{"id": 1, "do": "update", "agent": 0}': "one of gradient and loss",
    b'{"id": 1, "do": "update", "agent": 0, "gradient": [1]}': "features must be given",
    b"[" * 100_000: "line must be a request in JSON",
    b"\xff\xfe\x00": "line must be a request in JSON",
    b"x" * (LONGEST + 9): "line must be",
}


def test_what_is_refused_is_told_in_a_sentence_and_changes_nothing(tmp_path):
    good = {"id": "good", "do": "round", "agent": 1, "features": [1.0, 1.0], "target": 1.0}
    replies, status = say(tmp_path, [*REFUSED, good])
    assert sum(reply.get("id") == "good" and "value" in reply for reply in replies) == 1
    errors = [reply["error"] for reply in replies if "error" in reply]
    for line, words in REFUSED.items():
        if words is not None:
            assert any(words in error for error in errors), line[:60]
    assert len(replies) >= len(REFUSED)
    assert all("\n" not in error for error in errors)
    assert [agent["activations"] for agent in status["agents"]] == [0, 1, 0, 0]


def test_a_line_that_is_too_long_has_one_reply_and_the_next_is_heard(tmp_path):
    status = {"id": 1, "do": "status"}
    long = [b"x" * (LONGEST + 1), b"x" * (5 * LONGEST), b" " * (2 * LONGEST), b"y" * (LONGEST * 3)]
    replies, _ = say(tmp_path, [long[0], status, long[1], long[2], status, long[3]])
    assert [("error" in one, one.get("id")) for one in replies] == [
        (True, None), (False, 1), (True, None), (True, None), (False, 1), (True, None),
    ]  # fmt: skip


def test_a_mistake_of_ours_is_told_and_logged(tmp_path, monkeypatch, caplog):
    def broken(node):
        raise KeyError("a mistake")

    monkeypatch.setattr(Node, "status", broken)

    async def play():
        async with Node(network(tmp_path, TABLE)) as node:
            return json.loads(await Lines(node).answer(b'{"id": 7, "do": "status"}'))

    with caplog.at_level(logging.ERROR, "mtcool.live"):
        assert asyncio.run(play()) == {"id": 7, "error": "KeyError: 'a mistake'"}
    assert "a mistake" in caplog.text


def test_a_program_that_is_left_alone_asks_nothing_more_of_the_node(tmp_path, monkeypatch):
    """Who stops serving closes the node next: nothing may be under way then."""
    asked = asyncio.Event()
    over = []

    async def slow(node, timeout):
        asked.set()
        try:
            await asyncio.sleep(60)
        finally:
            over.append(True)

    monkeypatch.setattr(Node, "delivered", slow)

    async def play():
        async with Node(network(tmp_path, TABLE)) as node:
            reader = asyncio.StreamReader()
            reader.feed_data(b'{"do": "delivered"}\n')
            serving = asyncio.create_task(Lines(node).serve(reader, Heard()))
            await asked.wait()
            serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await serving
            assert over == [True]

    asyncio.run(play())


def test_a_connection_that_breaks_ends_serving_with_its_own_error(tmp_path):
    class Broken(Heard):
        async def drain(self):
            raise ConnectionResetError("gone")

    async def play():
        async with Node(network(tmp_path, TABLE)) as node:
            reader = asyncio.StreamReader()
            reader.feed_data(b'{"do": "status"}\n')
            with pytest.raises(ConnectionResetError, match="gone"):
                await Lines(node).serve(reader, Broken())

    asyncio.run(play())


def test_no_bytes_end_a_node(tmp_path):
    chance = random.Random(1)
    good = json.dumps({"id": 1, "do": "round", "agent": 0, "features": [1, 2], "target": 3})
    lines = []
    for _ in range(300):
        line = bytearray(good.encode())
        for _ in range(chance.randint(1, 6)):
            line[chance.randrange(len(line))] = chance.randrange(256)
        lines.append(bytes(line).replace(b"\n", b" "))
    replies, status = say(tmp_path, lines)
    assert len(replies) == sum(not line.isspace() for line in lines)
    assert status["rounds"] < len(lines)


def test_rows_of_an_agent_are_learned_in_their_order_however_many_are_under_way(tmp_path):
    rows = np.random.default_rng(2).normal(size=(200, 3))
    lines = [
        {"id": k, "do": "round", "agent": k % 4, "features": row[:2].tolist(), "target": row[2]}
        for k, row in enumerate(rows)
    ]
    at_once, _ = say(tmp_path / "at-once", lines)
    seen = {reply["id"]: reply["activations"] for reply in at_once}
    assert seen == {k: k // 4 + 1 for k in range(len(rows))}
    assert len(rows) < UNDER_WAY  # none had to wait for another's reply


def test_other_programs_of_the_owner_ask_over_a_socket(tmp_path):
    deep = tmp_path / ("a" * 60) / ("b" * 60)  # longer than the path of a socket may be

    async def play():
        async with Node(network(deep, TABLE)) as node:
            lines = Lines(node)
            async with listening(lines):
                told = await ask_host(node.network, node.name, {"do": "status", "id": 7})
                mode = (deep / "state" / "host0.sock").stat().st_mode & 0o777
                await ask_host(node.network, node.name, {"do": "stop"})
                return told, mode, lines.stopped.is_set(), node.network

    told, mode, stopped, found = asyncio.run(play())
    assert (told["id"], told["status"]["host"], mode, stopped) == (7, "host0", 0o600, True)
    with pytest.raises(OSError, match="No such file"):
        asyncio.run(ask_host(found, "host0", {"do": "status"}))
