"""Memory and disk of a host: what a process, an agent and a connection take.

A process with 1 agent and one with 1,000, each with ten neighbours on the same host, after every
agent has learned five times; and a host whose agent has neighbours on sixty others, which run in
one process beside it, before and after these are connected. Memory is what the kernel says is
resident; the database is measured when the host has stopped, without its log.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import re
import sqlite3
import tempfile
from contextlib import AsyncExitStack
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.live.places import DIM, KT, TABLES, network
from benchmarks.result import Result
from mtcool.live import Node
from mtcool.live.config import Description

SPAWN = multiprocessing.get_context("spawn")
DEGREE, ROUNDS = 10, 5


def run(quick: bool) -> list[Result]:
    """Megabytes and kilobytes, for information."""
    many = 100 if quick else 1000
    results = []
    for name, learner in (("KT, d = 16", KT), ("`learn`, 16 features", TABLES)):
        one, more = _process(1, learner), _process(many, learner)
        memory, disk = (more["memory"] - one["memory"]) / (many - 1), more["disk"] / many
        results += [
            Result(f"{name}: a process with an agent", "no neighbours", one["memory"] / 1e6, "MB"),
            Result(
                f"{name}: a process with {many:,} agents",
                f"each with {DEGREE} neighbours",
                more["memory"] / 1e6,
                "MB",
            ),
            Result(f"{name}: memory", f"of {many:,} agents", memory / 1e3, "kB an agent"),
            Result(f"{name}: database", f"of {many:,} agents", disk / 1e3, "kB an agent"),
            Result(
                f"{name}: state in a transaction",
                "written whole",
                more["state"] / 1e3,
                "kB an agent",
            ),
        ]
    return [*results, _connections(10 if quick else 60)]


def resident() -> int:
    """Bytes of memory that this process has now."""
    gc.collect()
    found = re.search(r"VmRSS:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def _process(agents: int, learner: dict[str, Any]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        graph = {"kind": "regular", "agents": agents, "degree": DEGREE}
        if agents == 1:
            graph = {"kind": "edges", "agents": [0]}
        made = network(Path(folder), graph, {"one": list(range(agents))}, learner)
        said: Queue[int] = SPAWN.Queue()
        process = SPAWN.Process(target=_alone, args=(made, said), daemon=True)
        process.start()
        memory = said.get(timeout=600)
        process.join(60)
        file = made.path(made.file.state) / "one.db"
        base = sqlite3.connect(file)
        (state,) = base.execute("select avg(length(state)) from agent").fetchone()
        base.close()
        return {"memory": memory, "disk": file.stat().st_size, "state": state}


def _alone(made: Description, said: Queue[int]) -> None:
    asyncio.run(_learn(made, said))


async def _learn(made: Description, said: Queue[int]) -> None:
    rng = np.random.default_rng(3)
    async with Node(made) as node:
        for _ in range(ROUNDS):
            for agent in made.home:
                row = rng.standard_normal(DIM) / DIM
                await node.learn(agent, row, float(row.sum()))
        said.put(resident())


def _connections(count: int) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        leaves = {f"leaf{k}": [k] for k in range(1, count + 1)}
        star = {"kind": "stars", "sizes": [count + 1]}
        made = network(Path(folder), star, {"centre": [0], **leaves})
        said: Queue[int] = SPAWN.Queue()
        stop = SPAWN.Event()
        centre = SPAWN.Process(target=_run, args=(_centre, made, said, stop), daemon=True)
        centre.start()
        before = said.get(timeout=120)
        others = SPAWN.Process(target=_run, args=(_leaves, made, said, stop), daemon=True)
        others.start()
        after = said.get(timeout=120)
        stop.set()
        for process in (centre, others):
            process.join(60)
    return Result(
        "A connection to another host",
        f"{count} of them are open",
        (after - before) / count / 1e6,
        "MB at each end",
    )


def _run(play: Any, made: Description, said: Queue[int], stop: Event) -> None:
    asyncio.run(play(made, said, stop))


async def _centre(made: Description, said: Queue[int], stop: Event) -> None:
    async with Node(made, "centre") as node:
        await node.learn(0, np.ones(DIM), 1.0)
        said.put(resident())
        while (await node.predict(0, np.ones(DIM))).missing:
            await asyncio.sleep(0.5)
        await node.delivered()
        said.put(resident())
        while not stop.is_set():
            await asyncio.sleep(0.05)


async def _leaves(made: Description, said: Queue[int], stop: Event) -> None:
    async with AsyncExitStack() as stack:
        for name in made.places:
            if name != "centre":
                await stack.enter_async_context(Node(made, name))
        while not stop.is_set():
            await asyncio.sleep(0.05)
