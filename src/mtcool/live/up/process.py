"""A process of the network, which is spoken to in JSON lines and begun again when it dies."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from mtcool.live.config import Description
from mtcool.live.sockets import socket_of
from mtcool.live.up.log import HostLog
from mtcool.types import Plain

LONGEST = 1 << 26
"""Bytes of a reply: the status of many agents is long."""
LAST_WORDS = 1.0
"""Seconds after the end of a process in which what it has said is read."""
PATIENCE = 15.0
"""Seconds that a process has to stop by itself."""
WRONG = 2
"""The status of a process that cannot begin until somebody changes something."""
TRIES = 8
"""How often in a row it may fail to begin again."""
PAUSE = 0.5
"""Seconds after the first of them; each time it is twice as long."""


class Gone(ConnectionError):
    """A process died while it was asked something: what it has done of it is not known."""


class CouldNotBegin(ValueError):
    """A process has ended before it was ready; that `may_pass`, or something must be changed."""

    def __init__(self, sentence: str, *, may_pass: bool) -> None:
        super().__init__(sentence)
        self.may_pass = may_pass


class Process:
    """One host of a network as a process of its own."""

    def __init__(self, file: Path, network: Description, host: str, tell: Callable[[str], None]):
        self.host = host
        self.log = socket_of(network, host).with_suffix(".log")
        self.restarts = 0
        self.held = False
        """Whether it stays down when it ends."""
        self.ready = asyncio.Event()
        self._tell = tell
        self._command = [
            # Without -P, Python files in the folder of the caller would be taken for modules.
            *(sys.executable, "-P", "-m", "mtcool", "node", str(file)),
            *("--host", host, "--lines", "--journal"),
        ]
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Plain]]] = {}
        self._stopping = False
        self._child: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._logging: asyncio.Task[None] | None = None
        self._again: asyncio.Task[None] | None = None
        self._words: str | None = None
        """The last sentence that it has said for people."""

    @property
    def pid(self) -> int | None:
        """The number of the process, while it runs."""
        return None if self._child is None else self._child.pid

    async def begin(self) -> None:
        """Start it, and wait until it is ready."""
        log = HostLog(self.log, self._tell)
        try:
            self._child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LONGEST,
                start_new_session=True,  # Ctrl-C is for us, who stop it
            )
        except BaseException:
            log.close()
            raise
        self._words = None
        self._logging = asyncio.create_task(self._write(log, self._child))
        assert self._child.stdout is not None  # it is a pipe
        line = await self._child.stdout.readline()
        if not line:
            code = await self._child.wait()
            await self._logged()
            words = f"it {_ending(code)}" if code < 0 else self._words or "it has said nothing"
            raise CouldNotBegin(
                f"host {self.host!r} could not begin: {words}", may_pass=code != WRONG
            )
        if not _is_ready(line):
            self._child.kill()
            await self._child.wait()
            await self._logged()
            raise CouldNotBegin(
                f"host {self.host!r} must first say that it is ready, got {line[:200]!r}",
                may_pass=False,
            )
        self.ready.set()
        self._reading = asyncio.create_task(self._read(self._child))

    async def _write(self, log: HostLog, child: asyncio.subprocess.Process) -> None:
        """Write what a process says to its log, until it ends."""
        assert child.stderr is not None  # it is a pipe
        try:
            while content := await _next_line(child.stderr):
                line = content.decode(errors="replace").rstrip()
                log.write(line)
                if line and not line.startswith("{"):  # else it is an event
                    self._words = line.removeprefix("mtcool: ")
        finally:
            log.close()

    async def _logged(self) -> None:
        """Wait until all that a process has said before its end is in its log."""
        if self._logging is not None:
            await asyncio.wait({self._logging}, timeout=LAST_WORDS)
            self._logging.cancel()

    async def _read(self, child: asyncio.subprocess.Process) -> None:
        assert child.stdout is not None  # it is a pipe
        while line := await child.stdout.readline():
            try:
                reply = msgspec.json.decode(line, type=dict[str, Plain])
            except msgspec.DecodeError:
                self._tell(f"host {self.host} has said what is no reply: {line[:200]!r}")
                continue
            waiting = self._waiting.pop(reply.get("id", 0), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(reply)
        self.ready.clear()
        code = await child.wait()
        await self._logged()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Gone(f"host {self.host!r} has ended"))
        self._waiting.clear()
        if not self._stopping:
            self.restarts += 1
            then = "stays down" if self.held else "begins again"
            self._tell(f"host {self.host} {_ending(code)}, and {then}")
            if not self.held:
                self._again = asyncio.create_task(self._begin_again())

    async def kill(self) -> None:
        """End it as a crash would, and leave it so."""
        self.held = True
        if self._child is not None and self._child.returncode is None:
            self._child.kill()
            await self._child.wait()
            if self._reading is not None:
                await self._reading

    async def restart(self) -> None:
        """Begin again after `kill`."""
        if not self.held:
            return
        self.held = False
        if self._reading is not None:  # it may still be ending, and begins again by itself then
            await asyncio.wait({self._reading})
        if self._again is None or self._again.done():
            self._again = asyncio.create_task(self._begin_again())
        await asyncio.wait({self._again})

    async def _begin_again(self) -> None:
        """Try until it is ready, is held down, or there is no hope."""
        for tried in range(TRIES):
            try:
                await self.begin()
            except (CouldNotBegin, OSError) as error:
                if self._stopping or self.held:
                    return
                self._tell(str(error))
                if isinstance(error, CouldNotBegin) and not error.may_pass:
                    break
            else:
                if self.held:  # since before there was a process to kill
                    await self.kill()
                return
            if tried < TRIES - 1:
                pause = PAUSE * 2**tried
                self._tell(f"host {self.host} is tried again in {pause:g} s")
                await asyncio.sleep(pause)
                if self.held:
                    return
        self._tell(f"host {self.host} is given up")
        self._stopping = True
        self.ready.set()  # who waits is told that it is gone

    async def ask(self, request: dict[str, Plain]) -> dict[str, Plain]:
        """Ask it something; `Gone` if it dies meanwhile."""
        child = self._child
        if child is None or child.stdin is None or not self._answers(child):
            raise Gone(f"host {self.host!r} does not run")
        number = next(self._numbers)
        waiting: asyncio.Future[dict[str, Plain]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            child.stdin.write(msgspec.json.encode({"id": number, **request}) + b"\n")
            await child.stdin.drain()
        except (ConnectionError, RuntimeError):
            self._waiting.pop(number, None)
            raise Gone(f"host {self.host!r} has ended") from None
        return await waiting

    def _answers(self, child: asyncio.subprocess.Process) -> bool:
        if child.returncode is not None and not self._stopping:
            self.ready.clear()  # who waits for it now waits for the next process
        return self.ready.is_set() and child.returncode is None

    @property
    def given_up(self) -> bool:
        """Whether it will not run again."""
        return self._stopping

    async def stop(self) -> None:
        """Let it stop by itself; end it if it does not."""
        self._stopping = True
        try:
            await self._stop()
        finally:
            self.ready.set()  # who waits is told that it is gone

    async def _stop(self) -> None:
        if self._again is not None:
            self._again.cancel()
            await asyncio.gather(self._again, return_exceptions=True)
        child = self._child
        if child is None or child.returncode is not None:
            return
        try:
            await asyncio.wait_for(self.ask({"do": "stop"}), PATIENCE)
            await asyncio.wait_for(child.wait(), PATIENCE)
        except (Gone, TimeoutError):
            if child.returncode is None:
                child.kill()
                await child.wait()
        if self._reading is not None:
            await self._reading


async def _next_line(reader: asyncio.StreamReader) -> bytes:
    """The next line, nothing at the end; what is too long for a line is left out."""
    while True:
        with contextlib.suppress(ValueError):
            return await reader.readline()


def _ending(code: int) -> str:
    """How a process has ended.

    Examples
    --------
    >>> _ending(-9), _ending(1)
    ('was ended by signal 9', 'has ended with status 1')
    """
    return f"was ended by signal {-code}" if code < 0 else f"has ended with status {code}"


def _is_ready(line: bytes) -> bool:
    """Whether it is the first line of a host that answers from now on."""
    try:
        told: Plain = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return False
    return isinstance(told, dict) and told.get("ready") is True
