"""A connection that is slow, or cut and healed."""

import asyncio
import contextlib


class Proxy:
    """Passes bytes on to a port, unless it is cut: then it drops what it has and takes nothing.

    Parameters
    ----------
    port
        To whom it passes them on.
    delay
        Seconds that they are under way.
    """

    def __init__(self, port: int, delay: float = 0.0) -> None:
        self._port, self._delay, self._cut = port, delay, False
        self._pipes: set[asyncio.StreamWriter] = set()
        self._callers = 0

    async def open(self) -> int:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        name: tuple[str, int] = self._server.sockets[0].getsockname()
        return name[1]

    def cut(self, cut: bool) -> None:
        self._cut = cut
        for writer in list(self._pipes) if cut else []:
            writer.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pipes = {writer}
        self._callers += 1
        try:
            if self._cut:
                return
            there, back = await asyncio.open_connection("127.0.0.1", self._port)
            pipes.add(back)
            self._pipes |= pipes
            if self._cut:  # meanwhile
                return
            await asyncio.gather(self._pump(reader, back), self._pump(there, writer))
        except OSError:
            pass  # nobody is there
        finally:
            for one in pipes:
                one.close()
                with contextlib.suppress(OSError):
                    await one.wait_closed()
            self._pipes -= pipes
            self._callers -= 1

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while content := await reader.read(1 << 16):
                await asyncio.sleep(self._delay)
                writer.write(content)
                await writer.drain()
        writer.close()

    async def close(self) -> None:
        self.cut(True)
        self._server.close()
        while self._callers:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)  # the last ones are closed by the loop
