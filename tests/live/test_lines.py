"""JSON lines: every line has one reply, nothing that comes in ends a node."""

from __future__ import annotations

import asyncio
import json
import random

import numpy as np
import pytest

from mtcool.live import Node
from mtcool.live.description import described
from mtcool.live.lines import LONGEST, UNDER_WAY, Lines
from mtcool.live.sockets import ask_host, listening

TABLE = {"learn": {"features": ["x", "y"]}}
POINTS = {"algorithm": {"dim": 2}}


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
            {"id": 2, "do": "update", "agent": 0, "gradient": [-0.1, -0.1]},
            {"id": 3, "do": "predict", "agent": 0},
        ],
        POINTS,
    )
    told = {reply["id"]: reply for reply in replies}
    assert told[1]["value"] == [0.0, 0.0]
    assert told[2]["activations"] == 2
    assert all(number > 0.0 for number in told[3]["value"])


REFUSED = {
    b"": None,
    b"hello": "line must be a request in JSON",
    b"[1, 2]": "line must be a request in JSON",
    b'{"id": 1}': "do",
    b'{"id": 1, "do": "dance"}': "dance",
    b'{"id": 1, "do": "predict", "agent": 0, "colour": 1}': "colour",
    b'{"id": 1, "do": "predict"}': "agent must live",
    b'{"id": 1, "do": "predict", "agent": {"a": 1}, "features": [1, 2]}': "unhashable",
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
