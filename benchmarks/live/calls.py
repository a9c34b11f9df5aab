"""Single calls: `predict` against bare zenoh, `learn` against a bare transaction.

The floor of `predict` is one query to each neighbour, in parallel, in sessions of zenoh with the
same configuration (TLS, access rules, threads), to queryables that reply on zenoh's own thread. It
is measured twice, with a thread that sleeps until all have replied and with a loop of asyncio that
is woken, and the faster of the two counts. Beside it stands another floor, with a loop of asyncio
at both ends: there a neighbour replies on its loop, as programs with asyncio do, and as a node does
when it has something to write first. The floor of `learn` is one transaction of `sqlite3` with the
same rows and the same pragmas.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np

from benchmarks.live.bare import BareSqlite, BareZenoh, peers, statements_of
from benchmarks.live.places import DIM, network
from benchmarks.result import Result, at_most
from mtcool.live import Node
from mtcool.live.config import Description
from mtcool.live.transactions import Transaction
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

SPAWN = multiprocessing.get_context("spawn")
NEIGHBOURS = (2, 4, 8)
FIRST = 50
"""Calls that do not count."""
REST = 0.002
"""Seconds before each transaction, in which the disk ends what the one before has begun."""


def run(quick: bool) -> list[Result]:
    """Predictions and learning, each over its floor."""
    return [*predicting(quick), *learning(quick)]


def predicting(quick: bool) -> list[Result]:
    """A prediction with k neighbours in other processes, over k bare queries in parallel."""
    results = []
    for count in NEIGHBOURS[:1] if quick else NEIGHBOURS:
        found = _predict(count, 100 if quick else 1000)
        node, thread, loop, both = (found[name] for name in ("node", "thread", "loop", "both"))
        results.append(
            Result(
                f"`predict` with {count} remote neighbours, {1e3 * node:.2f} ms: over zenoh",
                f"one bare query to each, in parallel: {1e3 * thread:.2f} ms for a thread that "
                f"waits, {1e3 * loop:.2f} ms for a loop",
                node / min(thread, loop),
                target=at_most(1.5),
            )
        )
        results.append(
            Result(
                f"The same with {count}: over bare queries with a loop at both ends",
                f"{1e3 * both:.2f} ms",
                node / both,
                target=at_most(1.5),
            )
        )
    return results


def _predict(count: int, calls: int) -> dict[str, float]:
    """Median seconds of a prediction and of bare queries, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        leaves = {f"leaf{k}": [k] for k in range(1, count + 1)}
        star = {"kind": "stars", "sizes": [count + 1]}
        made = network(Path(folder), star, {"centre": [0], **leaves})
        floor, looped = (
            network(Path(folder), star, {"centre": [0], **leaves}) for _ in range(2)
        )  # other ports
        said: Queue[str] = SPAWN.Queue()
        stop = SPAWN.Event()
        processes = [
            SPAWN.Process(target=_leaf, args=(made, floor, looped, name, said, stop), daemon=True)
            for name in leaves
        ]
        for process in processes:
            process.start()
        for _ in processes:
            said.get(timeout=120)
        found = asyncio.run(_compare(made, floor, looped, calls))
        stop.set()
        for process in processes:
            process.join(30)
    return found


def _leaf(
    made: Description,
    floor: Description,
    looped: Description,
    name: str,
    said: Queue[str],
    stop: Event,
) -> None:
    asyncio.run(_serve(made, floor, looped, name, said, stop))


async def _serve(
    made: Description,
    floor: Description,
    looped: Description,
    name: str,
    said: Queue[str],
    stop: Event,
) -> None:
    async with Node(made, name):
        bare = BareZenoh(peers(floor, name))
        on_the_loop = BareZenoh(peers(looped, name), asyncio.get_running_loop())
        said.put(name)
        while not stop.is_set():
            await asyncio.sleep(0.05)
        bare.close()
        on_the_loop.close()


async def _compare(
    made: Description, floor: Description, looped: Description, calls: int
) -> dict[str, float]:
    rng, content = np.random.default_rng(1), bytes(8 * DIM + 40)  # about what an answer has
    times: dict[str, list[float]] = {"node": [], "thread": [], "loop": [], "both": []}
    async with Node(made, "centre") as node:
        me = peers(floor, "centre")
        bare, both = BareZenoh(me), BareZenoh(peers(looped, "centre"))
        for one in (bare, both):
            while one.ask_and_wait(content) < len(me.others):
                await asyncio.sleep(0.05)  # until all are connected
        for k in range(calls + FIRST):
            row = rng.standard_normal(DIM) / DIM
            moments = [time.perf_counter()]
            said = await node.predict(0, row)
            moments.append(time.perf_counter())
            waited = bare.ask_and_wait(content)
            moments.append(time.perf_counter())
            woken = await _on_the_loop(bare, content)
            moments.append(time.perf_counter())
            replied = await _on_the_loop(both, content)
            moments.append(time.perf_counter())
            if k >= FIRST:
                if said.old or said.missing or min(waited, woken, replied) < len(me.others):
                    raise RuntimeError("all neighbours must answer in time")
                for name, seconds in zip(times, np.diff(moments), strict=True):
                    times[name].append(seconds)
        bare.close()
        both.close()
    return {name: float(statistics.median(found)) for name, found in times.items()}


async def _on_the_loop(bare: BareZenoh, content: bytes) -> int:
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    replies = bare.ask(content, lambda: loop.call_soon_threadsafe(done.set_result, None))
    await done
    return len(replies)


def learning(quick: bool) -> list[Result]:
    """Learning from a target, over a durable transaction of the same rows."""
    node, bare = asyncio.run(_learn(100 if quick else 1000))
    return [
        Result(
            f"`learn`, {1e3 * node:.2f} ms: over SQLite",
            f"one synchronised transaction of `sqlite3` with the same rows: {1e3 * bare:.2f} ms",
            node / bare,
            target=at_most(2.0),
        )
    ]


async def _learn(calls: int) -> tuple[float, float]:
    """Median seconds of learning, and of the transactions that it made, in turns."""
    node_times, bare_times, rng = [], [], np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        made = network(Path(folder), {"kind": "ring", "agents": 3}, {"a": [0], "b": [1], "c": [2]})
        bare, written = BareSqlite(Path(folder) / "bare.db"), list[Transaction]()
        async with Node(made, "a", transport=MemoryTransport("a", MemoryExchange())) as node:
            _listen(node, written)
            for _ in range(calls):
                row = rng.standard_normal(DIM) / DIM
                await node.predict(0, row, timeout=0.0)
                written.clear()
                time.sleep(REST)
                began = time.perf_counter()
                await node.learn(0, row, 1.0)
                node_times.append(time.perf_counter() - began)
                transactions = [statements_of(changes) for changes in written]
                time.sleep(REST)
                began = time.perf_counter()
                for statements in transactions:
                    bare.write(statements)
                bare_times.append(time.perf_counter() - began)
        bare.close()
    return statistics.median(node_times), statistics.median(bare_times)


def _listen(node: Node, written: list[Transaction]) -> None:
    """Remember what a node writes."""
    store = node._engine.store
    write = store.write

    def remembering(changes: Transaction) -> None:
        write(changes)
        written.append(changes)

    store.write = remembering  # type: ignore[method-assign]
