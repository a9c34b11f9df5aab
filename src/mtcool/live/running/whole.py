"""Start a network, feed it, stop it, and play its journals again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from mtcool.live.certificates import make_certificates
from mtcool.live.description import Description
from mtcool.live.feeding import Source
from mtcool.live.journals import read_journal, replay_files
from mtcool.live.running.feeder import Feeder
from mtcool.live.running.outcome import Outcome
from mtcool.live.running.process import Gone, Process
from mtcool.types import Plain

Tell = Callable[[str], None]
EVERY = 1.0
"""Seconds between two looks at all processes."""
QUIET = 2.0
"""Seconds after which people who wait are told that it goes on."""
PATIENCE = 60.0
"""Seconds that hosts have to deliver what waits in the end."""
AT_ONCE = 2
"""Processes that begin at the same time."""


class Running:
    """A network of processes on this machine, while it runs."""

    def __init__(self, file: Path, network: Description, hosts: Sequence[str], tell: Tell) -> None:
        self.network, self.tell = network, tell
        self.processes = {host: Process(file, network, host, tell) for host in hosts}
        self.feeder = Feeder(network, self.processes, tell)
        self.began = self.ended = 0.0
        self.status: dict[str, dict[str, Plain]] = {}
        """What each host has said of itself last."""
        self.silent: set[str] = set(hosts)
        """Hosts that did not answer at the last look."""
        self._before: dict[str, list[int]] = {host: [0, 0, 0] for host in hosts}
        """Messages, bytes and refusals of processes that have ended."""
        self._restarts: dict[str, int] = dict.fromkeys(hosts, 0)

    async def begin(self) -> None:
        """Start all processes; refuses a state without whole journals."""
        for path in self._databases():
            if path.exists():
                read_journal(path)
        room = asyncio.Semaphore(AT_ONCE)

        async def one(process: Process) -> None:
            async with room:
                await process.begin()

        await self._together(one, "are ready")

    async def _together(self, do: Callable[[Process], Awaitable[None]], done: str) -> None:
        """Do something with all processes, and say every two seconds how many are done."""
        tasks = {asyncio.ensure_future(do(process)) for process in self.processes.values()}
        waiting = tasks
        try:
            while waiting:
                finished, waiting = await asyncio.wait(
                    waiting, timeout=QUIET, return_when=asyncio.FIRST_EXCEPTION
                )
                for task in finished:
                    task.result()
                count = len(tasks) - len(waiting)
                self.tell(f"{count} of {len(tasks)} hosts {done}")
        finally:
            for task in waiting:
                task.cancel()

    async def look(self) -> None:
        """Ask all processes how they are."""

        async def one(host: str, process: Process) -> None:
            try:
                async with asyncio.timeout(EVERY):
                    reply = await process.ask({"do": "status"})
            except (Gone, TimeoutError):
                self.silent.add(host)
                return
            self.silent.discard(host)
            if process.restarts != self._restarts[host]:
                self._restarts[host] = process.restarts
                self._before[host] = list(self.totals(host))
            self.status[host] = reply["status"]

        await asyncio.gather(*(one(host, each) for host, each in self.processes.items()))

    def totals(self, host: str) -> tuple[int, int, int]:
        """Messages, bytes and refusals of a host in all of its processes."""
        messages, size, refused = self._before[host]
        told = self.status.get(host)
        if told is not None:
            messages += sum(told["messages"]["sent"].values())
            size += sum(told["bytes"]["sent"].values())
            refused += told["refused"]
        return messages, size, refused

    @property
    def per_second(self) -> float:
        """Activations per second since feeding began."""
        end = self.ended or time.monotonic()
        return self.feeder.tally.activations / max(end - self.began, 1e-9) if self.began else 0.0

    async def feed(self, source: Source) -> None:
        """Feed all rows."""
        self.began = time.monotonic()
        try:
            await self.feeder.feed(source)
        finally:
            self.ended = time.monotonic()

    async def settle(self) -> None:
        """Wait until what waits in outboxes is delivered, and look a last time."""

        async def one(process: Process) -> None:
            try:
                await process.ask({"do": "delivered", "timeout": PATIENCE})
            except Gone:
                return

        alone = len(self.processes) < len(self.network.places)
        if not alone:  # hosts elsewhere may be down
            await asyncio.gather(*(one(process) for process in self.processes.values()))
        await self.look()

    async def stop(self) -> None:
        """Stop all processes."""
        await self._together(lambda process: process.stop(), "have stopped")

    def _databases(self) -> list[Path]:
        state = self.network.path(self.network.file.state)
        return [state / f"{host}.db" for host in self.processes]

    def replay(self) -> Outcome:
        """Play the journals again, and say what came of it all."""
        again = replay_files(self._databases(), tell=self.tell)
        totals = [self.totals(host) for host in self.processes]
        tally = self.feeder.tally
        return Outcome(
            tally,
            self.ended - self.began,
            sum(messages for messages, _, _ in totals),
            sum(size for _, size, _ in totals),
            sum(refused for _, _, refused in totals) + tally.refused,
            sum(process.restarts for process in self.processes.values()),
            again,
        )


async def run_network(
    running: Running,
    source: Source | None,
    watch: Callable[[Running], None],
    stopped: asyncio.Event,
) -> Outcome:
    """Run a network until its stream ends, or until it is stopped.

    Parameters
    ----------
    running
        The network, not begun.
    source
        What it is fed; None if it only serves.
    watch
        Is called every second to show how it is.
    stopped
        Whether to stop; may be set at any time.
    """
    try:
        await running.begin()
        watcher = asyncio.create_task(_watch(running, watch))
        try:
            waiting: asyncio.Task[Plain] = asyncio.create_task(stopped.wait())
            tasks = {waiting}
            if source is not None:
                tasks.add(asyncio.create_task(running.feed(source)))
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if waiting in done:
                running.feeder.stop()
            waiting.cancel()
            for task in tasks - {waiting}:
                await task
            await running.settle()
        finally:
            watcher.cancel()
    finally:
        await running.stop()
    watch(running)
    return await asyncio.to_thread(running.replay)


async def _watch(running: Running, watch: Callable[[Running], None]) -> None:
    while True:
        await running.look()
        watch(running)
        await asyncio.sleep(EVERY)


def make_missing_certificates(network: Description) -> list[str]:
    """Certificates of all hosts, where they talk to each other; returns what was made."""
    if not network.file.security.tls or len(network.places) < 2:
        return []
    folder = network.path(network.file.security.certificates)
    addresses = {name: place.address for name, place in network.places.items()}
    return make_certificates(folder, network.file.name, addresses)
