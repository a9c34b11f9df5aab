"""A soak: nodes that learn for long, with a neighbour that is cut off now and then.

Memory and outboxes must stay bounded, and the pace must not decay: `check` says what that means.
`python -m live.soak --minutes 30`, or `make soak`, half in memory and half over zenoh; a short one
is in the tests. Each has a process of its own, whose memory nobody else has used.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import multiprocessing
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from live.ports import free_ports
from mtcool.live import Node
from mtcool.live.certificates import make_certificates
from mtcool.live.config import described
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

TABLE = {
    "name": "soak",
    "graph": {"kind": "ring", "agents": 6},
    "algorithm": {"dim": 4, "loss": "squared", "learner": "MTFTRLKT"},
    "timing": {"rows": 0.02, "delivery": 0.05},
}
HOSTS = {"host0": [0, 1], "host1": [2, 3], "host2": [4, 5]}
CUT = frozenset(("host0", "host1"))
MEGABYTES = 10.0
"""Memory may grow by this between the second stretch and the last."""
SLOWEST = 0.6
"""The last half over the first, in activations of a CPU second; machines are noisy."""
MOST_WAITING = 500
"""Messages that may wait in one outbox: a cut ends when twenty do."""
CUT_FOR, HEALED_FOR = 20, 100
"""How many messages wait until a cut ends, and activations until the next one."""


class Stretch(NamedTuple):
    """What was seen in one stretch of the soak."""

    activations: float
    """In a second of the processor: the machine may have other work to do."""
    memory: float
    """Megabytes in use at its end."""
    most: int
    """Messages in the longest outbox while a link was cut."""
    waiting: int
    """Messages in the outboxes at its end, when nothing is cut off."""


def check(seen: list[Stretch]) -> None:
    """Nothing grows, nothing slows down, and what waited while a link was cut has arrived."""
    half = len(seen) // 2
    assert all(one.waiting == 0 for one in seen), seen
    assert all(0 < one.most < MOST_WAITING for one in seen), seen
    assert seen[-1].memory - seen[1].memory < MEGABYTES, seen
    early = max(one.activations for one in seen[1:half])
    late = max(one.activations for one in seen[half:])
    assert late > SLOWEST * early, seen


@dataclass
class Left:
    """What is left of a stretch."""

    activations: int


Cut = Callable[[bool], None]
"""Cuts the link between the first two hosts, or heals it."""


@contextlib.asynccontextmanager
async def _opened(over_zenoh: bool) -> AsyncIterator[tuple[list[Node], Cut]]:
    with tempfile.TemporaryDirectory() as folder:
        ports, exchange = free_ports(len(HOSTS)), MemoryExchange()
        places = {name: f"127.0.0.1:{port}" for name, port in zip(HOSTS, ports, strict=True)}
        hosts = {name: {"agents": HOSTS[name], "listen": place} for name, place in places.items()}
        network = described(TABLE | {"hosts": hosts}, folder)
        make_certificates(network.path("certs"), "soak", places)
        nodes = [
            Node(network, name, transport=None if over_zenoh else MemoryTransport(name, exchange))
            for name in network.places
        ]

        def cut(cut: bool) -> None:
            if over_zenoh:  # questions of the first still leave, and nobody answers them
                (nodes[1].cut.add if cut else nodes[1].cut.discard)("host0")
            else:
                exchange.cut = {CUT} if cut else set()

        async with contextlib.AsyncExitStack() as stack:
            for node in nodes:
                await stack.enter_async_context(node)
            yield nodes, cut


async def soak(
    activations: int, stretches: int, seconds: float = 0.0, *, over_zenoh: bool = False
) -> list[Stretch]:
    """Let all agents of a network be active; returns what was seen.

    Parameters
    ----------
    activations
        How many make a stretch: so all stretches are alike, however busy the machine is.
    stretches, seconds
        There are at least so many stretches, and more until so many seconds have passed.
    over_zenoh
        Whether hosts talk over zenoh, or in memory.
    """
    seen: list[Stretch] = []
    async with _opened(over_zenoh) as (nodes, cut):
        end = time.monotonic() + seconds
        while len(seen) < stretches or time.monotonic() < end:
            seen.append(await _stretch(nodes, cut, activations))
    return seen


async def _stretch(nodes: list[Node], cut: Cut, activations: int) -> Stretch:
    left, cpu = Left(activations), time.process_time()
    agents = [(node, agent) for node in nodes for agent in node.network.agents_of(node.name)]
    most, *_ = await asyncio.gather(
        _cuts(nodes, cut, left), *(_agent(node, agent, left) for node, agent in agents)
    )
    pace = activations / (time.process_time() - cpu)
    for node in nodes:
        await node.delivered(60.0)
    gc.collect()
    return Stretch(pace, _memory(), most, sum(_outboxes(nodes)))


def _outboxes(nodes: list[Node]) -> list[int]:
    return [len(link.outbox) for node in nodes for link in node.host.links.values()]


async def _agent(node: Node, agent: object, left: Left) -> None:
    rng = np.random.default_rng(3)
    while left.activations > 0:
        left.activations -= 1
        row = rng.standard_normal(4) / 4
        await node.predict(agent, row)
        await node.learn(agent, row, float(row.sum()))


async def _cuts(nodes: list[Node], cut: Cut, left: Left) -> int:
    """Cut a link and heal it, again and again; returns the longest outbox before it was healed."""
    most = 0
    while left.activations > 0:
        cut(True)
        while left.activations > 0 and max(_outboxes(nodes)) < CUT_FOR:
            await asyncio.sleep(0.01)
        most = max(most, *_outboxes(nodes))
        cut(False)
        healed = left.activations
        while 0 < left.activations > healed - HEALED_FOR:
            await asyncio.sleep(0.01)
    return most


def _memory() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def process() -> ProcessPoolExecutor:
    """A fresh process, for one soak."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def run(activations: int, stretches: int, seconds: float, over_zenoh: bool) -> list[Stretch]:
    """A soak from its beginning to its end, to be given to a process."""
    return asyncio.run(soak(activations, stretches, seconds, over_zenoh=over_zenoh))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=30.0)
    asked = parser.parse_args()
    for over_zenoh in (False, True):
        print("over zenoh:" if over_zenoh else "in memory:")
        with process() as apart:
            seen = apart.submit(run, 20_000, 6, 30 * asked.minutes, over_zenoh).result()
        for k, one in enumerate(seen):
            print(
                f"stretch {k}: {one.activations:.0f} activations a CPU second, "
                f"{one.memory:.0f} MB, at most {one.most} waiting, {one.waiting} in the end"
            )
        check(seen)


if __name__ == "__main__":
    main()
