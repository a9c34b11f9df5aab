"""A soak: nodes that learn for long, with a neighbour that is cut off now and then.

Memory and outboxes must stay bounded, and the pace must not decay. `python -m live.soak --minutes
30`, or `make soak`; a short one is in the tests.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import tempfile
import time
from typing import NamedTuple

import numpy as np

from mtcool.live import Node
from mtcool.live.description import described
from mtcool.live.transport.memory import Exchange, MemoryTransport

TABLE = {
    "name": "soak",
    "graph": {"kind": "ring", "agents": 6},
    "algorithm": {"dim": 4, "loss": "squared", "learner": "MTFTRLKT"},
    "shards": {"count": 3},
    "timing": {"rows": 0.02, "delivery": 0.05},
}
CUT = frozenset(("host0", "host1"))


class Stretch(NamedTuple):
    """What was seen in one stretch of the soak."""

    activations: float
    """In a second of the processor: the machine may have other work to do."""
    memory: float
    """Megabytes in use at its end."""
    waiting: int
    """Messages in the outboxes at its end, when nothing is cut off."""


async def soak(seconds: float, stretches: int) -> list[Stretch]:
    """Let all agents of a network be active for so long; returns what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        network, exchange = described(TABLE, folder), Exchange()
        nodes = [
            Node(network, name, transport=MemoryTransport(name, exchange))
            for name in network.places
        ]
        for node in nodes:
            await node.__aenter__()
        found = [await _stretch(nodes, exchange, seconds / stretches) for _ in range(stretches)]
        for node in nodes:
            await node.__aexit__(None, None, None)
    return found


async def _stretch(nodes: list[Node], exchange: Exchange, seconds: float) -> Stretch:
    end, cpu = time.monotonic() + seconds, time.process_time()
    agents = [(node, agent) for node in nodes for agent in node.network.agents_of(node.name)]
    counts = await asyncio.gather(
        *(_agent(node, agent, end) for node, agent in agents), _cuts(exchange, end)
    )
    pace = sum(counts) / (time.process_time() - cpu)
    for node in nodes:
        await node.delivered(10.0)
    gc.collect()
    waiting = sum(len(link.outbox) for node in nodes for link in node.host.links.values())
    return Stretch(pace, _memory(), waiting)


async def _agent(node: Node, agent: object, end: float) -> int:
    rng, count = np.random.default_rng(3), 0
    while time.monotonic() < end:
        row = rng.standard_normal(4) / 4
        await node.predict(agent, row)
        await node.learn(agent, row, float(row.sum()))
        count += 1
    return count


async def _cuts(exchange: Exchange, end: float) -> int:
    while time.monotonic() < end:
        await asyncio.sleep(0.2)
        exchange.cut ^= {CUT}
    exchange.cut.clear()
    return 0


def _memory() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=30.0)
    asked = parser.parse_args()
    stretches = max(3, int(asked.minutes))
    for k, one in enumerate(asyncio.run(soak(60 * asked.minutes, stretches))):
        print(
            f"stretch {k}: {one.activations:.0f} activations a CPU second, {one.memory:.0f} MB, "
            f"{one.waiting} waiting"
        )


if __name__ == "__main__":
    main()
