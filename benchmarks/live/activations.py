"""Whole networks: every agent is active again and again, as fast as its process can.

Bytes are those of the messages of hosts, questions and replies; what zenoh and TLS put around them
is not counted. They stand over the numbers that must travel, 8 bytes each: for each of the two
neighbours a row and a gradient, d numbers each, and six more that say what these are of (the
numbers of the rounds, the weight, the stamps); and over the rows and gradients alone.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np

from benchmarks.live.places import DIM, network
from benchmarks.memory import peak_bytes
from benchmarks.result import Result, at_least, at_most
from mtcool.live import Node
from mtcool.live.config import Description

PROCESSES = 8
PLAIN = 2 * 2 * DIM * 8
"""Bytes of a row and a gradient for each of two neighbours."""
ALL = PLAIN + 2 * 6 * 8
"""The same, with the numbers of the rounds, the weight and the stamps."""
SPAWN = multiprocessing.get_context("spawn")


def run(quick: bool) -> list[Result]:
    """One agent in each of eight processes, and thirty-two."""
    return [*ring(quick), *shards(quick)]


def ring(quick: bool) -> list[Result]:
    """One agent in each of eight processes."""
    found = _measured(1, 50 if quick else 600)
    return [
        Result(
            "Ring of 8 processes, one agent each",
            "2 rows fetched, 2 gradients delivered and 3 transactions for an activation",
            found["per_second"],
            "activations a second",
            at_least(600),
        ),
        Result(
            f"The same: {found['bytes']:.0f} bytes of an activation over the numbers that must "
            "travel",
            f"rows, gradients, and six numbers for each neighbour that say what they are of: {ALL} "
            "bytes; without TLS and zenoh's frames",
            found["bytes"] / ALL,
            target=at_most(1.3),
        ),
        Result(
            "The same: bytes of an activation over those of its rows and gradients",
            f"2 rows and 2 gradients of {DIM} numbers: {PLAIN} bytes",
            found["bytes"] / PLAIN,
        ),
        *_taken("The same", found),
    ]


def shards(quick: bool) -> list[Result]:
    """Thirty-two agents in each of eight processes."""
    found = _measured(32, 20 if quick else 200)
    return [
        Result(
            "8 processes with 32 agents each, on one ring",
            "most neighbours are in the same process",
            found["per_second"],
            "activations a second",
            at_least(4000),
        ),
        *_taken("The same", found),
    ]


def _taken(what: str, found: dict[str, float]) -> list[Result]:
    """What it takes, for information."""
    return [
        Result(f"{what}: processor time", "all threads", found["cpu"], "ms an activation"),
        Result(f"{what}: questions", "and as many replies", found["questions"], "an activation"),
        Result(f"{what}: bytes", "of messages between hosts", found["bytes"], "an activation"),
        Result(f"{what}: memory of a process", "at its peak", found["memory"], "MB"),
        Result(f"{what}: disk", "database and log", found["disk"], "kB an agent"),
    ]


def _measured(agents: int, rounds: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        size = agents * PROCESSES
        hosts = {f"host{k}": list(range(k * agents, (k + 1) * agents)) for k in range(PROCESSES)}
        made = network(Path(folder), {"kind": "ring", "agents": size}, hosts)
        said: Queue[dict[str, float]] = SPAWN.Queue()
        go = SPAWN.Event()
        processes = [
            SPAWN.Process(target=_host, args=(made, name, rounds, said, go), daemon=True)
            for name in hosts
        ]
        for process in processes:
            process.start()
        for _ in processes:
            said.get(timeout=120)
        began = time.perf_counter()
        go.set()
        found = [said.get(timeout=300) for _ in processes]
        took = time.perf_counter() - began
        go.clear()
        for process in processes:
            process.join(30)
    activations = size * rounds
    return {
        "per_second": activations / took,
        "bytes": sum(one["bytes"] for one in found) / activations,
        "cpu": 1e3 * sum(one["cpu"] for one in found) / activations,
        "questions": sum(one["questions"] for one in found) / activations,
        "memory": max(one["memory"] for one in found),
        "disk": sum(one["disk"] for one in found) / size,
    }


def _host(
    made: Description, name: str, rounds: int, said: Queue[dict[str, float]], go: Event
) -> None:
    asyncio.run(_play(made, name, rounds, said, go))


async def _play(
    made: Description, name: str, rounds: int, said: Queue[dict[str, float]], go: Event
) -> None:
    async with Node(made, name) as node:
        agents = made.agents_of(name)
        for agent in agents:
            await node.learn(agent, np.zeros(DIM), 0.0)
        await node.delivered()
        said.put({})
        while not go.is_set():
            await asyncio.sleep(0.005)
        before, cpu = _counted(node), time.process_time()
        await asyncio.gather(*(_agent(node, agent, rounds) for agent in agents))
        await node.delivered()
        after = _counted(node)
        files = made.path(made.file.state).glob(f"{name}.db*")
        said.put(
            {
                "bytes": after[0] - before[0],
                "questions": after[1] - before[1],
                "cpu": time.process_time() - cpu,
                "memory": peak_bytes() / 1e6,
                "disk": sum(file.stat().st_size for file in files) / 1e3,
            }
        )
        while go.is_set():
            await asyncio.sleep(0.02)


def _counted(node: Node) -> tuple[int, int]:
    """Bytes sent, and questions among what was sent."""
    sent = node.counts.sent
    return sum(sent.bytes.values()), sent.messages["ask"] + sent.messages["deliver"]


async def _agent(node: Node, agent: object, rounds: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(rounds):
        row = rng.standard_normal(DIM) / DIM
        await node.predict(agent, row)
        await node.learn(agent, row, float(row.sum()))
