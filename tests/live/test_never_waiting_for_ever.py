"""Whoever waits for a node hears from it, whatever becomes of the node and its disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from live.small_network import KT, never_idle, opened, small
from mtcool.live import Node
from mtcool.live.journals import replay_files
from mtcool.live.lines import Lines
from mtcool.live.serving import serve
from mtcool.live.store import Store
from mtcool.live.transactions import Transaction
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

CALLS: dict[str, Callable[[Node], Coroutine[Any, Any, object]]] = {
    "learn": lambda node: node.learn(0, [1.0, 1.0], 1.0),
    "predict": lambda node: node.predict(0, [1.0, 1.0]),
}


def fails(*arguments: object) -> None:
    raise OSError("the disk is gone")


def alone(folder: Path) -> Node:
    """A node whose neighbours are down: every call waits for them first."""
    return Node(small(folder), "host0", transport=MemoryTransport("host0", MemoryExchange()))


async def ended(call: asyncio.Task[object]) -> None:
    """Wait until a call has returned, with an OSError or without."""
    async with asyncio.timeout(20.0):
        error = (await asyncio.gather(call, return_exceptions=True))[0]
    assert error is None or not isinstance(error, Exception) or isinstance(error, OSError)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_ends_when_its_node_closes(tmp_path: Path, call) -> None:
    async def play() -> None:
        async with alone(tmp_path) as node:
            await node.learn(1, [1.0, 1.0], 1.0)
            under_way = asyncio.create_task(call(node))
            await asyncio.sleep(0.05)
        await ended(under_way)

    asyncio.run(play())


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_ends_when_the_database_cannot_be_read(tmp_path: Path, call) -> None:
    async def play() -> None:
        async with alone(tmp_path) as node:
            under_way = asyncio.create_task(call(node))
            await asyncio.sleep(0.05)
            node._engine.store.write = node._engine.store.read = fails
            with pytest.raises(OSError, match="the disk is gone"):
                await node.learn(1, [1.0, 1.0], 1.0)
            await ended(under_way)
            with pytest.raises(OSError, match="cannot be read any more"):
                await node.learn(1, [1.0, 1.0], 1.0)
            assert "the disk is gone" in await node.broken()

    asyncio.run(play())


def test_a_prediction_that_waits_for_its_transaction_ends_with_the_node(tmp_path: Path) -> None:
    async def play() -> None:
        async with alone(tmp_path) as node:
            predicting = asyncio.create_task(node.predict(0, [1.0, 1.0], timeout=2.0))
            await asyncio.sleep(0.05)
            asked = node.host.begin(1, np.ones(2))
            node.host.predict(asked.number, {})
        node.host.learn(asked.number, 1.0, None)  # what was not written, and never will be
        with pytest.raises(OSError, match="it is closed"):
            async with asyncio.timeout(20.0):
                await predicting

    asyncio.run(play())


def test_a_transaction_that_fails_for_whatever_reason_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_idle(monkeypatch)  # else that may be the one that fails
    network = small(tmp_path, agents=4, hosts=2, algorithm={"dim": 2, **KT}, journal=True)

    async def play() -> None:
        async with opened(network) as nodes:
            node, good = nodes["host0"], nodes["host0"]._engine.store.write

            async def update() -> None:
                await node.predict(1)
                async with asyncio.timeout(20.0):
                    await node.update(1, [0.1, 0.1])

            def once(changes: Transaction) -> None:
                node._engine.store.write = good
                raise MemoryError

            await update()
            node._engine.store.write = once
            with pytest.raises(OSError, match="MemoryError"):
                await update()
            await update()
            assert node.host.learned[1] == 2
            for each in nodes.values():
                assert await each.delivered(20.0)
                assert not each.host.trouble

    asyncio.run(play())
    again = replay_files(sorted((tmp_path / "state").glob("*.db")))
    assert (again.learned, again.lost, again.differences) == (2, 0, [])


class Stubborn:
    """A connection whose transactions neither end nor go away, for a while."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self.base, self.stubborn = base, True

    @property
    def in_transaction(self) -> bool:
        return self.base.in_transaction

    def execute(self, words: str, *values: object) -> sqlite3.Cursor:
        if self.stubborn and words in ("commit", "rollback"):
            raise sqlite3.OperationalError(f"no {words}")
        return self.base.execute(words, *values)

    def executemany(self, words: str, *values: object) -> sqlite3.Cursor:
        return self.base.executemany(words, *values)


def changes(version: int) -> Transaction:
    return Transaction(version, 0, {0: b"state"}, {}, [], {}, [], None, [])


def test_a_transaction_that_cannot_be_rolled_back_is_never_read(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db", "a", 7) as store:
        base = store._base
        store._base = stubborn = Stubborn(base)
        with pytest.raises(OSError, match="no commit"):
            store.write(changes(1))
        with pytest.raises(OSError, match="no rollback"):
            store.read()
        stubborn.stubborn = False
        assert store.read() is None
        store.write(changes(2))
        store._base = base


def test_what_cannot_be_written_at_all_is_rolled_back(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db", "a", 7) as store:
        with pytest.raises(OSError, match="could not be written"):
            store.write(changes(1)._replace(journal=[2**70]))  # type: ignore[list-item]
        store.write(changes(2))


def test_a_process_ends_when_its_database_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever starts it again starts it from what is on disk; until then it says what is wrong."""
    network, nodes = small(tmp_path, hosts=1), list[Node]()

    def made(*given: object) -> Node:
        nodes.append(Node(*given))
        return nodes[0]

    async def play() -> None:
        told = list[str]()
        serving = asyncio.create_task(serve(lambda: network, None, lines=False, tell=told.append))
        async with asyncio.timeout(60.0):
            while not told:
                await asyncio.sleep(0.01)
            node = nodes[0]
            node._engine.store.write = node._engine.store.read = fails
            line = b'{"do": "learn", "agent": 0, "features": [1, 1], "target": 1}'
            for _ in range(2):
                assert b'"again":true' in await Lines(node).answer(line)
            with pytest.raises(OSError, match="has stopped: its database cannot be read any more"):
                await serving

    monkeypatch.setattr("mtcool.live.serving.Node", made)
    asyncio.run(play())


def test_a_call_from_the_loop_of_another_thread_is_refused_and_spoils_nothing(
    tmp_path: Path,
) -> None:
    """Its locks would belong to that loop, and the node's own calls be refused for ever."""

    async def run() -> None:
        async with Node(small(tmp_path, hosts=1)) as node:
            learning = node.learn(0, [1.0, 1.0], 1.0)
            with pytest.raises(ValueError, match="called on the loop that has opened it"):
                await asyncio.to_thread(asyncio.run, learning)
            await node.learn(0, [1.0, 1.0], 1.0)
            assert node.host.learned[0] == 1

    asyncio.run(run())
