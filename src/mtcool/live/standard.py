"""Standard input and output on an event loop, whatever they are: pipes, files or a terminal."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading

from mtcool.live.lines import LONGEST, Writer

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
        threading.Thread(target=_pump, args=(loop, reader), daemon=True).start()
    return reader


async def standard_output() -> Writer:
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


def _pump(loop: asyncio.AbstractEventLoop, reader: asyncio.StreamReader) -> None:
    try:
        while content := os.read(sys.stdin.fileno(), BLOCK):
            loop.call_soon_threadsafe(reader.feed_data, content)
        loop.call_soon_threadsafe(reader.feed_eof)
    except RuntimeError:  # the loop is closed
        return


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
