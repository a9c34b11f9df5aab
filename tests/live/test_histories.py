"""Two hosts that remember different messages under the same numbers notice it, and say so."""

import asyncio
import copy
import shutil
from pathlib import Path

import numpy as np
import pytest

from live.disasters import FORGETFUL, play
from live.networks import private, ring, shards
from live.small_network import KT, PRIVATE, small
from live.test_restored import learn, run_some_rounds, talk
from live.world import Process, World
from mtcool.live import Node
from mtcool.live.config import Description
from mtcool.live.host import Host
from mtcool.live.host_view import Share
from mtcool.live.mailbox import Mailbox
from mtcool.live.refusals import Refusal
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport
from mtcool.live.wire import Deliver, DurablePosition, Refused, question_in, to_bytes

COPIED = {".db", ".counter"}
DIFFERENT = "remember different messages"
SCHEDULES = {
    "forgetful_ring": 40,
    "forgetful_shards": 40,
    "forgetful_private": 20,
    "forgetful_changing": 30,
}


@pytest.mark.parametrize("kind", [*FORGETFUL])
def test_either_nothing_is_lost_or_both_ends_say_so(kind: str) -> None:
    found = [wrong for seed in range(SCHEDULES[kind]) if (wrong := play(kind, seed))]
    assert not found, found[:3]


# --- nodes ------------------------------------------------------------------------------------


class Pair:
    """Two nodes, of which the first learns."""

    def __init__(self, network: Description) -> None:
        self.network, self.exchange = network, MemoryExchange()
        self.nodes: dict[str, Node] = {}
        self.rounds = 0

    async def begin(self, name: str) -> None:
        transport = MemoryTransport(name, self.exchange)
        self.nodes[name] = await Node(self.network, name, transport=transport).__aenter__()

    async def end(self, name: str) -> None:
        await self.nodes.pop(name).__aexit__(None, None, None)

    async def learn(self, rounds: int) -> None:
        node = self.nodes["host0"]
        for _ in range(rounds):
            self.rounds += 1
            if self.network.private:
                await node.learn(1, [0.001 * self.rounds, 0.1], 0.1)
            else:
                await node.predict(1, timeout=0.001)
                await node.update(1, [0.001 * self.rounds, 0.1])

    async def greeted(self) -> None:
        async with asyncio.timeout(20):
            while not self.nodes["host0"].host.links["host1"].greeted:
                await asyncio.sleep(0.01)

    async def trouble(self) -> tuple[str, str]:
        """What both say, when they do."""
        one, other = self.nodes["host0"].host, self.nodes["host1"].host
        async with asyncio.timeout(20):
            while not (one.trouble and other.trouble):
                await self.nodes["host1"].predict(2, [0.1, 0.1] if self.network.private else None)
                await asyncio.sleep(0.01)
        return one.trouble["host1"], other.trouble["host0"]


async def begin_again_cut_off(pair: Pair, path: Path, *, removed: bool) -> None:
    """Let the first host begin from an older database while the other one is not reached.

    With a counter as old, if it is private, else it would refuse.
    """
    for name in ("host0", "host1"):
        await pair.begin(name)
    await pair.greeted()
    await pair.learn(5)
    assert await pair.nodes["host0"].delivered()
    await pair.end("host0")
    files = [file for file in (path / "state").glob("host0.*") if file.suffix in COPIED]
    older = {file: file.read_bytes() for file in files}
    await pair.begin("host0")
    await pair.greeted()
    await pair.learn(15)
    assert await pair.nodes["host0"].delivered()
    await pair.end("host0")
    for file, content in older.items():
        file.unlink()
        if not removed:
            file.write_bytes(content)
    pair.exchange.cut.add(frozenset(("host0", "host1")))
    await pair.begin("host0")


@pytest.mark.parametrize("removed", [False, True], ids=["restored", "removed"])
def test_who_counts_past_its_neighbour_while_cut_off_is_noticed(
    tmp_path: Path, removed: bool
) -> None:
    pair = Pair(small(tmp_path, agents=4, hosts=2, algorithm={"dim": 2, **KT}))

    async def run() -> None:
        await begin_again_cut_off(pair, tmp_path, removed=removed)
        await pair.learn(30)
        one, other = pair.nodes["host0"].host, pair.nodes["host1"].host
        said = one.links["host1"].sent
        assert said == (30 if removed else 35)  # beyond the 20 that the other has taken
        before = other.drivers[2].keep()
        pair.exchange.cut.clear()
        assert not await pair.nodes["host0"].delivered(10.0)
        own, others = await pair.trouble()
        assert DIFFERENT in own
        assert own.endswith(others)
        assert other.links["host0"].taken == 20
        assert other.drivers[2].keep() == before
        assert len(one.links["host1"].outbox) == 30  # nothing of it was thrown away
        for name in ("host0", "host1"):
            await pair.end(name)

    asyncio.run(run())


def test_a_restored_neighbour_is_noticed_although_nobody_is_active(tmp_path: Path) -> None:
    timing = {"rows": 0.2, "delivery": 0.2, "heartbeat": 0.05}
    pair = Pair(small(tmp_path, agents=4, hosts=2, algorithm={"dim": 2, **KT}, timing=timing))
    database, older = tmp_path / "state" / "host1.db", tmp_path / "older.db"

    async def run() -> None:
        await pair.begin("host0")
        for rounds in (5, 5):
            await pair.begin("host1")
            await pair.greeted()
            await pair.learn(rounds)
            assert await pair.nodes["host0"].delivered()
            await pair.end("host1")
            if not older.exists():
                shutil.copy(database, older)
        shutil.copy(older, database)
        await pair.begin("host1")
        one, other = (pair.nodes[name].host for name in ("host0", "host1"))
        async with asyncio.timeout(20):
            while not (one.trouble and other.trouble):
                await asyncio.sleep(0.01)
        found = other.refused.total()
        await pair.end("host0")
        async with asyncio.timeout(20):  # whom it does not believe it asks nothing else
            while "host0" not in pair.nodes["host1"].silent:
                await asyncio.sleep(0.01)
        assert other.refused.total() == found
        await pair.end("host1")

    asyncio.run(run())


@pytest.mark.parametrize("removed", [False, True], ids=["restored", "removed"])
def test_private_agents_learn_nothing_while_cut_off_and_stop_when_it_is_noticed(
    tmp_path: Path, removed: bool
) -> None:
    pair = Pair(small(tmp_path, agents=4, hosts=2, **PRIVATE))

    async def run() -> None:
        await begin_again_cut_off(pair, tmp_path, removed=removed)
        with pytest.raises(Refusal, match="must say what it knows of us"):
            await pair.learn(1)
        pair.exchange.cut.clear()
        await pair.trouble()
        for host, agent in (("host0", 1), ("host1", 2)):
            with pytest.raises(ValueError, match="restored from a copy") as found:
                await pair.nodes[host].learn(agent, [0.1, 0.1], 0.1)
            assert not isinstance(found.value, Refusal)
            await pair.end(host)

    asyncio.run(run())


# --- hosts ------------------------------------------------------------------------------------


def cut_off(process: Process, rounds: int) -> None:
    """Let a host begin again from its disk, and learn while it reaches nobody."""
    process.begin()
    for _ in range(rounds):
        for agent in process.host.drivers:
            learn(process.host, agent)
        changes = process.host.changes()
        process.disk.write(changes)
        process.host.committed(changes)


def test_a_private_host_that_finds_it_stops_and_so_does_the_one_that_is_told() -> None:
    """Which of them has forgotten is not known; so neither draws noise, for whomever."""
    world = World(1, private(9))
    run_some_rounds(world, 10)
    one, other = world.processes["host0"].host, world.processes["host1"].host
    other.links["host0"].history ^= 1
    learn(one, 2)  # whose neighbour lives there
    world.begin_commit(world.processes["host0"])
    world.end_commit(world.processes["host0"])
    before = other.links["host0"].taken
    talk(world)
    assert DIFFERENT in other.trouble["host0"]
    assert one.trouble["host1"].startswith("host 'host1' has stopped, and says: hosts 'host0'")
    assert other.links["host0"].taken == before
    for host, agent in ((one, 1), (other, 4)):  # whose neighbours live on the same host
        with pytest.raises(ValueError, match=DIFFERENT) as found:
            learn(host, agent)
        assert not isinstance(found.value, Refusal)


@pytest.mark.parametrize("rounds", [1, 20], ids=["fewer", "more"])
def test_a_host_that_has_its_memory_back_goes_on_without_a_restart_of_the_others(
    rounds: int,
) -> None:
    world = World(3, shards())
    run_some_rounds(world, 10)
    process = world.processes["host1"]
    older = copy.deepcopy(process.disk)
    run_some_rounds(world, 30)
    newest, process.disk = process.disk, older
    cut_off(process, rounds)
    talk(world)
    assert process.host.trouble.keys() == {"host0", "host2"}
    refused = process.host.refused.total() + world.processes["host0"].host.refused.total()
    talk(world)
    after = process.host.refused.total() + world.processes["host0"].host.refused.total()
    assert after == refused  # what is asked again and again is counted once
    process.disk = newest
    process.begin()
    for name, agent in (("host0", 1), ("host2", 4)):  # what they have to say may wait for it
        learn(world.processes[name].host, agent)
    learn(process.host, 2)
    learn(process.host, 3)
    world.calm()
    assert not any(one.host.trouble for one in world.processes.values())
    assert world.quiet()


def test_a_lost_acknowledgement_is_believed_only_after_both_have_compared() -> None:
    share, there = Share("here", 7, {0: "here", 1: "there"}, 0, False), "there"
    mailbox = Mailbox("here", [there])
    for number in range(1, 6):
        mailbox.put(there, 1, b"gradient %d" % number)
    mailbox.committed(there, mailbox.changes().links[there])

    def asked() -> Deliver:
        question = question_in(mailbox.batch(there, share, near=True, largest=1 << 20) or b"")
        assert isinstance(question, Deliver)
        return question

    link = mailbox.links[there]
    question = asked()
    assert (question.first, question.items, question.ahead) == (1, [], 0)
    assert not mailbox.delivered(
        there, to_bytes(DurablePosition(3))
    )  # taken before a crash of ours
    assert len(link.outbox) == 5
    claim = asked()
    assert (claim.first, claim.items, claim.ahead) == (1, [], 3)
    assert claim.after == link.digest(3)
    assert mailbox.delivered(there, to_bytes(DurablePosition(3)))
    assert [number for number, _, _ in link.outbox] == [4, 5]
    assert link.after == claim.after
    batch = asked()
    assert (batch.first, len(batch.items), batch.after) == (4, 2, claim.after)


def test_an_acknowledgement_survives_with_the_digest_that_belongs_to_it() -> None:
    """The outbox on the disk follows the digest on the disk, whatever was written when."""
    world = World(6, ring())
    for _ in range(3000):
        world.step()
        for process in world.processes.values():
            for host, numbers in process.disk.links.items():
                waiting = [number for name, number in process.disk.outbox if name == host]
                assert len(waiting) == numbers.sent - min(waiting, default=numbers.sent + 1) + 1
            kept = process.disk.read()
            if kept is None:
                continue
            for host, numbers in kept.links.items():
                other = world.processes[host].disk.links.get(process.name)
                mine = [message for message in kept.outbox if message[0] == host]
                if other is not None and other.taken == numbers.sent - len(mine):
                    assert other.history == numbers.after


def test_a_neighbour_with_nothing_to_say_lets_a_host_know_what_it_has_forgotten() -> None:
    world = World(3, ring())
    run_some_rounds(world, 10)
    process, other = world.processes["host1"], world.processes["host0"].host
    older = copy.deepcopy(process.disk)
    learn(other, 0)
    world.calm()
    process.disk = older
    process.begin()
    talk(world)
    assert "older than what it has said" in process.host.trouble["host0"]


def test_a_link_over_which_nothing_was_said_is_the_same_at_both_ends() -> None:
    world = World(3, ring())
    world.faults = False
    world.calm()
    assert not any(one.host.trouble for one in world.processes.values())
    assert all(link.greeted for one in world.processes.values() for link in one.host.links.values())


def test_a_digest_before_items_must_be_that_before_them() -> None:
    world = World(3, ring())
    run_some_rounds(world, 10)
    host: Host = world.processes["host0"].host
    link = host.links["host1"]
    content = Deliver(7, 0, link.taken + 1, [(0, b"gradient")], after=link.history, ahead=1)
    host.receive("host1", to_bytes(content), None)
    (reply,) = host.ready()
    assert b"ahead must be 0" in reply.content
    assert not host.trouble


def test_who_finds_both_kinds_of_trouble_does_not_forget_the_worse() -> None:
    """That our own memory is older does not pass with what others say."""
    mailbox = Mailbox("here", ["there"])
    mailbox.delivered("there", to_bytes(Refused("different", stopped=True, either=True)))
    assert not mailbox.distrusts("there")
    mailbox.delivered("there", to_bytes(DurablePosition(9)))
    assert mailbox.distrusts("there")
    with pytest.raises(ValueError, match="knows of message 9"):
        mailbox.check_newer("there")


def test_rows_are_refused_over_a_link_that_has_stopped() -> None:
    world = World(3, ring())
    run_some_rounds(world, 10)
    one, other = world.processes["host0"].host, world.processes["host1"].host
    other.links["host0"].history ^= 1
    learn(one, 0)
    one.committed(one.changes())
    talk(world)
    asked = one.begin(0)
    assert other.answer("host0", asked.questions["host1"]) is None
    other.receive("host0", asked.questions["host1"], None)
    (reply,) = other.ready()
    assert DIFFERENT.encode() in reply.content
    assert np.isfinite(one.predict(asked.number, {"host1": reply.content}).value).all()
