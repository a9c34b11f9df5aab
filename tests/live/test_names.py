"""An agent has one name, to the letter: 1, 1.0 and True are equal in Python, and not on disk."""

import asyncio
import json
import sqlite3

import msgspec
import numpy as np
import pytest

from live.forging import forging
from live.small_network import opened, small
from mtcool.live import Node
from mtcool.live.lines import Lines
from mtcool.live.wire import Ask, Deliver, RowReplies, reply_in, to_bytes

ROW = [1.0, 2.0]


def keys(folder, host="host0") -> list:
    """Names under which agents are kept."""
    with sqlite3.connect(folder / "state" / f"{host}.db") as base:
        found = [msgspec.msgpack.decode(key) for (key,) in base.execute("select name from agent")]
    return sorted(found, key=repr)


@pytest.mark.parametrize("name", [1.0, True, np.int64(1)])
def test_an_agent_that_python_calls_by_an_equal_name_is_kept_once(tmp_path, name):
    network = small(tmp_path, agents=4, hosts=1, journal=True)

    async def play() -> None:
        async with Node(network) as node:
            await node.learn(name, ROW, 1.0)
            await node.learn(1, ROW, 2.0)
            await node.predict(name, ROW)
        async with Node(network) as node:
            assert node.host.learned[1] == 2

    asyncio.run(play())
    assert [repr(key) for key in keys(tmp_path)] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("name", ["1.0", "true", "[1]", '"1"'])
def test_lines_call_agents_by_their_names(tmp_path, name):
    async def play() -> None:
        async with Node(small(tmp_path, agents=4, hosts=1)) as node:
            for do in ("predict", "learn", "round"):
                line = f'{{"do":"{do}","agent":{name},"features":[1,2]'
                line += "}" if do == "predict" else ',"target":1}'
                told = json.loads(await Lines(node).answer(line.encode()))
                assert told["error"].startswith("agent must "), told
            assert (node.host.rounds, node.host.learned.total()) == (0, 0)

    asyncio.run(play())


@pytest.mark.parametrize("name", [1.0, True])
def test_hosts_call_agents_by_their_names(tmp_path, name):
    network = small(tmp_path, agents=4, hosts=2)

    async def play() -> None:
        async with opened(network) as nodes:
            there, host = nodes["host1"].host, nodes["host0"].host
            asked = there.begin(2, np.array(ROW))
            there.predict(asked.number, {})
            there.learn(asked.number, 1.0, None)
            (_, to, content) = there.links["host0"].outbox[0]
            assert to == 1
            before = host.drivers[1].keep()
            told = to_bytes(Deliver(network.number, 0, 1, [(name, content)]))
            host.receive("host1", told, "told")
            assert host.drivers[1].keep() == before
            question = to_bytes(Ask(network.number, 0, [(name, content)]))
            assert host.answer("host1", question) is None
            host.receive("host1", question, "asked")
            assert host.refused["host1", f"agent must be called 1, got {name!r}"] == 2
            said = host.committed(host.changes())
            (reply,) = [reply_in(one.content) for one in said if one.token == "asked"]
            assert isinstance(reply, RowReplies)
            assert reply.items == [None]

    asyncio.run(play())


def test_a_database_that_has_an_agent_twice_is_refused(tmp_path):
    network = small(tmp_path, agents=4, hosts=1)

    async def begin() -> None:
        async with Node(network) as node:
            await node.learn(1, ROW, 1.0)

    asyncio.run(begin())
    file = tmp_path / "state" / "host0.db"
    with forging(file) as base:
        base.execute(
            "insert into agent (name, state) select ?, state from agent where name = ?",
            (msgspec.msgpack.encode(1.0), msgspec.msgpack.encode(1)),
        )
    with pytest.raises(ValueError, match=r"got '.*host0.db': it has an agent twice"):
        asyncio.run(begin())
