"""A small network of nodes in one process, with a stream that its agents learn from."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import numpy as np
import pytest

from mtcool.live import Node
from mtcool.live import node as node_module
from mtcool.live.config import Description, described
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

# A learner that is compiled for other tests as well.
KT = {"learner": "MTFTRLKT", "rates": "adaptive"}
PRIVATE = {
    "algorithm": {
        "algorithm": "dpmt_co2ol", "dim": 2, "loss": "squared", "law": "gaussian", "lipschitz": 4.0,
    },
    "privacy": {"epsilon": 1.0, "horizon": 50},
}  # fmt: skip


def small(folder, *, agents: int = 6, hosts: int = 3, **changes) -> Description:
    table = {"name": "small", "graph": {"kind": "ring", "agents": agents}}
    table |= {"shards": {"count": hosts}, "timing": {"rows": 0.2, "delivery": 0.2}}
    if "algorithm" not in changes:
        table["learn"] = {"features": ["a", "b"]}
    return described(table | changes, folder)


@contextlib.asynccontextmanager
async def opened(network: Description) -> AsyncIterator[dict[str, Node]]:
    """All nodes of a network, connected in memory."""
    async with contextlib.AsyncExitStack() as stack:
        exchange, nodes = MemoryExchange(), {}
        for name in network.places:
            node = Node(network, name, transport=MemoryTransport(name, exchange))
            nodes[name] = await stack.enter_async_context(node)
        yield nodes


async def greeted(*nodes: Node) -> None:
    """Wait until all neighbours of these nodes have said what they know."""
    async with asyncio.timeout(60.0):
        while not all(
            node.host.links[other].greeted and other not in node.silent
            for node in nodes
            for other in node.host.neighbours
        ):
            await asyncio.sleep(0.001)


def never_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing come in between that nodes write and log when they are idle."""
    monkeypatch.setattr(node_module, "IDLE", 3600.0)


def stop_the_clock(*nodes: Node) -> None:
    """Let no time pass for the limits of what others say in a second, and nobody have said much."""
    for node in nodes:
        node._inbox._queues.clear()
        node._inbox.clock = lambda: 7.0


async def play(network: Description, nodes: dict[str, Node], rounds: int, seed: int = 0) -> None:
    """Every agent in turn predicts and learns."""
    chance = np.random.default_rng(seed)
    agents = list(network.home)
    for t in range(rounds):
        agent = agents[t % len(agents)]
        node = nodes[network.home[agent]]
        row = chance.uniform(-1.0, 1.0, 2).tolist()
        await node.predict(agent, row)
        await node.learn(agent, row, 0.5 * row[0] - row[1] + 0.1 * chance.standard_normal())
