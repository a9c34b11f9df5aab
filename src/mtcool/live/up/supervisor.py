"""Start a network, feed it, stop it, and play its journals again."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from mtcool.live.certificates import make_certificates
from mtcool.live.config import Description, read_description
from mtcool.live.journals import has_journal, read_journal, replay_files
from mtcool.live.replay import Replayed
from mtcool.live.streams import OpenStream
from mtcool.live.up.feeder import Feeder
from mtcool.live.up.outcome import UpOutcome
from mtcool.live.up.process import Gone, Process
from mtcool.live.up.thread import in_thread
from mtcool.live.up.traffic import TrafficSums
from mtcool.types import Label, Plain

Tell = Callable[[str], None]
EVERY = 1.0
"""Seconds between two looks at all processes."""
QUIET = 2.0
"""Seconds after which people who wait are told that it goes on."""
PATIENCE = 60.0
"""Seconds that hosts have to deliver what waits when the stream has ended."""
HANGING = 10.0
"""Seconds that everything under way has to end when the network is stopped."""
MOST_UNHEARD = 5
"""Looks at which hosts that run here may not hear each other: they begin one after the other."""
FEW = 8
"""Agents that are told by name."""
AT_ONCE = 2
"""Processes that begin at the same time."""


class Running:
    """A network of processes on this machine, while it runs."""

    def __init__(
        self,
        file: Path,
        network: Description,
        hosts: Sequence[str],
        tell: Tell,
        *,
        again: bool = False,
    ) -> None:
        self.network, self.tell = network, tell
        self._file, self._whole = file, set(hosts) == set(network.places)
        self.processes = {host: Process(file, network, host, tell) for host in hosts}
        self.feeder = Feeder(network, self.processes, tell, again=again)
        self.undo: Callable[[], Awaitable[None]] = _nothing
        """Undoes what was done to it from outside."""
        self._wrong: dict[tuple[str, str], str] = {}
        """What is wrong between two hosts."""
        self._unheard: Counter[tuple[str, str]] = Counter()
        """At how many looks in a row a host did not hear another."""
        self.began = self.ended = 0.0
        self.status: dict[str, dict[str, Plain]] = {}
        """What each host has said of itself last."""
        self.silent: set[str] = set(hosts)
        """Hosts that did not answer at the last look."""
        self.traffic = TrafficSums()
        self._taken_out: list[Process] = []
        """Processes of hosts that were taken out of the file; some may have come back since."""
        self._written: int | None = None
        """When the file was written that was looked at last."""

    async def begin(self) -> None:
        """Start all processes; refuses a state without whole journals."""
        await in_thread(self._check_journals, self.tell)
        room, warm = asyncio.Semaphore(AT_ONCE), asyncio.Event()
        first = next(iter(self.processes.values()))

        async def one(process: Process) -> None:
            if process is not first:
                await warm.wait()  # else all of them would compile the same at once
            async with room:
                await process.begin()
            warm.set()

        hint = "; the first compiles what agents need, if this machine has not yet"
        await self._together(one, "are ready", hint)

    def _check_journals(self, tell: Tell) -> None:
        for path in self._databases():
            if path.exists() and has_journal(path):
                read_journal(path, tell)

    async def _together(
        self, do: Callable[[Process], Awaitable[None]], done: str, hint: str = ""
    ) -> None:
        """Do something with all processes, and say every two seconds how many are done.

        The hint is for people who wait for the first.
        """
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
                self.tell(f"{count} of {len(tasks)} hosts {done}{'' if count else hint}")
        finally:
            for task in waiting:
                task.cancel()

    async def look(self) -> None:
        """Ask all processes how they are."""
        await asyncio.gather(*(self._look_at(*each) for each in self.processes.items()))

    async def _look_at(self, host: str, process: Process) -> None:
        try:
            async with asyncio.timeout(EVERY):
                reply = await process.ask({"do": "status"})
        except (Gone, TimeoutError):
            self.silent.add(host)
            return
        self.silent.discard(host)
        self.status[host] = reply["status"]
        self.traffic.take(host, reply["status"])

    def warn(self) -> None:
        """Say what is wrong between hosts, and when it is right again."""
        silent = [
            (host, other)
            for host, status in self.status.items()
            for other, link in status["links"].items()
            if link["answers"] is False
        ]
        self._unheard = Counter({pair: self._unheard[pair] + 1 for pair in silent})
        found = {
            (
                host,
                other,
            ): f"host {host} hears nothing of {other}, which may be down or cut off, or "
            "have other certificates; its last rows are used"
            for host, other in silent
            if other not in self.processes or self._unheard[host, other] > MOST_UNHEARD
        }
        for host, status in self.status.items():
            for other, reason in status["trouble"].items():
                found[host, other] = f"host {host} stops: {reason}"
        for pair in found.keys() - self._wrong.keys():
            self.tell(found[pair])
        for host, other in self._wrong.keys() - found.keys():
            if {host, other} <= self.network.places.keys():  # else one of them has left
                self.tell(f"host {host} hears of {other} again")
        self._wrong = found

    async def notice(self) -> None:
        """Take the file as it is now, if a host has read it again."""
        told = max((one["revision"] for one in self.status.values()), default=0)
        if told <= self.network.file.revision:
            self._warn_who_has_left()
            return
        try:
            new = read_description(self._file).with_journal()
        except (ValueError, OSError) as error:
            self.tell(f"hosts have read the file again, and rows go on as before: {error}")
            return
        if new.file.revision < told:
            return
        before, self.network = self.network, new
        self.feeder.take(new)
        joined, left = new.home.keys() - before.home.keys(), before.home.keys() - new.home.keys()
        self.tell(
            f"hosts have read the file again, revision {new.file.revision}: "
            f"{_named(joined)} joined, {_named(left)} left"
        )
        for process in self.processes.values():  # who comes back goes on counting
            with contextlib.suppress(Gone, TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self.feeder.note(process)
        for host in self.processes.keys() - new.places.keys():
            await self._take_out(host)
        for host in new.places.keys() - before.places.keys() - self.processes.keys():
            if self._whole:
                await self._add(host)
            else:
                self.tell(
                    f"host {host} is new in the file: begin it where it is to run, with "
                    f"`mtcool up {self._file} --host {host}`"
                )

    def _warn_who_has_left(self) -> None:
        """Say if the file has no host of ours any more: none of them would ever tell of it."""
        with contextlib.suppress(OSError, ValueError):  # somebody may be writing it
            written = self._file.stat().st_mtime_ns
            if written == self._written:
                return
            self._written = written
            new = read_description(self._file)
            newer = new.file.revision > self.network.file.revision
            if newer and not new.places.keys() & self.processes.keys():
                for host in self.processes:
                    self.tell(
                        f"host {host} is in the file no more: it cannot read it again, and goes "
                        "on as it was; Ctrl-C stops it"
                    )

    async def _add(self, host: str) -> None:
        process = Process(self._file, self.network, host, self.tell)
        try:
            make_missing_certificates(self.network)
            await process.begin()
            await self.feeder.meet(process)
        except (ValueError, OSError) as error:
            await process.stop()
            self.tell(str(error))
            return
        except BaseException:
            await process.stop()
            raise
        self.silent.add(host)
        self.processes[host] = process
        self.tell(f"host {host} is new in the file, and runs now")

    async def _take_out(self, host: str) -> None:
        """Stop a host that is in the file no more; what it has counted counts in the end, too."""
        self.tell(f"host {host} is in the file no more, and is stopped")
        process = self.processes[host]
        await self._look_at(host, process)
        await process.stop()
        self.status.pop(host, None)
        self.silent.discard(host)
        self._taken_out.append(process)
        del self.processes[host]  # last: whatever happens before, it is stopped with the others

    @property
    def left(self) -> list[str]:
        """Hosts that ran here, and are in the file no more; their journals count all the same."""
        hosts = self.processes.keys() | {process.host for process in self._taken_out}
        return sorted(hosts - self.network.places.keys())

    @property
    def per_second(self) -> float:
        """Activations per second since feeding began."""
        end = self.ended or time.monotonic()
        return self.feeder.tally.activations / max(end - self.began, 1e-9) if self.began else 0.0

    async def feed(self, source: OpenStream) -> None:
        """Feed all rows."""
        self.began = time.monotonic()
        try:
            await self.feeder.feed(source)
        finally:
            self.ended = time.monotonic()

    async def finish(self, feeding: set[asyncio.Task[None]]) -> None:
        """Wait until the rows under way are learned from; a process that hangs loses its own."""
        for task in feeding:
            if self.feeder.stopped:
                await asyncio.wait({task}, timeout=HANGING)
                if not task.done():
                    self.tell(f"rows under way have not come back in {HANGING:g} s: given up")
                    task.cancel()
                    continue
            await task

    async def calm(self) -> None:
        """Undo what was done to it from outside: nothing else would be delivered."""
        try:
            async with asyncio.timeout(HANGING):
                await self.undo()
        except TimeoutError:
            self.tell(f"what was killed or cut is not back in {HANGING:g} s: given up")

    async def settle(self) -> None:
        """Wait until outboxes are empty, look a last time, and say what is wrong."""
        alone = len(self.processes) < len(self.network.places)  # hosts elsewhere may be down
        patience = HANGING if self.feeder.stopped or alone else PATIENCE

        async def one(process: Process) -> None:
            with contextlib.suppress(Gone, TimeoutError):
                async with asyncio.timeout(patience + 1.0):
                    await process.ask({"do": "delivered", "timeout": patience})

        await asyncio.gather(*(one(process) for process in self.processes.values()))
        await self.look()
        self.warn()

    async def stop(self) -> None:
        """Stop all processes."""
        await self._together(lambda process: process.stop(), "have stopped")
        self.silent |= self.processes.keys()  # the page is there until the journals are played

    def _databases(self) -> list[Path]:
        state = self.network.path(self.network.file.state)
        return [state / f"{host}.db" for host in dict.fromkeys((*self.processes, *self.left))]

    async def play_again(self) -> Replayed:
        """Play the journals again."""
        self.tell("the journals are played again")
        return await in_thread(
            lambda tell: replay_files(self._databases(), self.network, tell), self.tell
        )

    def conclude(self, found: Replayed | None) -> UpOutcome:
        """Say what came of it all, and of playing the journals again, if that was done."""
        counted, tally = self.traffic.total, self.feeder.tally
        processes = (*self.processes.values(), *self._taken_out)
        return UpOutcome(
            tally,
            self.ended - self.began,
            counted.messages,
            counted.bytes,
            counted.refused + tally.refused,
            sum(process.restarts for process in processes),
            self.feeder.complaints.counted["left out"],
            {host: told["trouble"] for host, told in self.status.items() if told["trouble"]},
            self.left,
            found,
        )


async def run_network(
    running: Running,
    source: OpenStream | None,
    watch: Callable[[Running], None],
    stopped: asyncio.Event,
    again: Callable[[], bool] = lambda: True,
) -> UpOutcome:
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
    again
        Says in the end whether to play the journals again.
    """
    waiting: asyncio.Task[Plain] = asyncio.create_task(stopped.wait())
    try:
        beginning = asyncio.create_task(running.begin())
        await asyncio.wait({waiting, beginning}, return_when=asyncio.FIRST_COMPLETED)
        if not beginning.done():
            beginning.cancel()
            await asyncio.wait({beginning})
            raise InterruptedError("stopped before all hosts were ready")
        await beginning
        watcher = asyncio.create_task(_watch(running, watch))
        try:
            tasks = {waiting}
            if source is not None:
                tasks.add(asyncio.create_task(running.feed(source)))
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if waiting in done:
                running.feeder.stop()
            await running.calm()
            await running.finish(tasks - {waiting})
            await running.settle()
        finally:
            watcher.cancel()
    finally:
        waiting.cancel()
        await running.stop()
    watch(running)
    return running.conclude(await _played_again(running, stopped) if again() else None)


async def _played_again(running: Running, stopped: asyncio.Event) -> Replayed | None:
    """What the journals say; None if somebody stops it meanwhile, and not before."""
    playing = asyncio.create_task(running.play_again())
    waiting: asyncio.Task[Plain] = asyncio.create_task(stopped.wait())
    try:
        if not stopped.is_set():
            await asyncio.wait({playing, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                return None
        return await playing
    finally:
        playing.cancel()
        waiting.cancel()


def _named(agents: Iterable[Label]) -> str:
    """Agents by name, as far as there are few of them."""
    names = sorted(map(str, agents))
    if not names:
        return "no agent"
    return ", ".join(names) if len(names) <= FEW else f"{len(names)} agents"


async def _nothing() -> None:
    """Nobody has harmed it."""


async def _watch(running: Running, watch: Callable[[Running], None]) -> None:
    while True:
        await running.look()
        running.warn()
        await running.notice()
        watch(running)
        await asyncio.sleep(EVERY)


def make_missing_certificates(network: Description) -> list[str]:
    """Certificates of all hosts, where they talk to each other; returns what was made."""
    if not network.file.security.tls or len(network.places) < 2:
        return []
    folder = network.path(network.file.security.certificates)
    addresses = {name: place.address for name, place in network.places.items()}
    return make_certificates(folder, network.file.name, addresses)
