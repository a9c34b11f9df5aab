"""An agent is told to be well when its neighbours are heard: not before, and not only for now."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path

import pytest

from live.ports import free_ports
from live.processes import write_network
from live.proxies import Proxy
from live.small_network import opened, small
from mtcool.live import Node
from mtcool.live.config import Description, described
from mtcool.live.host import Host
from mtcool.live.http.metrics import metrics_of
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

TWO = {"kind": "edges", "edges": [[0, 1]]}


def health(node: Node) -> list[str]:
    """That of its agents, in their order."""
    return [agent["health"] for agent in node.status()["agents"]]


async def becomes(node: Node, expected: list[str]) -> None:
    """Wait until its agents are so."""
    async with asyncio.timeout(60.0):
        while health(node) != expected:
            await asyncio.sleep(0.01)


def test_nobody_is_well_before_its_neighbours_have_agreed(tmp_path: Path) -> None:
    timing = {"rows": 0.2, "delivery": 0.2, "heartbeat": 60.0}
    network, exchange = small(tmp_path, agents=3, hosts=3, timing=timing), MemoryExchange()

    async def play() -> None:
        async with contextlib.AsyncExitStack() as stack:
            nodes = []
            for name, expected in (("host0", "cut off"), ("host1", "partly"), ("host2", "well")):
                node = Node(network, name, transport=MemoryTransport(name, exchange))
                nodes.append(await stack.enter_async_context(node))
                if name == "host0":
                    assert health(node) == ["cut off"]  # it has asked nobody yet
                await becomes(nodes[0], [expected])
            for node in nodes:
                await becomes(node, ["well"])
            sent = [node.counts.sent.messages.total() for node in nodes]
            await asyncio.sleep(0.5)  # longer than anybody waits for an answer
            assert [health(node) for node in nodes] == [["well"]] * 3
            assert [node.counts.sent.messages.total() for node in nodes] == sent  # nor asks again

    asyncio.run(play())


def test_an_idle_host_notices_who_is_gone_and_who_is_back_and_writes_nothing(
    tmp_path: Path,
) -> None:
    timing = {"rows": 0.2, "delivery": 0.2, "heartbeat": 0.05}
    network, exchange = small(tmp_path, hosts=2, timing=timing, graph=TWO), MemoryExchange()

    def begun(name: str) -> Node:
        return Node(network, name, transport=MemoryTransport(name, exchange))

    async def beats(node: Node, count: int) -> None:
        """Wait until it has sent so many heartbeats more."""
        wanted = node.counts.sent.messages["heartbeat"] + count
        async with asyncio.timeout(60.0):
            while node.counts.sent.messages["heartbeat"] < wanted:
                await asyncio.sleep(0.01)

    def written() -> dict[str, tuple[int, int]]:
        found = {path.name: path.stat() for path in (tmp_path / "state").iterdir()}
        return {name: (one.st_size, one.st_mtime_ns) for name, one in found.items()}

    def counted(node: Node) -> tuple[dict[str, int], int, int]:
        """What it has sent, but for heartbeats, and what its link says of that."""
        (link,) = node.status()["links"].values()
        kinds = {k: n for k, n in node.counts.sent.messages.items() if k != "heartbeat"}
        return kinds, link["messages"], link["bytes"]

    async def play() -> None:
        async with begun("host0") as one:
            async with begun("host1") as two:
                await becomes(one, ["well"])
                await one.learn(0, [0.1, 0.2], 0.3)
                assert await one.delivered()
                for node in (one, two):
                    node._engine.commit()
                before, files = counted(one), written()
                for node in (one, two):
                    await beats(node, 5)
                    node._engine.commit_when_idle()
                assert (counted(one), written()) == (before, files)
                assert counted(one)[1] == sum(before[0].values()) > 0
            await becomes(one, ["cut off"])
            async with begun("host1"):
                await becomes(one, ["well"])

    asyncio.run(play())


def test_what_is_sent_again_to_a_host_that_is_down_is_no_traffic(tmp_path: Path) -> None:
    timing = {"rows": 0.05, "delivery": 0.05, "heartbeat": 60.0}
    network, exchange = small(tmp_path, hosts=2, timing=timing, graph=TWO), MemoryExchange()

    def begun(name: str) -> Node:
        return Node(network, name, transport=MemoryTransport(name, exchange))

    async def again(node: Node, count: int) -> int:
        """Wait until it has sent so many batches again; returns the bytes that its link counts."""
        wanted = node.counts.sent.messages["again"] + count
        async with asyncio.timeout(60.0):
            while node.counts.sent.messages["again"] < wanted:
                await asyncio.sleep(0.01)
        (link,) = node.status()["links"].values()
        return int(link["bytes"])

    async def play() -> None:
        async with begun("host0") as one:
            async with begun("host1"):
                await becomes(one, ["well"])
                await one.learn(0, [0.1, 0.2], 0.3)
                assert await one.delivered()
            await one.learn(0, [0.2, 0.2], 0.3)
            before, kinds = await again(one, 1), dict(one.counts.sent.bytes)
            assert await again(one, 2) == before
            assert one.counts.sent.bytes["again"] > kinds["again"]
            assert one.counts.sent.bytes["deliver"] == kinds["deliver"]
            told = {line.rpartition(" ")[0] for line in metrics_of(one).splitlines()}
            assert 'mtcool_message_bytes_total{kind="again",peer="host1"}' in told
            await one.learn(0, [0.3, 0.2], 0.3)  # it goes with what waits, and is new itself
            assert before < await again(one, 1) < before + 1000
            async with begun("host1"):
                await becomes(one, ["well"])
                assert await one.delivered()

    asyncio.run(play())


def test_who_is_heard_anyway_is_not_asked_for_a_heartbeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, exchange, asked = small(tmp_path, hosts=2, graph=TWO), MemoryExchange(), list[str]()
    heartbeat = Host.heartbeat

    def noted(host: Host, other: str) -> bytes | None:
        asked.append(host.share.host)
        return heartbeat(host, other)

    monkeypatch.setattr(Host, "heartbeat", noted)

    async def play() -> None:
        async with contextlib.AsyncExitStack() as stack:
            nodes = [
                Node(network, name, transport=MemoryTransport(name, exchange))
                for name in network.places
            ]
            for node in nodes:
                await stack.enter_async_context(node)
            for node in nodes:
                await becomes(node, ["well"])
            asked.clear()
            async with asyncio.timeout(60.0):
                while asked.count("host1") < 2:  # which asks nothing else
                    await nodes[0].predict(0, [0.1, 0.2])
                    await asyncio.sleep(0.01)
            assert set(asked) == {"host1"}

    asyncio.run(play())


def pair(folder: Path, revision: int) -> Description:
    """Agents a and b on one host, c and d on another; in revision 1 the hosts are no neighbours."""
    edges = [["a", "b"], ["c", "d"], *([] if revision == 1 else [["b", "c"]])]
    table = {
        "name": "pair",
        "revision": revision,
        "learn": {"features": ["x"]},
        "timing": {"rows": 0.2, "delivery": 0.2},
        "graph": {"kind": "edges", "edges": edges},
        "hosts": {
            "one": {"agents": ["a", "b"], "listen": "127.0.0.1:1"},
            "two": {"agents": ["c", "d"], "listen": "127.0.0.1:2"},
        },
    }
    return described(table, folder)


def test_hosts_that_become_neighbours_again_agree_at_once(tmp_path: Path) -> None:
    """One of them has begun again meanwhile, and nobody learns anything."""
    exchange = MemoryExchange()

    async def play() -> None:
        def begun(name: str, revision: int) -> Node:
            return Node(pair(tmp_path, revision), name, transport=MemoryTransport(name, exchange))

        async with begun("two", 0) as two:
            async with begun("one", 0) as one:
                await one.learn("b", [1.0], 1.0)
                assert await one.delivered()
            await two.reload(pair(tmp_path, 1))
            async with begun("one", 1) as one:
                await asyncio.sleep(0.05)  # it finds nothing to deliver
                assert health(one) == ["well", "well"]
                for node in (one, two):
                    await node.reload(pair(tmp_path, 2))
                await becomes(one, ["well", "well"])
                await becomes(two, ["well", "well"])

    asyncio.run(play())


def test_a_dead_neighbour_is_noticed_after_a_reload_as_before(tmp_path: Path) -> None:
    exchange = MemoryExchange()

    async def play() -> None:
        def begun(name: str, revision: int) -> Node:
            return Node(pair(tmp_path, revision), name, transport=MemoryTransport(name, exchange))

        async with begun("one", 2) as one:
            async with begun("two", 2) as two:
                await becomes(one, ["well", "well"])
                for node in (one, two):
                    await node.reload(pair(tmp_path, 3))
            await one.learn("b", [1.0], 1.0)
            async with asyncio.timeout(60.0):
                while sorted(health(one)) != ["cut off", "well"]:
                    await asyncio.sleep(0.01)
            assert 'mtcool_answers{peer="two"} 0.0' in metrics_of(one)

    asyncio.run(play())


def test_of_a_host_that_is_no_neighbour_any_more_nobody_says_that_it_answers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was silent before the reload, and is not asked after it."""
    caplog.set_level("INFO", "mtcool.live")
    exchange = MemoryExchange()

    async def play() -> None:
        async with Node(
            pair(tmp_path, 0), "one", transport=MemoryTransport("one", exchange)
        ) as one:
            async with asyncio.timeout(60.0):
                while "silent" not in caplog.messages:
                    await asyncio.sleep(0.01)
            await one.reload(pair(tmp_path, 1))
            await asyncio.sleep(1.2)  # it has looked whether there is anything to log
            assert one.status()["links"]["two"]["answers"] is None
            for metric in ("mtcool_answers{", "mtcool_slow{"):
                assert metric not in metrics_of(one)
            await one.reload(pair(tmp_path, 2))
            assert one.status()["links"]["two"]["answers"] is not None
        assert "heard" not in caplog.messages

    asyncio.run(play())


def test_who_is_silent_is_not_slow_any_more(tmp_path: Path) -> None:
    timing = {"rows": 0.05, "delivery": 0.5, "heartbeat": 0.2}
    network = small(tmp_path, hosts=2, timing=timing, graph=TWO)

    async def play() -> None:
        async with opened(network) as nodes:
            one = nodes["host0"]
            await becomes(one, ["well"])
            nodes["host1"].cut.add("host0")  # which does not hear it any more
            await one.predict(0, [0.1, 0.2])
            assert one.slow == {"host1"}
            await becomes(one, ["cut off"])
            assert one.slow == set()
            assert 'mtcool_slow{peer="host1"} 0.0' in metrics_of(one)

    asyncio.run(play())


def test_a_slow_neighbour_is_not_called_dead(tmp_path: Path) -> None:
    """Behind a connection that takes longer than predictions wait, over zenoh with TLS."""
    slow, (port, other) = 0.2, free_ports(2)

    async def play() -> None:
        proxy = Proxy(port, slow)
        hosts = {
            "near": {
                "agents": [0],
                "listen": f"127.0.0.1:{port}",
                "address": f"127.0.0.1:{await proxy.open()}",
            },
            # Nobody reaches it there: it connects to the other one, through the proxy.
            "far": {"agents": [1], "listen": f"127.0.0.1:{other}", "address": "127.0.0.1:9"},
        }
        table = {"graph": TWO, "learn": {"features": ["x"]}, "timing": {"rows": 0.3}}
        path = write_network(tmp_path, table | {"hosts": hosts}, {"near": [0], "far": [1]})
        try:
            async with Node(path, "near") as near, Node(path, "far"):
                await becomes(near, ["slow"])  # of which its heartbeat is enough
                end = time.monotonic() + 3.0
                while time.monotonic() < end:
                    said = await near.predict(0, [0.1])
                    assert said.old or said.missing
                    assert health(near) == ["slow"]
                    link = near.status()["links"]["far"]
                    assert (link["answers"], link["slow"]) == (True, True)
                assert 'mtcool_slow{peer="far"} 1.0' in metrics_of(near)
        finally:
            await proxy.close()

    asyncio.run(play())
