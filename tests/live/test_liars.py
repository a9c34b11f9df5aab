"""A neighbour whose messages are refused: they take no disk, hold nobody up, and come to an end."""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest

from live.intruding import asking, peers_of
from live.ports import free_ports
from live.small_network import greeted, never_idle, opened, play, small, stop_the_clock
from mtcool.agents.messages import Gradient, Lesson, encode
from mtcool.learn.exchange import lesson_size
from mtcool.live import Node, inbox, replay_files
from mtcool.live.certificates import make_certificates
from mtcool.live.config import described
from mtcool.live.history import chained
from mtcool.live.mailbox import MOST_ITEMS
from mtcool.live.wire import Deliver, DurablePosition, Refused, reply_in, to_bytes

LONG = 50_000
"""Bytes of a wrong message."""
TURNS = 25
"""Turns of the loop in which a prediction is made, at most."""


class Liar:
    """Speaks for a host, with its right numbers, and says nothing right."""

    def __init__(self, node: Node, victim: Node) -> None:
        self.name, self.victim = node.name, victim
        self.replies: list[object] = []
        link = victim.host.links[node.name]
        self._number, self._history = link.taken, link.history

    def say(self, count: int, content: bytes, to: object = 0) -> None:
        """So many messages of this content in one question."""
        items = [(to, content)] * count
        share = self.victim.host.share
        said = Deliver(share.network, share.revision, self._number + 1, items, 0, self._history)
        self._number, self._history = self._number + count, chained(self._history, items)
        self.victim._take(self.name, to_bytes(said), self._replied)

    def _replied(self, reply: bytes) -> None:
        self.replies.append(reply_in(reply))

    async def heard(self, count: int) -> None:
        """Wait until so many questions have been replied to."""
        async with asyncio.timeout(60.0):
            while len(self.replies) < count:
                await asyncio.sleep(0)


def wrong(length: int = LONG) -> bytes:
    return encode(Gradient(5, 1.0, np.full(length // 8, np.nan)))


def padded(length: int = LONG) -> bytes:
    """A right message, and something more in it."""
    right = encode(Lesson(5, 1.0, np.full(lesson_size(3), 0.01)))
    head, more = bytes([right[0], right[1] + 1]), msgspec.msgpack.encode(bytes(length))
    return head + right[2:] + more


async def lied(nodes: dict[str, Node], victim: str = "host0", liar: str = "host2") -> Liar:
    """One who lies in the name of a host, which is cut off, to a host that has learned a little."""
    await greeted(*nodes.values())
    for _ in range(4):
        await nodes[victim].learn(0, [0.5, 0.5], 1.0)
    assert await nodes[victim].delivered()
    nodes[liar].cut.add(victim)
    return Liar(nodes[liar], nodes[victim])


@pytest.mark.parametrize("content", [wrong(), padded()], ids=["wrong", "padded"])
def test_what_is_refused_is_not_kept_and_the_journal_is_played_again(
    tmp_path: Path, content: bytes
) -> None:
    async def scenario() -> None:
        network = small(tmp_path, journal=True)
        async with opened(network) as nodes:
            await play(network, nodes, 12)
            one, liar = nodes["host0"], await lied(nodes)
            taken = one.host.links[liar.name].taken
            for k in range(20):
                liar.say(10, content)
                await liar.heard(k + 1)
            assert not any(isinstance(reply, Refused) for reply in liar.replies)
            assert one.host.links[liar.name].taken == taken + 200
            assert one.host.refused.total() == 200
            for _ in range(4):
                await one.learn(1, [0.5, -0.5], 1.0)

    asyncio.run(scenario())
    files = [*(tmp_path / "state").glob("host0.db*")]
    assert sum(file.stat().st_size for file in files) < 5 * LONG
    alone = replay_files([tmp_path / "state" / "host0.db"])
    assert alone.differences == []
    assert (alone.same, alone.refused) == (alone.predictions, 200)
    everybody = replay_files(sorted((tmp_path / "state").glob("*.db")))
    assert everybody.differences == ["host0 has not taken what host2 has said"]  # it has lied


def test_a_local_prediction_does_not_wait_for_what_others_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_idle(monkeypatch)

    async def scenario() -> None:
        network = small(tmp_path, limits={"refused": 10**6})
        async with opened(network) as nodes:
            one, liar = nodes["host0"], await lied(nodes)
            for _ in range(10):
                liar.say(MOST_ITEMS, wrong(8))
            await one.predict(0, [1.0, 1.0], timeout=0.001)
            assert one.host.refused.total() <= TURNS * inbox.SLICE
            await one.learn(0, [1.0, 1.0], 1.0)  # from this prediction
            assert one.host.refused.total() <= 2 * TURNS * inbox.SLICE
            await liar.heard(10)
            assert one.host.refused.total() == 10 * MOST_ITEMS
            assert all(isinstance(reply, DurablePosition) for reply in liar.replies)

    asyncio.run(scenario())


def test_a_neighbour_does_not_wait_for_another_one_that_says_much(tmp_path: Path) -> None:
    async def scenario() -> None:
        network = small(tmp_path, limits={"refused": 10**6})
        async with opened(network) as nodes:
            one, liar = nodes["host0"], await lied(nodes)
            for _ in range(10):
                liar.say(MOST_ITEMS, wrong(8))
            honest = Liar(nodes["host1"], one)
            honest.say(0, b"")
            await honest.heard(1)
            assert one.host.refused.total() <= 4 * inbox.SLICE
            await liar.heard(10)

    asyncio.run(scenario())


class Watched(inbox._Queue):
    """A queue at which other threads look all the time."""

    lock: threading.Lock

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name in ("stopped", "until") and not self.lock.locked():
            with self.lock:
                self.why_not(7.0)


def test_who_is_not_heard_stays_so_when_a_thread_looks_at_this_moment(tmp_path: Path) -> None:
    async def scenario() -> None:
        network = small(tmp_path, limits={"refused": 100})
        async with opened(network) as nodes:
            one, liar = nodes["host0"], await lied(nodes)
            stop_the_clock(one)
            Watched.lock = one._inbox._lock
            one._inbox._queue(liar.name).__class__ = Watched
            liar.say(170, wrong(8))
            await liar.heard(1)
            assert "is not heard for 60 seconds" in one.stopped[liar.name]

    asyncio.run(scenario())


def test_who_says_too_much_that_is_wrong_is_not_heard_for_a_while(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        network = small(tmp_path, journal=True, limits={"refused": 100})
        async with opened(network) as nodes:
            one, liar = nodes["host0"], await lied(nodes)
            liar.say(99, wrong(8))
            await liar.heard(1)
            assert one.stopped == {}
            with caplog.at_level(logging.ERROR, "mtcool.live"):
                for _ in range(4):
                    liar.say(70, wrong(8))
                await liar.heard(5)
            (told,) = [record for record in caplog.records if record.message == "stopped"]
            assert told.peer == liar.name
            why = one.stopped[liar.name]
            assert "more than 100 of its messages in a minute were refused" in why
            assert liar.replies.count(Refused(why)) == 3
            assert one.host.refused.total() == 169
            status = one.status()
            assert status["links"][liar.name]["stopped"] == why
            assert status["links"]["host1"]["stopped"] is None
            assert {"host": liar.name, "reason": why, "count": 3} in status["reasons"]
            for other in (0, 1):  # the host and its other neighbours go on
                await one.learn(other, [1.0, 1.0], 1.0)
            assert one.host.trouble == {}
            clock = one._inbox.clock
            one._inbox.clock = lambda: clock() + inbox.PAUSE
            assert one.stopped == {}
            liar = Liar(nodes["host2"], one)
            liar.say(99, wrong(8))
            await liar.heard(1)
            assert isinstance(liar.replies[0], DurablePosition)

    asyncio.run(scenario())


def test_bytes_are_limited_in_a_second(tmp_path: Path) -> None:
    async def scenario() -> None:
        network = small(tmp_path, limits={"bytes": 3 * LONG})
        async with opened(network) as nodes:
            one, liar = nodes["host0"], await lied(nodes)
            one._inbox._queues.clear()
            one._inbox.clock = lambda: 7.0
            for _ in range(5):
                liar.say(1, wrong())
            await liar.heard(3)
            for _ in range(50):
                await asyncio.sleep(0)
            assert len(liar.replies) == 3
            one._inbox.clock = lambda: 8.0
            one._inbox._schedule()
            await liar.heard(5)

    asyncio.run(scenario())


def test_a_disk_that_is_full_between_two_slices_of_a_question_is_no_contradiction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_idle(monkeypatch)

    async def scenario() -> None:
        network = small(tmp_path, limits={"refused": 10**6})
        async with opened(network) as nodes:
            one, liar = nodes["host0"], await lied(nodes)
            before = one.host.links[liar.name].taken
            liar.say(10 * inbox.SLICE, wrong(8))
            while one.host.links[liar.name].taken == before:
                await asyncio.sleep(0)

            def full(changes: object) -> None:
                raise OSError("no room")

            with monkeypatch.context() as patched:
                patched.setattr(one._engine.store, "write", full)
                assert one._engine.commit() is not None
            assert one.host.links[liar.name].taken == before
            for _ in range(50):
                await asyncio.sleep(0)
            assert one.host.trouble == {}
            again = Liar(nodes["host2"], one)
            again.say(10 * inbox.SLICE, wrong(8))
            await again.heard(1)
            assert isinstance(again.replies[0], DurablePosition)
            assert one.host.links[liar.name].taken == before + 10 * inbox.SLICE

    asyncio.run(scenario())


def test_over_a_real_connection_a_liar_is_stopped_and_fills_no_disk(tmp_path: Path) -> None:
    """With the certificate of a neighbour, whose host does not run."""
    ports = free_ports(2)
    hosts = {"one": ["a", "c"], "two": ["b"]}
    table = {
        "name": "liars",
        "graph": {"kind": "edges", "edges": [["a", "b"], ["a", "c"]]},
        "learn": {"features": ["x"]},
        "journal": True,
        "hosts": {
            name: {"agents": hosts[name], "listen": f"127.0.0.1:{port}"}
            for name, port in zip(hosts, ports, strict=True)
        },
    }
    network = described(table, tmp_path)
    places = {name: place.address for name, place in network.places.items()}
    make_certificates(tmp_path / "certs", "liars", places)
    items = [("a", encode(Gradient("b", 1.0, np.full(12, np.nan))))] * 3000
    replies: list[object] = []

    def lie() -> None:
        first, history, content = 1, 0, b""
        with asking(peers_of(network, "two", "certs"), "two") as question:
            while len(replies) < 12:
                if len(replies) < 3:
                    content = to_bytes(Deliver(network.number, 0, first, items, 0, history))
                for reply in map(reply_in, question(content, 5.0)):
                    replies.append(reply)
                    if isinstance(reply, DurablePosition):
                        first, history = first + len(items), chained(history, items)

    async def scenario() -> None:
        async with Node(network, "one") as node, asyncio.timeout(120.0):
            lying = asyncio.create_task(asyncio.to_thread(lie))
            while not lying.done():
                await node.predict("c", [1.0])
                await node.learn("c", [1.0], 2.0)
                await asyncio.sleep(0.05)
            await lying
            assert "not heard for 60 seconds" in node.stopped["two"]
            assert node.host.refused["two", node.stopped["two"]] <= 11
            learned = node.host.learned["c"]
        assert learned > 0

    asyncio.run(scenario())
    assert [type(one) for one in replies] == [DurablePosition] + [Refused] * 11
    size = sum(file.stat().st_size for file in (tmp_path / "state").glob("one.db*"))
    assert size < len(items) * len(items[0][1])  # of one question, without the rounds of agent c
    assert replay_files([tmp_path / "state" / "one.db"]).differences == []
