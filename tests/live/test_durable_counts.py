"""What a node tells of itself is durable: a full disk does not undo it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import msgspec
import pytest

from live.forging import forging
from live.small_network import never_idle, opened, small
from mtcool.live import Node
from mtcool.live.journal import Learned, entry_bytes, entry_in
from mtcool.live.journals import replay_files
from mtcool.live.lines import Lines
from mtcool.live.offset import Offset
from mtcool.live.residents import learned_in
from mtcool.live.transactions import Transaction


def full(changes: Transaction) -> None:
    raise OSError("the disk is full")


def told(node: Node) -> tuple[object, ...]:
    """What a status says of what was learned and said."""
    status = node.status()
    links = [(link["sent"], link["taken"]) for link in status["links"].values()]
    agents = [agent["activations"] for agent in status["agents"]]
    return status["version"], status["activations"], agents, links


def test_a_status_tells_nothing_that_a_full_disk_undoes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_idle(monkeypatch)

    async def play() -> None:
        async with opened(small(tmp_path, agents=4, hosts=2)) as nodes:
            node = nodes["host0"]
            await node.learn(0, [1.0, 1.0], 1.0)
            for refusals in (counted := (node.host.refused, node.host.denied)):
                refusals.note("host1", "it was too late")
            before, good = told(node), node._engine.store.write
            node._engine.store.write = full
            learning = asyncio.create_task(node.learn(0, [2.0, 2.0], 1.0))
            while not node.host.urgent and not learning.done():
                await asyncio.sleep(0.0)
            assert node.host.urgent  # it has learned, and nothing is written yet
            assert told(node) == before
            assert isinstance((await asyncio.gather(learning, return_exceptions=True))[0], OSError)
            node._engine.store.write = good
            assert told(node) == before
            assert (node.host.refused, node.host.denied) == counted
            await node.learn(0, [2.0, 2.0], 1.0)
            assert node.status()["activations"] == 2

    asyncio.run(play())


def test_a_row_is_learned_from_once_and_how_far_they_were_fed_is_as_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_idle(monkeypatch)

    async def play() -> None:
        async with opened(small(tmp_path, agents=4, hosts=1, journal=True)) as nodes:
            (node,) = nodes.values()
            await node.learn(0, [1.0, 1.0], 1.0, offset=(5, 77))
            assert node.status()["agents"][0]["offset"] == [5, 77]
            good, node._engine.store.write = node._engine.store.write, full
            with pytest.raises(OSError, match="the disk is full"):
                await node.learn(0, [2.0, 2.0], 1.0, offset=(6, 78))
            node._engine.store.write = good
            for again in (4, 5):
                with pytest.raises(
                    ValueError, match="must be beyond row 5, from which agent 0 has learned"
                ):
                    await node.learn(0, [3.0, 2.0], 1.0, offset=(again, 1))
            await node.learn(0, [2.0, 2.0], 1.0, offset=(6, 78))
            await node.learn(1, [2.0, 2.0], 1.0, offset=(1, 2**53))
            with pytest.raises(ValueError, match="offset must be"):
                await node.learn(1, [2.0, 2.0], 1.0, offset=(2, 2**53 + 1))
        async with opened(small(tmp_path, agents=4, hosts=1, journal=True)) as nodes:
            (node,) = nodes.values()
            agents = node.status()["agents"]
            assert [one["offset"] for one in agents] == [[6, 78], [1, 2**53], [0, 0], [0, 0]]
            assert [one["activations"] for one in agents] == [2, 1, 0, 0]
            await node.rewind()
            await node.learn(0, [2.0, 2.0], 1.0, offset=(1, 0))

    asyncio.run(play())
    again = replay_files([tmp_path / "state" / "host0.db"])
    assert (again.learned, again.twice, again.differences) == (4, 0, [])
    with forging(tmp_path / "state" / "host0.db") as base:  # as a host would that has not noticed
        for number, content in base.execute("select number, entry from journal").fetchall():
            entry = entry_in(content)
            if isinstance(entry, Learned) and entry.offset == (6, 78):
                forged = msgspec.structs.replace(entry, offset=Offset(5, 77))
                change = entry_bytes(forged), number
                base.execute("update journal set entry = ? where number = ?", change)
    again = replay_files([tmp_path / "state" / "host0.db"])
    assert again.twice == 1
    assert "must be beyond row 5" in again.differences[0]


def test_a_row_that_was_learned_from_before_is_refused_before_anything_is_predicted(
    tmp_path: Path,
) -> None:
    async def play() -> None:
        async with opened(small(tmp_path, agents=4, hosts=1, journal=True)) as nodes:
            (node,) = nodes.values()
            await node.learn(0, [1.0, 1.0], 1.0, offset=(5, 77))
            waits = await node.predict(0, [2.0, 1.0])
            request = {"do": "round", "agent": 0, "features": [3.0, 1.0], "target": 1.0}
            request["offset"] = [5, 77]
            before = node.host.rounds
            for _ in range(70):
                with pytest.raises(ValueError, match="must be beyond row 5"):
                    await node.learn(0, [3.0, 1.0], 1.0, offset=(5, 77))
                reply = await Lines(node).answer(json.dumps(request).encode())
                assert b"must be beyond row 5" in reply
            assert node.host.rounds == before
            await node.learn(0, None, 1.0, round=waits.round)  # which has not given way
            for wrong in ((6,), (6, 1, 1), 6, "ab", {6: 1}):
                with pytest.raises(ValueError, match=r"^offset must be "):
                    await node.learn(0, [3.0, 1.0], 1.0, offset=wrong)  # type: ignore[arg-type]

    asyncio.run(play())


def test_the_count_in_a_reply_is_durable(tmp_path: Path) -> None:
    """Another round of the agent may be learned from, and not written yet, when a reply is made."""

    async def play() -> None:
        async with opened(small(tmp_path, hosts=1)) as nodes:
            (node,) = nodes.values()
            lines = Lines(node)
            compared = []

            async def learn(k: int) -> None:
                line = {"do": "learn", "agent": 0, "features": [k, 1.0], "target": 1.0}
                said = json.loads(await lines.answer(json.dumps(line).encode()))["activations"]
                kept = node._engine.store.read()
                assert kept is not None
                compared.append((said, learned_in(kept.agents[0])))

            async def learn_too(k: int) -> None:
                await node.learn(0, [-k, 1.0], 1.0)

            tasks = []
            for k in range(1, 20):
                tasks += [asyncio.create_task(learn(k)), asyncio.create_task(learn_too(k))]
                await asyncio.sleep(0.0)
            await asyncio.gather(*tasks)
            assert all(said <= durable for said, durable in compared)
            assert node.host.learned[0] == 38

    asyncio.run(play())
