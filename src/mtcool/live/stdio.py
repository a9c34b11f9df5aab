"""Standard input and output on an event loop, whatever they are: pipes, files or a terminal."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading

from mtcool.live.lines import LONGEST, ReplyWriter

BLOCK = 1 << 16
"""Bytes that are read from a file at once."""


async def standard_input() -> asyncio.StreamReader:
    """Standard input as a reader of lines."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST)
    if _is_pipe(sys.stdin.fileno()):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    else:
        # A loop cannot wait for files, and a terminal that does not block harms its other users.
        pump = _Pump(loop, reader)
        reader.set_transport(pump)
        threading.Thread(target=pump.run, args=(sys.stdin.fileno(),), daemon=True).start()
    return reader


async def standard_output() -> ReplyWriter:
    """Standard output as a writer of lines."""
    loop = asyncio.get_running_loop()
    if not _is_pipe(sys.stdout.fileno()):
        return _Direct()
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


class _Direct:
    """Writes at once."""

    def write(self, content: bytes) -> None:
        """Write."""
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()

    async def drain(self) -> None:
        """Nothing waits."""


class _Pump(asyncio.ReadTransport):
    """Feeds a reader from a thread, a block whenever there is room for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, reader: asyncio.StreamReader) -> None:
        super().__init__()
        self._loop, self._reader = loop, reader
        self._paused = False
        self._room = threading.Event()

    def run(self, descriptor: int) -> None:
        """Read a file to its end."""
        try:
            while content := os.read(descriptor, BLOCK):
                self._room.clear()
                self._loop.call_soon_threadsafe(self._feed, content)
                self._room.wait()
            self._loop.call_soon_threadsafe(self._reader.feed_eof)
        except RuntimeError:  # the loop is closed
            return

    def _feed(self, content: bytes) -> None:
        self._reader.feed_data(content)  # which pauses this when it has enough
        if not self._paused:
            self._room.set()

    def pause_reading(self) -> None:
        """Wait."""
        self._paused = True

    def resume_reading(self) -> None:
        """Go on."""
        self._paused = False
        self._room.set()


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
