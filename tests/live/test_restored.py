"""A database restored from a copy is noticed, because neighbours remember more than it does."""

import asyncio
import copy
import json
import subprocess
import sys
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from live.networks import larger, private, shards
from live.processes import write_network
from live.small_network import PRIVATE, opened, play, small
from live.world import World
from mtcool.live import Node
from mtcool.live.config import Description, read_description
from mtcool.live.host import Host, HostLimits
from mtcool.live.http import http_app
from mtcool.live.lines import Lines
from mtcool.live.mailbox import Mailbox
from mtcool.live.refusals import Refusal, Stopped
from mtcool.live.transactions import Replied
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport
from mtcool.live.wire import Deliver, DurablePosition, Refused, question_in, reply_in, to_bytes
from mtcool.types import Label


def run_some_rounds(world: World, rounds: int) -> None:
    world.faults, world.left = False, rounds
    while world.left > 0:
        world.step()
    world.calm()


def restored(world: World, name: str) -> World:
    """Let a host go on from an older copy of its disk, and talk to the others."""
    process = world.processes[name]
    older = copy.deepcopy(process.disk)
    run_some_rounds(world, 30)
    process.disk = older
    process.begin()
    talk(world)
    return world


def talk(world: World) -> None:
    """Let all hosts ask each other what they have."""
    for _ in range(5):
        for one in world.processes.values():
            world.send_batches(one)
        while world.letters:
            world.deliver(world.letters.pop(0))
            for one in world.processes.values():
                world.begin_commit(one)
                world.end_commit(one)


def learn(host: Host, agent: Label, *others: Host) -> None:
    """A round of an agent, in which these other hosts answer."""
    asked, replies = host.begin(agent), {}
    for other in others:
        other.receive(host.share.host, asked.questions[other.share.host], None)
        (reply,) = other.ready()
        assert isinstance(reply, Replied)
        replies[other.share.host] = reply.content
    host.predict(asked.number, replies)
    host.learn(asked.number, np.array([0.5]), None)


def test_a_private_host_refuses_to_go_on_from_an_old_copy() -> None:
    world = World(1, private())
    run_some_rounds(world, 10)
    host = restored(world, "host1").processes["host1"].host
    assert host.trouble
    agent = next(iter(host.drivers))
    asked = host.begin(agent)
    host.predict(asked.number, {})
    before = host.drivers[agent].keep()
    with pytest.raises(ValueError, match="restored from a copy"):
        host.learn(asked.number, np.array([0.5]), None)
    assert host.drivers[agent].keep() == before


def test_noise_of_an_agent_without_neighbours_elsewhere_is_not_drawn_twice() -> None:
    """It leaves in the rows of its neighbours, with no message of its own that has a number."""
    world = World(1, private(9))
    run_some_rounds(world, 10)
    process, other = world.processes["host1"], world.processes["host0"].host
    older = copy.deepcopy(process.disk)
    learn(process.host, 4)
    world.calm()
    asked = other.begin(2)
    process.host.receive("host0", asked.questions["host1"], None)
    (reply,) = process.host.ready()
    assert isinstance(reply, Replied)
    other.predict(asked.number, {"host1": reply.content})  # a row that rests on the noise
    process.disk = older
    process.begin()
    with pytest.raises(Refusal, match="must say what it knows of us"):
        learn(process.host, 4)
    talk(world)
    assert "host0" in process.host.trouble
    with pytest.raises(ValueError, match="restored from a copy"):
        learn(process.host, 4)


def test_who_waits_for_its_neighbours_does_not_predict_meanwhile(tmp_path: Path) -> None:
    """It is asked again and again, and its journal would grow."""
    network = small(tmp_path, hosts=2, journal=True, **PRIVATE)
    exchange = MemoryExchange()

    async def play() -> None:
        async with Node(network, "host0", transport=MemoryTransport("host0", exchange)) as node:
            row = {"agent": 0, "features": [0.1, 0.2], "target": 0.3}
            for do in ("round", "learn"):
                told = json.loads(await Lines(node).answer(json.dumps(row | {"do": do}).encode()))
                assert told["again"], told
            assert node.host.rounds == 0

    asyncio.run(play())


def test_a_private_host_waits_for_its_neighbours_after_a_restart() -> None:
    world = World(2, private())
    run_some_rounds(world, 10)
    process = world.processes["host0"]
    process.begin()
    asked = process.host.begin(0)
    process.host.predict(asked.number, {})
    with pytest.raises(Refusal, match="must say what it knows of us"):
        process.host.learn(asked.number, np.array([0.5]), None)
    world.calm()
    process.host.learn(asked.number, np.array([0.5]), None)


def test_nothing_is_sent_over_a_link_whose_other_end_remembers_more() -> None:
    world = World(3, shards())
    run_some_rounds(world, 10)
    host = restored(world, "host1").processes["host1"].host
    assert set(host.trouble) == {"host0", "host2"}
    assert host.batch("host0") is None


# --- the neighbours of a host that was restored -----------------------------------------------


def begin_again(world: World) -> None:
    """Restart all hosts, and let them ask each other what they have."""
    for process in world.processes.values():
        process.begin()
    talk(world)


def test_neighbours_of_a_restored_private_host_hear_why_and_refuse_for_good() -> None:
    world = World(1, private())
    run_some_rounds(world, 10)
    begin_again(restored(world, "host1"))
    for name, agent in (("host0", 1), ("host2", 4)):  # each has a neighbour on host1
        host = world.processes[name].host
        assert list(host.trouble) == ["host1"]
        with pytest.raises(ValueError, match=r"'host1' has stopped, and says: .* a copy") as found:
            learn(host, agent)
        assert not isinstance(found.value, Refusal)  # so nobody tries again
    for name, agent in (("host0", 0), ("host2", 5)):  # these have none, and go on
        learn(world.processes[name].host, agent)


def test_a_neighbour_that_has_not_restarted_hears_why_before_it_draws_noise() -> None:
    world = World(1, private())
    run_some_rounds(world, 10)
    host, other = restored(world, "host1").processes["host1"].host, world.processes["host0"].host
    assert not other.trouble  # it had nothing to ask
    before = other.links["host1"].sent
    with pytest.raises(ValueError, match="'host1' has stopped, and says: "):
        learn(other, 1, host)
    assert other.links["host1"].sent == before


def test_a_neighbour_with_nothing_new_hears_of_a_copy_that_it_knows_more_than() -> None:
    world = World(1, private())
    run_some_rounds(world, 10)
    process = world.processes["host1"]
    older = copy.deepcopy(process.disk)
    learn(process.host, 2)  # and nobody else
    world.calm()
    process.disk = older
    begin_again(world)
    begin_again(world)
    assert "host0" in process.host.trouble
    other = world.processes["host0"].host
    with pytest.raises(ValueError, match="'host1' has stopped, and says: "):
        learn(other, 1, process.host)


def test_a_host_whose_memory_is_back_is_heard_again_without_a_restart_of_its_neighbours() -> None:
    world = World(1, private())
    run_some_rounds(world, 10)
    process, host = world.processes["host1"], world.processes["host0"].host
    older = copy.deepcopy(process.disk)
    run_some_rounds(world, 30)
    newer, process.disk = process.disk, older
    process.begin()
    talk(world)
    with pytest.raises(ValueError, match="has stopped"):
        learn(host, 1, process.host)
    assert host.trouble
    process.disk = newer
    process.begin()
    world.calm()
    assert not host.trouble
    assert not process.host.trouble
    learn(host, 1)
    learn(process.host, 2)
    world.calm()
    assert world.quiet()


def test_a_host_that_is_asked_again_and_again_refuses_each_time_and_counts_once() -> None:
    world = World(3, shards())
    run_some_rounds(world, 10)
    host = restored(world, "host1").processes["host1"].host
    before = host.refused.total()
    for number in range(20):
        host.receive("host0", to_bytes(Deliver(7, 0, 1, [])), number)
    (reason, *more) = {reply_in(reply.content) for reply in host.ready()}
    assert reason == Refused(host.trouble["host0"], stopped=True)
    assert more == []
    assert host.refused.total() == before


def test_what_a_host_says_of_its_trouble_is_bounded_and_of_printable_letters() -> None:
    mailbox = Mailbox("here", ["there"])
    mailbox.delivered("there", to_bytes(Refused("\x1b[2J\n" + 10_000 * "a", stopped=True)))
    assert mailbox.trouble["there"].isprintable()
    assert len(mailbox.trouble["there"]) < 400
    mailbox.delivered("there", to_bytes(DurablePosition(0)))
    assert not mailbox.trouble


def test_a_host_that_has_left_the_network_is_in_no_trouble() -> None:
    mailbox = Mailbox("here", ["there"])
    mailbox.give_up("there")
    mailbox.deny("there", Refused("it was restored from a copy", stopped=True))
    assert not mailbox.trouble


def test_what_a_host_has_found_itself_is_not_replaced_by_what_another_says() -> None:
    mailbox = Mailbox("here", ["there"])
    mailbox.delivered("there", to_bytes(DurablePosition(9)))
    found = dict(mailbox.trouble)
    mailbox.delivered("there", to_bytes(Refused("it is your fault", stopped=True)))
    assert mailbox.trouble == found
    mailbox.delivered("there", to_bytes(DurablePosition(0)))
    assert mailbox.trouble == found


def test_nothing_but_a_question_goes_to_a_host_that_has_said_that_it_has_stopped() -> None:
    world = World(3, shards())
    run_some_rounds(world, 10)
    host, process = world.processes["host0"].host, world.processes["host1"]
    older = copy.deepcopy(process.disk)
    run_some_rounds(world, 30)
    learn(host, 1)
    host.committed(host.changes())
    process.disk = older
    process.begin()
    talk(world)
    assert host.links["host1"].outbox
    question = question_in(host.batch("host1") or b"")
    assert isinstance(question, Deliver)
    assert question.items == []


def test_what_would_be_lost_is_not_learned_and_is_refused_for_good() -> None:
    """On the host that has forgotten all would be, and elsewhere what could not be said there."""
    world = World(3, shards())
    run_some_rounds(world, 10)
    begin_again(restored(world, "host1"))
    for name, refused in (("host1", {2, 3}), ("host0", {1}), ("host2", {4})):
        host = world.processes[name].host
        host.limits = HostLimits(outbox=0)  # that there is no room is not the reason
        for agent in host.drivers:
            assert (host.stopped_by(agent) is not None) == (agent in refused)
        for agent in refused:
            other = "host0" if name == "host1" else "host1"
            before = host.version, len(host.links[other].outbox)
            with pytest.raises(Stopped, match="restored from a copy"):
                learn(host, agent)
            assert (host.version, len(host.links[other].outbox)) == before
    host.limits = HostLimits()
    learn(host, 5)  # whose neighbours elsewhere remember what we do


def test_on_a_host_that_has_forgotten_agents_without_neighbours_elsewhere_stop_too() -> None:
    world = World(1, larger())
    run_some_rounds(world, 10)
    host = restored(world, "host1").processes["host1"].host
    assert {agent: host.stopped_by(agent) is not None for agent in host.drivers} == dict.fromkeys(
        (3, 4, 5), True
    )


# --- nodes and processes ----------------------------------------------------------------------


async def with_an_older_copy(network: Description, host: str) -> None:
    """Let a network learn, and leave one of its hosts with copies of its files from before.

    The counter is among them, else the host itself would notice.
    """
    state = network.path(network.file.state)
    copies, files = {}, (f"{host}.db*", f"{host}.counter")
    for _ in range(2):
        copies = {path: path.read_bytes() for name in files for path in state.glob(name)}
        async with opened(network) as nodes:
            links = [link for node in nodes.values() for link in node.host.links.values()]
            async with asyncio.timeout(60):
                while not all(link.greeted for link in links):
                    await asyncio.sleep(0.01)
            await play(network, nodes, 12)
            for node in nodes.values():
                assert await node.delivered()
    for name in files:
        for path in state.glob(name):
            path.unlink()
    for path, content in copies.items():
        path.write_bytes(content)


async def posted(node: Node, row: dict) -> tuple[int, dict]:
    """What `/learn` answers over HTTP."""
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(http_app(node)), base_url="http://127.0.0.1"
    ) as client:
        body = {name: value for name, value in row.items() if value is not None}
        answer = await client.post("/learn", json=body)
        return answer.status_code, answer.json()


@pytest.mark.parametrize("more", [PRIVATE, {}], ids=["private", "tables"])
def test_nobody_waits_until_a_link_that_has_stopped_has_delivered(tmp_path: Path, more) -> None:
    network = small(tmp_path, **more)

    async def run() -> tuple[bool, float]:
        await with_an_older_copy(network, "host0")
        if not network.private:  # who are not told yet do not know that it must wait
            async with Node(
                network, "host1", transport=MemoryTransport("host1", MemoryExchange())
            ) as other:
                await other.learn(2, [0.5, 0.5], 1.0)
        async with opened(network) as nodes:
            other = nodes["host1"]
            async with asyncio.timeout(60):
                while "host0" not in other.host.trouble:
                    await asyncio.sleep(0.01)
            told = other.status()["agents"]
            (agent,) = [one["agent"] for one in told if one["health"] == "trouble"]
            before = other.host.learned[agent]
            with pytest.raises(Stopped, match="restored from a copy"):
                await other.learn(agent, [0.5, 0.5], 1.0)
            line = {"do": "round", "agent": agent, "features": [0.5, 0.5], "target": 1.0}
            reply = json.loads(await Lines(other).answer(json.dumps(line).encode()))
            assert reply == {"id": None, "error": other.host.trouble["host0"]}
            status, answer = await posted(other, {**line, "do": None})
            assert (status, answer) == (503, {"error": other.host.trouble["host0"]})
            assert other.host.learned[agent] == before
            began = time.monotonic()
            return await other.delivered(60.0), time.monotonic() - began

    delivered, seconds = asyncio.run(run())
    assert delivered == network.private  # whose agents have said nothing that could wait
    assert seconds < 10.0


def test_a_network_with_a_restored_private_host_ends_by_itself_and_says_why(tmp_path: Path) -> None:
    edges = {"kind": "edges", "edges": [["a", "b"], ["b", "c"]]}
    stream = {"kind": "synthetic", "rounds": 30}
    shares = {"here": ["a"], "near": ["b"], "far": ["c"]}
    path = write_network(tmp_path, {"graph": edges, "stream": stream} | PRIVATE, shares)
    asyncio.run(with_an_older_copy(read_description(path), "here"))
    command = [sys.executable, "-m", "mtcool", "up", path, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert {host: set(others) for host, others in told["trouble"].items()} == {
        "here": {"near"},
        "near": {"here"},
    }
    assert "older than what it has said" in told["trouble"]["here"]["near"]
    assert told["trouble"]["near"]["here"].endswith(told["trouble"]["here"]["near"])
    assert 0 < told["activations"] < 30  # those of c, which has no neighbour there
    assert told["activations"] + told["refused"] >= 30
    assert "host near stops: host 'here' has stopped, and says: " in done.stderr
    assert "a row of agent b is refused: host 'here' has stopped, and says: " in done.stderr
