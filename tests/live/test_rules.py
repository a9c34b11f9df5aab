"""Rules of hosts and nodes, one by one: each fails when its rule is taken away."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

import mtcool
from live.networks import Small, private, ring
from live.small_network import KT, never_idle
from live.world import World
from mtcool.live import Node
from mtcool.live import node as node_module
from mtcool.live.config import Description, described
from mtcool.live.host import Host
from mtcool.live.store import Store
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport
from mtcool.live.wire import Ask, Deliver, Question, question_in, to_bytes
from mtcool.streams import Loss
from mtcool.streams.kinds import kind_of

NETWORK = 7  # as all small networks have it


def test_a_transaction_survives_a_power_cut(tmp_path: Path) -> None:
    with Store(tmp_path / "host.db", "host", 1) as store:
        assert store._base.execute("pragma synchronous").fetchone() == (2,)  # full
        assert store._base.execute("pragma journal_mode").fetchone() == ("wal",)


# --- hosts --------------------------------------------------------------------------------------


def acquainted(small: Small) -> tuple[World, Host]:
    """A host that has learned a little, and has heard of all its neighbours."""
    world = World(4, small)
    world.faults, world.left = False, 12
    while world.left > 0:
        world.step()
    world.calm()
    host = world.processes["host0"].host
    assert all(link.greeted for link in host.links.values())
    return world, host


def learned(host: Host) -> None:
    """Let an agent of a host learn without its neighbours, and write that."""
    asked = host.begin(0)
    host.predict(asked.number, {})
    host.learn(asked.number, np.array([0.5]), None)
    host.committed(host.changes())


def lie(host: Host, peer: str) -> None:
    """Let a neighbour speak of messages that nobody here knows."""
    host.receive(peer, to_bytes(Deliver(NETWORK, 0, host.links[peer].taken + 9, [])), None)
    host.ready()
    assert peer in host.trouble


def test_gradients_do_not_leave_before_the_other_host_has_said_what_it_has() -> None:
    world, host = acquainted(ring())
    learned(host)
    process = world.processes["host0"]
    process.disk.write(host.changes())
    for peer, link in host.links.items():  # as if it had begun again
        link.greeted = False
        content = host.batch(peer)
        assert content is not None
        question = question_in(content)
        assert isinstance(question, Deliver)
        assert question.items == []
        assert question.first == link.outbox[0][0]
        host.delivered(peer, None)
        link.greeted = True
        again = question_in(host.batch(peer) or b"")
        assert len(again.items) == len(link.outbox) == 1


def test_private_agents_stop_when_a_neighbour_knows_more_than_they_do() -> None:
    _, host = acquainted(private())
    lie(host, "host2")  # where the neighbour of agent 0 lives
    assert all(link.greeted for link in host.links.values())  # that is not the reason
    asked = host.begin(0)
    host.predict(asked.number, {})
    before = host.drivers[0].keep()
    with pytest.raises(ValueError, match="knows of message"):
        host.learn(asked.number, np.array([0.5]), None)
    assert host.drivers[0].keep() == before


def test_gradients_do_not_ride_to_a_host_that_knows_more_than_we_do() -> None:
    _, host = acquainted(ring())
    learned(host)
    lie(host, "host1")
    told = {peer: question_in(content) for peer, content in host.begin(0).questions.items()}
    assert isinstance(told["host1"], Ask)
    assert told["host1"].items
    assert told["host1"].told == []
    assert len(told["host3"].told) == 1  # where nothing is wrong, they do


# --- nodes --------------------------------------------------------------------------------------


class Slow(MemoryTransport):
    """Replies are held back while its gate is shut."""

    def __init__(self, name: str, exchange: MemoryExchange) -> None:
        super().__init__(name, exchange)
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked: list[tuple[str, Question]] = []

    async def ask(self, questions, timeout):
        self.asked += [(host, question_in(content)) for host, content in questions.items()]
        replies = await super().ask(questions, timeout)
        await self.gate.wait()
        return replies


class Switch:
    """Lets databases refuse to be written."""

    full = False


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Switch:
    never_idle(monkeypatch)  # what an idle node writes would fail, too
    switch, write = Switch(), Store.write

    def written(store: Store, changes) -> None:
        if switch.full:
            raise OSError("no room")
        write(store, changes)

    monkeypatch.setattr(Store, "write", written)
    return switch


def pair(folder: Path) -> Description:
    return described(
        {
            "name": "pair",
            "graph": {"kind": "edges", "edges": [["a", "b"], ["a", "c"]]},
            "algorithm": {"dim": 1, "loss": "squared"} | KT,
            "timing": {"rows": 0.3, "delivery": 0.3},
            "hosts": {
                "here": {"agents": ["a", "b"], "listen": "127.0.0.1:1"},
                "there": {"agents": ["c"], "listen": "127.0.0.1:2"},
            },
        },
        folder,
    )


@contextlib.asynccontextmanager
async def both(folder: Path) -> AsyncIterator[tuple[Node, Slow]]:
    """A node and its slow transport; another one is its neighbour, and has greeted it."""
    network, exchange = pair(folder), MemoryExchange()
    slow = Slow("here", exchange)
    there = Node(network, "there", transport=MemoryTransport("there", exchange))
    async with there, Node(network, "here", transport=slow) as here:
        await here.learn("a", [0.2], 0.1)
        assert await here.delivered()
        yield here, slow


async def fail(node: Node, disk: Switch) -> None:
    """A round of agent b that cannot be written."""
    disk.full = True
    with pytest.raises(OSError, match="no room"):
        await node.learn("b", [0.1], 0.3)
    disk.full = False


def test_a_prediction_that_the_disk_has_forgotten_is_not_learned_from(
    tmp_path: Path, disk: Switch
) -> None:
    async def play() -> tuple[int, int]:
        async with both(tmp_path) as (node, _):
            await node.predict("a", [0.7])
            number = node.host.rounds
            await fail(node, disk)
            await node.predict("b", [0.4])
            assert node.host.rounds == number  # it is another round now
            await node.learn("a", [0.7], 0.1)
            return node.host.learned["a"], node.host.learned["b"]

    assert asyncio.run(play()) == (2, 0)


def test_a_prediction_under_way_when_the_disk_fails_is_an_error(
    tmp_path: Path, disk: Switch
) -> None:
    async def play() -> None:
        async with both(tmp_path) as (node, slow):
            slow.gate.clear()
            under_way = asyncio.create_task(node.predict("a", [0.7]))
            await asyncio.sleep(0.01)
            await fail(node, disk)
            slow.gate.set()
            with pytest.raises(OSError, match="this round is gone"):
                await under_way
            await node.learn("a", [0.7], 0.1)
            assert node.host.learned["a"] == 2
            assert await node.delivered()

    asyncio.run(play())


def test_a_host_that_began_again_asks_anew_whatever_is_under_way(
    tmp_path: Path, disk: Switch
) -> None:
    async def play() -> tuple[str, Question]:
        async with both(tmp_path) as (node, slow):
            await node.predict("a", [0.7])
            slow.gate.clear()
            await node.learn("a", [0.7], 0.1)
            while not node.host.links["there"].waiting:  # the gradient is under way
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.05)  # and its acknowledgement has come
            await fail(node, disk)
            slow.asked.clear()
            assert not node.host.links["there"].greeted
            slow.gate.set()
            await asyncio.sleep(0.05)
            assert await node.delivered()
            return slow.asked[0]

    host, first = asyncio.run(play())
    assert host == "there"
    assert isinstance(first, Deliver)
    assert first.items == []  # it says nothing before it knows what the other has


def test_what_nobody_waits_for_is_written_when_a_node_is_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "IDLE", 0.02)

    def written() -> int:
        with contextlib.closing(sqlite3.connect(tmp_path / "state" / "here.db")) as base:
            (found,) = base.execute("select rounds from host").fetchone()
        return int(found)

    async def play() -> int:
        async with both(tmp_path) as (node, _), asyncio.timeout(60.0):
            await node.predict("a", [0.7])
            while written() < node.host.rounds:
                await asyncio.sleep(0.02)
            return node.host.rounds

    assert asyncio.run(play()) == written() == 2


def test_what_an_agent_would_predict_alone_is_what_it_would_have_learned_alone(
    tmp_path: Path,
) -> None:
    chance = np.random.default_rng(2)
    rows = chance.uniform(-1.0, 1.0, (12, 2))
    alone = mtcool.i_ftrl(mtcool.Graph.from_edges([], labels=["a"]), 1, on_excess="clip")

    async def play() -> list[float | None]:
        async with both(tmp_path) as (node, _):
            said = []
            for x, y in rows:
                said.append((await node.predict("a", [x])).alone)
                await node.learn("a", [x], y)
            return said

    found = asyncio.run(play())
    expected = []
    for x, y in [(0.2, 0.1), *rows]:
        weight = alone.predict("a")
        expected.append(float(weight @ [x]))
        loss = Loss(kind_of("squared"), np.array([x, y]))
        alone.update("a", loss.subgradient(weight))
    assert found == expected[1:]
    assert len(set(found)) == len(found)
