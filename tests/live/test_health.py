"""An agent is told to be well when its neighbours are heard: not before, and not only for now."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from live.small_network import small
from mtcool.live import Node
from mtcool.live.description import Description, described
from mtcool.live.transport.memory import Exchange, MemoryTransport


def health(node: Node) -> list[str]:
    """That of its agents, in their order."""
    return [agent["health"] for agent in node.status()["agents"]]


async def becomes(node: Node, expected: list[str]) -> None:
    """Wait until its agents are so."""
    async with asyncio.timeout(60.0):
        while health(node) != expected:
            await asyncio.sleep(0.01)


def test_nobody_is_well_before_its_neighbours_have_agreed(tmp_path: Path) -> None:
    network, exchange = small(tmp_path, agents=3, hosts=3), Exchange()

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
    exchange = Exchange()

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
