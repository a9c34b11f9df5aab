"""Single calls: `predict` against bare zenoh, `learn` against a bare transaction."""

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

from benchmarks.live.places import DIM, network
from benchmarks.result import Result, at_most
from mtcool.live import Node
from mtcool.live.description import Description
from mtcool.live.store import Store
from mtcool.live.transactions import Changes
from mtcool.live.transport.memory import Exchange, MemoryTransport
from mtcool.live.transport.transport import Reply
from mtcool.live.transport.zenoh import Credentials, Peers, ZenohTransport

SPAWN = multiprocessing.get_context("spawn")
NEIGHBOURS = (2, 4, 8)
BARE = 1_000
"""Added to the network's number: the sessions of the floor must not meet those of the nodes."""


def run(quick: bool) -> list[Result]:
    """Predictions and learning, each over its floor."""
    return [*predicting(quick), *learning(quick)]


def predicting(quick: bool) -> list[Result]:
    """A prediction with k neighbours in other processes, over k bare queries in parallel."""
    results = []
    for count in NEIGHBOURS[:1] if quick else NEIGHBOURS:
        node, bare = _predict(count, 100 if quick else 1000)
        results.append(
            Result(
                f"`predict` with {count} remote neighbours, {1e3 * node:.2f} ms: over zenoh",
                f"one bare query to each, in parallel, tuned the same way: {1e3 * bare:.2f} ms",
                node / bare,
                target=at_most(1.5),
            )
        )
    return results


def _predict(count: int, calls: int) -> tuple[float, float]:
    """Median seconds of a prediction and of bare queries, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        leaves = {f"leaf{k}": [k] for k in range(1, count + 1)}
        star = {"kind": "stars", "sizes": [count + 1]}
        made = network(Path(folder), star, {"centre": [0], **leaves})
        floor = network(Path(folder), star, {"centre": [0], **leaves})  # other ports
        said: Queue[str] = SPAWN.Queue()
        stop = SPAWN.Event()
        processes = [
            SPAWN.Process(target=_leaf, args=(made, floor, name, said, stop), daemon=True)
            for name in leaves
        ]
        for process in processes:
            process.start()
        for _ in processes:
            said.get(timeout=120)
        found = asyncio.run(_compare(made, floor, calls))
        stop.set()
        for process in processes:
            process.join(30)
    return found


def _leaf(made: Description, floor: Description, name: str, said: Queue[str], stop: Event) -> None:
    asyncio.run(_serve(made, floor, name, said, stop))


async def _serve(
    made: Description, floor: Description, name: str, said: Queue[str], stop: Event
) -> None:
    async with Node(made, name):
        bare = _bare(floor, name)
        await bare.open(_echo)
        said.put(name)
        while not stop.is_set():
            await asyncio.sleep(0.05)
        await bare.close()


def _echo(host: str, content: bytes, reply: Reply) -> None:
    reply(content)


def _bare(floor: Description, name: str) -> ZenohTransport:
    """A transport like that of the nodes, which answers nothing but what it was asked."""
    share, places, certs = floor.share(name), floor.places, floor.folder / "certs"
    others = {other: places[other].address for other in share.others}
    credentials = Credentials(certs / "authority.pem", certs / f"{name}.pem", certs / f"{name}.key")
    listen = places[name].listen
    return ZenohTransport(
        Peers(share.network + BARE, name, listen, others, 5.0, credentials, 1 << 20)
    )


async def _compare(made: Description, floor: Description, calls: int) -> tuple[float, float]:
    rng, times = np.random.default_rng(1), {"node": [], "bare": []}
    async with Node(made, "centre") as node:
        bare = _bare(floor, "centre")
        await bare.open(_echo)
        content = bytes(8 * DIM + 40)  # about what an answer has
        questions = dict.fromkeys(floor.share("centre").others, content)
        for k in range(calls + 50):
            row = rng.standard_normal(DIM) / DIM
            began = time.perf_counter()
            said = await node.predict(0, row)
            between = time.perf_counter()
            replies = await bare.ask(questions, 2.0)
            ended = time.perf_counter()
            if k >= 50:
                if said.old or said.missing or len(replies) < len(questions):
                    raise RuntimeError("all neighbours must answer in time")
                times["node"].append(between - began)
                times["bare"].append(ended - between)
        await bare.close()
    return statistics.median(times["node"]), statistics.median(times["bare"])


def learning(quick: bool) -> list[Result]:
    """Learning from a target, over a durable transaction of the same size."""
    node, bare = asyncio.run(_learn(100 if quick else 1000))
    return [
        Result(
            f"`learn`, {1e3 * node:.2f} ms: over SQLite",
            f"one synchronised transaction of the same rows: {1e3 * bare:.2f} ms",
            node / bare,
            target=at_most(2.0),
        )
    ]


async def _learn(calls: int) -> tuple[float, float]:
    """Median seconds of learning, and of the transactions that it made, in turns."""
    node_times, bare_times, rng = [], [], np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        made = network(Path(folder), {"kind": "ring", "agents": 3}, {"a": [0], "b": [1], "c": [2]})
        written: list[Changes] = []
        async with Node(made, "a", transport=MemoryTransport("a", Exchange())) as node:
            _listen(node, written)
            with Store(Path(folder) / "bare.db", "bare", 1) as store:
                for _ in range(calls):
                    row = rng.standard_normal(DIM) / DIM
                    await node.predict(0, row, timeout=0.0)
                    written.clear()
                    began = time.perf_counter()
                    await node.learn(0, row, 1.0)
                    between = time.perf_counter()
                    for changes in written:
                        store.write(changes)
                    bare_times.append(time.perf_counter() - between)
                    node_times.append(between - began)
    return statistics.median(node_times), statistics.median(bare_times)


def _listen(node: Node, written: list[Changes]) -> None:
    """Remember what a node writes."""
    store = node._store
    write = store.write

    def remembering(changes: Changes) -> None:
        write(changes)
        written.append(changes)

    store.write = remembering  # type: ignore[method-assign]
