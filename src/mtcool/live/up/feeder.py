"""Feeds rows to processes: at most one activation of each agent is under way, in order."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from mtcool.graphs.labels import label_of
from mtcool.live.agents import Prediction, feedback_in
from mtcool.live.config import Description
from mtcool.live.offset import START, Offset
from mtcool.live.scoring import judge_of
from mtcool.live.streams import OpenStream, Row, check_fed
from mtcool.live.up.complaints import Complaints
from mtcool.live.up.process import Gone, Process
from mtcool.live.up.rivals import Rival
from mtcool.live.up.tally import Tally
from mtcool.live.up.thread import in_thread
from mtcool.types import Label, Plain

AHEAD = 4
"""Rows for each agent that are read before they can be fed."""
AT_ONCE = 64
"""Rows that are read from a file before anything else has its turn."""
SET_ASIDE = 10_000
"""Rows of an agent that are set aside while it is stuck; then the whole stream waits for it."""
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
    again
        Whether a stream is fed from its beginning, also if it was fed before.
    """

    def __init__(
        self,
        network: Description,
        processes: Mapping[str, Process],
        tell: Callable[[str], None],
        *,
        again: bool = False,
    ) -> None:
        self.tally = Tally()
        self._network, self._processes = network, processes
        self._judge = judge_of(network)
        self._tell, self._again = tell, again
        self._offsets: dict[Label, Offset] = {}
        """How far each agent was fed, as its host has said."""
        self._queues: dict[Label, deque[tuple[Row, bool]]] = {}
        """Rows that wait for each agent, and whether they take room."""
        self._stuck: set[Label] = set()
        """Agents whose rows cannot be learned from now."""
        self.complaints = Complaints(tell)
        self._source: OpenStream | None = None
        self._stop = asyncio.Event()
        self._pooled = Rival(network, pooled=True)
        raw = network.file.algorithm is not None and network.file.algorithm.loss is None
        self._alone = Rival(network, pooled=False) if raw or network.private else None

    def stop(self) -> None:
        """Feed nothing more; what is under way is finished."""
        self._stop.set()

    def take(self, network: Description) -> None:
        """Feed the agents that are in the network now: some have joined, others have left."""
        self._network = network
        if self._alone is not None:
            self._alone.join(network)
        if self._source is not None:
            self._source.take(network)

    def _process_of(self, agent: Label) -> Process | None:
        """Where an agent lives, if that is on this machine."""
        host = self._network.home.get(agent)
        return None if host is None else self._processes.get(host)

    @property
    def stopped(self) -> bool:
        """Whether nothing more is fed."""
        return self._stop.is_set()

    async def feed(self, source: OpenStream) -> None:
        """Feed all rows of agents on this machine, and wait until they are learned from."""
        self._source = source
        if source.waits and not self._again:
            self._again = True  # what comes only once is new
            await self._warn_of_new()
        for process in self._processes.values():
            await self.meet(process)
        await self._go_on()
        here = sum(host in self._processes for host in self._network.home.values())
        room = asyncio.Semaphore(AHEAD * max(16, here))
        try:
            async with asyncio.TaskGroup() as under_way:
                async for row in _arriving(source, self._stop):
                    if self._process_of(row.agent) is None or self._is_fed(row):
                        continue
                    waiting = self._queues.get(row.agent)
                    # Others go on while an agent is stuck: its rows are set aside, up to a limit.
                    aside = row.agent in self._stuck and len(waiting or ()) < SET_ASIDE
                    if not aside:
                        await room.acquire()
                    waiting = self._queues.get(row.agent)
                    if waiting is not None:
                        waiting.append((row, not aside))
                        continue
                    self._queues[row.agent] = deque([(row, not aside)])
                    under_way.create_task(self._feed_agent(row.agent, room))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        fed = self.tally.activations + self.tally.refused
        if self.tally.before and not fed and not self.stopped:
            self._tell("all rows of the stream were fed before: --again feeds them again")

    async def _warn_of_new(self) -> None:
        """Say that what comes through a pipe is not compared with what was fed before."""
        for process in self._processes.values():
            await self.note(process)
        if any(offset.row for offset in self._offsets.values()):
            self._tell(
                "rows were fed before; what comes through a pipe is new, and learned from, too: "
                "a file, also `< rows.csv`, goes on after them"
            )

    async def _go_on(self) -> None:
        """Say how many rows were fed before; refuses a stream that is another one."""
        offsets = {
            agent: self._offsets[agent]
            for agent in self._network.home.keys() & self._offsets.keys()
        }
        if self._again or not any(offset.row for offset in offsets.values()):
            return
        network = self._network
        self.tally.before = await in_thread(
            lambda tell: check_fed(network, offsets, tell), self._tell
        )
        self._tell(f"{self.tally.before:,} rows were fed before, and it goes on after them")

    def _is_fed(self, row: Row) -> bool:
        """Whether an agent has learned from a row, or from one after it."""
        return row.number <= self._offsets.get(row.agent, START).row

    async def _feed_agent(self, agent: Label, room: asyncio.Semaphore) -> None:
        waiting = self._queues[agent]
        while waiting:
            row, takes_room = waiting.popleft()
            if takes_room:
                room.release()
            if not self._stop.is_set():
                await self._play(row)
                self._stuck.discard(agent)
        del self._queues[agent]

    async def _play(self, row: Row) -> None:
        """Feed one row, whatever happens to the process meanwhile."""
        request = row.request()
        while not self._stop.is_set():
            process = self._process_of(row.agent)
            if process is None:  # the agent has left meanwhile
                return
            try:
                reply = await process.ask(request)
            except Gone:
                self._stuck.add(row.agent)
                if await self._has_learned(process, row):
                    self._count_unseen()
                    return
                continue
            if "error" not in reply:
                self._count(row, reply)
                return
            if not reply.get("again"):
                with contextlib.suppress(Gone):
                    if row.agent not in await self.note(process):  # we have not heard yet
                        return
                if self._is_fed(row):  # it was written although the disk has said that it was not
                    self._count_unseen()
                    return
                self.tally.refused += 1
                self.complaints.tell(
                    "refused", f"a row of agent {row.agent} is refused: {reply['error']}"
                )
                return
            if row.agent not in self._stuck:
                self._stuck.add(row.agent)
                self.complaints.tell("waiting", f"agent {row.agent} waits: {reply['error']}")
            await asyncio.sleep(PAUSE)

    async def _has_learned(self, process: Process, row: Row) -> bool:
        """Whether a row that was under way when its process died was learned from."""
        while True:
            await process.ready.wait()
            if process.given_up:
                if self._process_of(row.agent) is process:  # else it has left the network
                    self._stop.set()
                return False
            try:
                await self.note(process)
            except Gone:
                await asyncio.sleep(PAUSE)
                continue
            return self._is_fed(row)

    async def meet(self, process: Process) -> None:
        """Begin to feed a process: go on where its agents are, or begin again."""
        if self._again:
            reply = await process.ask({"do": "rewind"})
            if "error" in reply:
                raise OSError(f"host {process.host!r} could not begin again: {reply['error']}")
        await self.note(process)

    async def note(self, process: Process) -> set[Label]:
        """Note how far the agents of a process were fed; returns who they are."""
        reply = await process.ask({"do": "status"})
        told = {label_of(one["agent"]): Offset(*one["offset"]) for one in reply["status"]["agents"]}
        self._offsets |= told
        return set(told)

    def _count_unseen(self) -> None:
        self.tally.activations += 1
        self.tally.unseen += 1

    def _count(self, row: Row, reply: dict[str, Plain]) -> None:
        value, alone = reply["value"], reply["alone"]
        self._offsets[row.agent] = row.offset
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


async def _arriving(source: OpenStream, stop: asyncio.Event) -> AsyncIterator[Row]:
    """The rows of a source; one that waits is read by a thread, so that the loop goes on."""
    if not source.waits:
        for count, row in enumerate(source.rows):
            if stop.is_set():
                return
            if count % AT_ONCE == 0:  # rows of hosts elsewhere are not waited for
                await asyncio.sleep(0)
            yield row
        return
    loop, arrived = asyncio.get_running_loop(), asyncio.Queue[Row | Exception | None]()
    room: queue.Queue[None] = queue.Queue(1024)

    def hand_over(found: Row | Exception | None) -> bool:
        """Whether the loop is still there to take it."""
        try:
            loop.call_soon_threadsafe(arrived.put_nowait, found)
        except RuntimeError:  # it is closed
            return False
        return True

    def read() -> None:
        end: Exception | None = None
        try:
            for row in source.rows:
                room.put(None)
                if not hand_over(row):
                    return
        except Exception as error:  # whatever it is: the loop would wait for ever
            end = error
        hand_over(end)

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
