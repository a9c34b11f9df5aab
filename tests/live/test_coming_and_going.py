"""Hosts leave and come back, descriptions change under load, disks fail: nothing is half done."""

import asyncio
import contextlib
import copy
import socket

import numpy as np
import pytest

from live.networks import private
from live.ports import free_ports
from live.small_network import KT, PRIVATE, never_idle, opened, small
from live.test_restored import run_some_rounds
from live.world import World
from mtcool.live import Node
from mtcool.live.certificates import make_certificates
from mtcool.live.config import Description, described
from mtcool.live.journals import replay_files
from mtcool.live.refusals import MOST_REASONS, OTHERS, Refusals
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

POINTS = {"algorithm": "mt_co2ol", "dim": 2, "loss": "squared"} | KT


def star(folder, revision: int, *, leaf: bool = True, ports=(1, 2, 3), **more) -> Description:
    """Agent a on host A knows b and, where it is, c."""
    names = "abc" if leaf else "ab"
    return described(
        {
            "name": "star",
            "revision": revision,
            "journal": True,
            "timing": {"rows": 0.2, "delivery": 0.2},
            "graph": {"kind": "edges", "edges": [["a", name] for name in names[1:]]},
            "hosts": {
                name.upper(): {"agents": [name], "listen": f"127.0.0.1:{port}"}
                for name, port in zip(names, ports, strict=False)
            },
        }
        | ({"learn": {"features": ["x", "y"]}} if "algorithm" not in more else {})
        | more,
        folder,
    )


async def learn(node: Node, agent: str, rounds: int) -> None:
    for k in range(rounds):
        await node.learn(agent, [1.0, 0.1 * k], 2.0)


@pytest.mark.parametrize("restart", [False, True], ids=["runs on", "restarted"])
def test_a_host_that_was_out_of_the_network_comes_back_and_goes_on_counting(tmp_path, restart):
    async def play() -> None:
        exchange = MemoryExchange()
        node = lambda revision, name, leaf=True: Node(  # noqa: E731
            star(tmp_path, revision, leaf=leaf), name, transport=MemoryTransport(name, exchange)
        )
        async with contextlib.AsyncExitStack() as stack:
            a = await node(0, "A").__aenter__()
            b = await stack.enter_async_context(node(0, "B"))
            async with node(0, "C") as c:
                await learn(a, "a", 5)
                await learn(c, "c", 5)
                assert await a.delivered()
                assert await c.delivered()
            await learn(a, "a", 2)  # these wait for C, and are given up with it
            for one in (a, b):
                await one.reload(star(tmp_path, 1, leaf=False))
            await learn(a, "a", 1)
            if restart:
                await a.__aexit__(None, None, None)
                a = await node(1, "A", leaf=False).__aenter__()
            for one in (a, b):
                await one.reload(star(tmp_path, 2))
            async with node(2, "C") as c:
                await learn(a, "a", 3)
                await learn(c, "c", 3)
                assert await a.delivered()
                assert await c.delivered()
                assert (a.host.trouble, c.host.trouble) == ({}, {})
            await a.__aexit__(None, None, None)

    asyncio.run(play())
    again = replay_files([tmp_path / "state" / f"{name}.db" for name in "ABC"])
    assert (again.same, again.predictions) == (19, 19)
    assert (again.lost, again.twice, again.differences) == (0, 0, [])


@pytest.mark.parametrize("more", [{}, {"algorithm": POINTS}], ids=["tables", "gradients"])
def test_a_round_in_which_a_neighbour_leaves_is_predicted_again(tmp_path, more):
    async def play() -> None:
        exchange = MemoryExchange()
        async with (
            Node(star(tmp_path, 0, **more), "A", transport=MemoryTransport("A", exchange)) as a,
            Node(star(tmp_path, 0, **more), "B", transport=MemoryTransport("B", exchange)) as b,
        ):
            async with Node(
                star(tmp_path, 0, **more), "C", transport=MemoryTransport("C", exchange)
            ) as c:
                await learn(c, "c", 2)
                await c.delivered()
                await a.predict("a", [0.5, 0.5])
            for one in (a, b):
                await one.reload(star(tmp_path, 1, leaf=False, **more))
            await a.learn("a", [0.5, 0.5], 1.0)
            assert a.host.learned["a"] == 1
            assert await a.delivered()

    asyncio.run(play())
    again = replay_files([tmp_path / "state" / f"{name}.db" for name in "ABC"])
    assert (again.same, again.predictions) == (4, 4)
    assert (again.lost, again.differences) == (0, [])


def test_a_reload_while_all_agents_learn_loses_nothing_and_leaves_no_call_without_answer(tmp_path):
    ports = free_ports(3)
    first, second = star(tmp_path, 0, leaf=False, ports=ports), star(tmp_path, 1, ports=ports)
    make_certificates(
        tmp_path / "certs", "star", {name: place.address for name, place in second.places.items()}
    )

    async def busy(node: Node, agent: str, stop: asyncio.Event) -> None:
        while not stop.is_set():
            await learn(node, agent, 1)

    async def play() -> None:
        stop = asyncio.Event()
        async with Node(first, "A") as a, Node(first, "B") as b:
            working = [
                asyncio.create_task(busy(node, agent, stop))
                for node, agent in ((a, "a"), (b, "b"), (a, "a"))
            ]
            await asyncio.sleep(0.3)
            results = await asyncio.gather(
                a.reload(second), a.reload(second), b.reload(second), return_exceptions=True
            )
            assert [type(one) for one in results] == [type(None), ValueError, type(None)]
            async with Node(second, "C") as c:
                await learn(c, "c", 3)
                await asyncio.sleep(0.3)
                stop.set()
                await asyncio.gather(*working)
                for node in (a, b, c):
                    assert await node.delivered(60.0)
                async with asyncio.timeout(60.0):  # all of them are heard again
                    while (said := await a.predict("a", [1.0, 1.0])).old or said.missing:
                        await asyncio.sleep(0.05)

    asyncio.run(play())
    again = replay_files([tmp_path / "state" / f"{name}.db" for name in "ABC"])
    assert (again.lost, again.twice, again.waiting, again.differences) == (0, 0, 0, [])
    assert again.same == again.predictions


def test_an_address_that_is_taken_is_tried_again_after_a_reload(tmp_path):
    ports = free_ports(4)
    first = star(tmp_path, 0, ports=ports, security={"tls": False})
    second = star(tmp_path, 1, ports=(ports[3], *ports[1:]), security={"tls": False})

    async def play() -> None:
        async with Node(first, "A") as a:
            with socket.socket() as taken:
                taken.bind(("127.0.0.1", ports[3]))
                taken.listen()
                with pytest.raises(OSError, match="must be an address that is free"):
                    await a.reload(second)
                await a.predict("a", [1.0, 1.0], timeout=0.1)  # nobody answers, and it goes on
            async with Node(second, "B") as b, asyncio.timeout(60):
                await b.reload(star(tmp_path, 2, ports=(ports[3], *ports[1:]), security=NO_TLS))
                await a.reload(star(tmp_path, 2, ports=(ports[3], *ports[1:]), security=NO_TLS))
                while (await b.predict("b", [1.0, 1.0], timeout=0.2)).missing:
                    await asyncio.sleep(0.1)

    asyncio.run(play())


NO_TLS = {"tls": False}


def test_a_copy_is_noticed_too_if_only_rows_had_left_since_it_was_made():
    world = World(1, private())
    run_some_rounds(world, 10)
    process, other = world.processes["host1"], world.processes["host2"]
    older = copy.deepcopy(process.disk)
    agent = next(name for name, one in process.host.drivers.items() if set(one.neighbours) & {4, 5})
    asked = process.host.begin(agent)
    process.host.predict(asked.number, {})
    process.host.learn(asked.number, np.array([0.5]), None)
    world.begin_commit(process)
    world.end_commit(process)
    # Its message is lost. A neighbour on the other host reads a row that rests on the new noise.
    reader = next(iter(set(process.host.drivers[agent].neighbours) & other.host.drivers.keys()))
    question = other.host.begin(reader)
    process.host.receive("host2", question.questions["host1"], "token")
    (reply,) = process.host.ready()
    other.host.predict(question.number, {"host1": reply.content})
    other.disk.write(other.host.changes())
    other.begin()  # it remembers over a restart
    process.disk = older
    process.begin()
    batch = process.host.batch("host2")
    other.host.receive("host1", batch, "token")
    (position,) = other.host.ready()
    assert not process.host.delivered("host2", position.content)
    asked = process.host.begin(agent)
    process.host.predict(asked.number, {})
    with pytest.raises(ValueError, match="restored from a copy"):
        process.host.learn(asked.number, np.array([0.5]), None)


def test_a_network_on_one_host_opens_no_port(tmp_path):
    (port,) = free_ports(1)
    alone = small(tmp_path, agents=3, hosts=1, shards={"count": 1, "port": port})

    async def play() -> None:
        async with Node(alone) as node:
            await node.learn(0, [1.0, 1.0], 2.0)
            with socket.socket() as ours:
                ours.bind(("127.0.0.1", port))

    asyncio.run(play())


def test_a_node_that_is_not_open_says_so(tmp_path):
    async def play() -> None:
        node = Node(small(tmp_path, hosts=1))
        with pytest.raises(ValueError, match="must be entered by `async with`"):
            await node.predict(0, [1.0, 1.0])
        async with node:
            await node.learn(0, [1.0, 1.0], 2.0)
        with pytest.raises(ValueError, match="it is closed"):
            await node.learn(0, [1.0, 1.0], 2.0)

    asyncio.run(play())


def test_many_may_learn_at_once_from_one_agent(tmp_path):
    async def play() -> None:
        async with opened(small(tmp_path)) as nodes:
            node = nodes["host0"]
            await asyncio.gather(*(node.learn(0, [1.0, k / 100], 2.0) for k in range(100)))
            assert node.host.learned[0] == 100

    asyncio.run(play())


def test_nobody_sees_noise_that_a_full_disk_undoes(tmp_path, monkeypatch):
    never_idle(monkeypatch)

    async def play() -> None:
        async with opened(small(tmp_path, agents=4, hosts=2, **PRIVATE)) as nodes:
            node = nodes["host0"]
            while not node.host.links["host1"].greeted:
                await asyncio.sleep(0.01)
            await node.learn(0, [1.0, 1.0], 2.0)
            await node.predict(0, [1.0, 1.0])

            def full(changes: object) -> None:
                raise OSError("the disk is full")

            with monkeypatch.context() as patched:
                patched.setattr(node._engine.store, "write", full)
                results = await asyncio.gather(
                    node.learn(0, [1.0, 1.0], 2.0),
                    node.predict(1, [1.0, 1.0]),
                    return_exceptions=True,
                )
            assert [type(one) for one in results] == [OSError, OSError]
            await node.predict(1, [1.0, 1.0])

    asyncio.run(play())


def test_a_database_that_cannot_be_read_any_more_stops_the_node_with_a_reason(tmp_path):
    async def play() -> None:
        async with Node(small(tmp_path, hosts=1)) as node:
            await node.learn(0, [1.0, 1.0], 2.0)
            node._engine.store._base.execute("drop table agent")
            with pytest.raises(OSError, match="could not be written"):
                await node.learn(0, [1.0, 1.0], 2.0)
            with pytest.raises(OSError, match="cannot be read any more"):
                await node.learn(0, [1.0, 1.0], 2.0)

    asyncio.run(play())


def test_those_who_lie_in_many_ways_take_no_memory():
    refused = Refusals()
    for k in range(1000):
        refused.note("liar", f"reason {k}" * 100)
    refused.note("other", "honest mistake")
    assert len(refused) == MOST_REASONS + 2
    assert refused["liar", OTHERS] == 1000 - MOST_REASONS
    assert refused["other", "honest mistake"] == 1


def test_the_state_of_an_agent_stays_small_if_many_predictions_are_never_learned_from(tmp_path):
    async def play() -> None:
        async with opened(small(tmp_path, agents=4, hosts=2, algorithm=POINTS)) as nodes:
            node, other = nodes["host0"], nodes["host1"]
            for _ in range(300):
                await node.predict(1, [0.1, 0.1])
                await node.predict(1, [0.2, 0.1])
                await node.learn(1, [0.2, 0.1], 0.1)
            assert await node.delivered()
            heard = other.host.drivers[2].agent.heard[1]
            assert len(heard.beyond) <= 256

    asyncio.run(play())
