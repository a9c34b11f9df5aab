"""A process of the network, which is spoken to in JSON lines and begun again when it dies."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from mtcool.live.description import Description
from mtcool.live.sockets import socket_of
from mtcool.types import Plain

LONGEST = 1 << 26
"""Bytes of a reply: the status of many agents is long."""
PATIENCE = 15.0
"""Seconds that a process has to stop by itself."""


class Gone(ConnectionError):
    """A process died while it was asked something: what it has done of it is not known."""


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
            *(sys.executable, "-m", "mtcool", "node", str(file)),
            *("--host", host, "--lines", "--journal"),
        ]
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Plain]]] = {}
        self._stopping = False
        self._child: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process, while it runs."""
        return None if self._child is None else self._child.pid

    async def begin(self) -> None:
        """Start it, and wait until it is ready."""
        self.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=LONGEST,
                start_new_session=True,  # Ctrl-C is for us, who stop it
            )
        assert self._child.stdout is not None  # it is a pipe
        if not await self._child.stdout.readline():
            await self._child.wait()
            raise ValueError(f"host {self.host!r} could not begin: {self._last_words()}")
        self.ready.set()
        self._reading = asyncio.create_task(self._read(self._child))

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return lines[-1] if lines else "it has said nothing"

    async def _read(self, child: asyncio.subprocess.Process) -> None:
        assert child.stdout is not None  # it is a pipe
        while line := await child.stdout.readline():
            reply = msgspec.json.decode(line)
            waiting = self._waiting.pop(reply.get("id"), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(reply)
        self.ready.clear()
        code = await child.wait()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Gone(f"host {self.host!r} has ended"))
        self._waiting.clear()
        if not self._stopping:
            self.restarts += 1
            then = "stays down" if self.held else "begins again"
            self._tell(f"host {self.host} has ended with status {code}, and {then}")
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
        if self.held:
            self.held = False
            await self._begin_again()

    async def _begin_again(self) -> None:
        try:
            await self.begin()
        except ValueError as error:
            self._tell(str(error))
            self._stopping = True
            self.ready.set()  # who waits is told that it is gone

    async def ask(self, request: dict[str, Plain]) -> dict[str, Plain]:
        """Ask it something; `Gone` if it dies meanwhile."""
        child = self._child
        if child is None or child.stdin is None or child.returncode is not None:
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

    @property
    def given_up(self) -> bool:
        """Whether it will not run again."""
        return self._stopping

    async def stop(self) -> None:
        """Let it stop by itself; end it if it does not."""
        self._stopping = True
        child = self._child
        if child is None or child.returncode is not None:
            return
        if self._reading is None:  # it has not said yet that it is ready
            child.kill()
            await child.wait()
            return
        try:
            await asyncio.wait_for(self.ask({"do": "stop"}), PATIENCE)
            await asyncio.wait_for(child.wait(), PATIENCE)
        except (Gone, TimeoutError):
            if child.returncode is None:
                child.kill()
                await child.wait()
        await self._reading
