"""Feeds rows to processes: at most one activation of each agent is under way, in order."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from mtcool.graphs.labels import label_of
from mtcool.live.description import Description
from mtcool.live.driving import Prediction, feedback_in
from mtcool.live.feeding import Row, Source
from mtcool.live.judging import judge_of
from mtcool.live.running.process import Gone, Process
from mtcool.live.running.rivals import Rival
from mtcool.live.running.tally import Tally
from mtcool.types import Label, Plain

AHEAD = 4
"""Rows for each agent that are read before they can be fed."""
PAUSE = 0.2
"""Seconds until what was refused for a reason that may pass is tried again."""


class Feeder:
    """Feeds a network.

    Parameters
    ----------
    network
        The network.
    processes
        The processes of this machine, by host.
    tell
        Is told of rows that were refused.
    """

    def __init__(
        self, network: Description, processes: Mapping[str, Process], tell: Callable[[str], None]
    ) -> None:
        self.tally = Tally()
        self._network, self._processes, self._tell = network, processes, tell
        self._judge = judge_of(network)
        self._learned: Counter[Label] = Counter()
        """How often each agent has learned, as its host has said."""
        self._queues: dict[Label, deque[Row]] = {}
        self._stop = asyncio.Event()
        self._pooled = Rival(network, pooled=True)
        raw = network.file.algorithm is not None and network.file.algorithm.loss is None
        self._alone = Rival(network, pooled=False) if raw or network.private else None

    def stop(self) -> None:
        """Feed nothing more; what is under way is finished."""
        self._stop.set()

    async def feed(self, source: Source) -> None:
        """Feed all rows of agents on this machine, and wait until they are learned from."""
        for process in self._processes.values():
            await self._note(process)
        here = [agent for agent, host in self._network.home.items() if host in self._processes]
        room = asyncio.Semaphore(AHEAD * max(16, len(here)))
        mine, tasks = set(here), set[asyncio.Task[None]]()
        async for row in _arriving(source, self._stop):
            if row.agent not in mine:
                continue
            await room.acquire()
            waiting = self._queues.get(row.agent)
            if waiting is not None:
                waiting.append(row)
                continue
            self._queues[row.agent] = deque([row])
            task = asyncio.create_task(self._feed_agent(row.agent, room))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        if tasks:
            await asyncio.gather(*tasks)

    async def _feed_agent(self, agent: Label, room: asyncio.Semaphore) -> None:
        waiting = self._queues[agent]
        while waiting:
            row = waiting.popleft()
            room.release()
            if not self._stop.is_set():
                await self._play(row)
        del self._queues[agent]

    async def _play(self, row: Row) -> None:
        """Feed one row, whatever happens to the process meanwhile."""
        process = self._processes[self._network.home[row.agent]]
        request = row.request()
        while not self._stop.is_set():
            try:
                reply = await process.ask(request)
            except Gone:
                if await self._has_learned(process, row):
                    self.tally.activations += 1
                    self.tally.unseen += 1
                    return
                continue
            if "error" not in reply:
                self._count(row, reply)
                return
            if not reply.get("again"):
                self.tally.refused += 1
                self._tell(f"a row of agent {row.agent} is refused: {reply['error']}")
                return
            await asyncio.sleep(PAUSE)

    async def _has_learned(self, process: Process, row: Row) -> bool:
        """Whether a row that was under way when its process died was learned from."""
        before = self._learned[row.agent]
        await process.ready.wait()
        if process.given_up:
            self._stop.set()
            return False
        try:
            await self._note(process)
        except Gone:
            return await self._has_learned(process, row)
        return self._learned[row.agent] > before

    async def _note(self, process: Process) -> None:
        reply = await process.ask({"do": "status"})
        for agent in reply["status"]["agents"]:
            self._learned[label_of(agent["agent"])] = agent["activations"]

    def _count(self, row: Row, reply: dict[str, Plain]) -> None:
        value, alone = reply["value"], reply["alone"]
        self._learned[row.agent] = reply["activations"]
        said = Prediction(tuple(value) if isinstance(value, list) else value, alone)
        feedback: Any = row.target
        if row.loss is not None:
            kind, numbers = row.loss
            feedback = feedback_in(["loss", kind, [], numbers])
        cost = self._judge(said, feedback)
        by_itself = cost.alone if self._alone is None else self._alone.pay(row)
        pooled = self._pooled.pay(row)
        self.tally.old += len(reply["old"])
        self.tally.missing += len(reply["missing"])
        self.tally.add(row.agent, cost.loss, by_itself, pooled)


async def _arriving(source: Source, stop: asyncio.Event) -> AsyncIterator[Row]:
    """The rows of a source; one that waits is read by a thread, so that the loop goes on."""
    if not source.waits:
        for row in source.rows:
            if stop.is_set():
                return
            yield row
        return
    loop, arrived = asyncio.get_running_loop(), asyncio.Queue[Row | Exception | None]()
    room: queue.Queue[None] = queue.Queue(1024)

    def read() -> None:
        try:
            for row in source.rows:
                room.put(None)
                loop.call_soon_threadsafe(arrived.put_nowait, row)
            loop.call_soon_threadsafe(arrived.put_nowait, None)
        except RuntimeError:  # the loop is closed
            return
        except (ValueError, OSError) as error:
            loop.call_soon_threadsafe(arrived.put_nowait, error)

    threading.Thread(target=read, daemon=True).start()
    ended = asyncio.create_task(stop.wait())
    try:
        while not stop.is_set():
            coming = asyncio.create_task(arrived.get())
            await asyncio.wait({coming, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                coming.cancel()
                return
            found = coming.result()
            if found is None:
                return
            if isinstance(found, Exception):
                raise found
            room.get_nowait()
            yield found
    finally:
        ended.cancel()
