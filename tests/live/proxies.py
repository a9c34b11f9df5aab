"""Connections that are slow, or cut and healed, or end TLS."""

import asyncio
import contextlib
import ssl


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


class TlsProxy:
    """Ends TLS before a server that speaks plain HTTP: one request for each connection.

    Parameters
    ----------
    port
        Where the server listens, on this machine.
    certificate, key
        Files of the proxy.
    keeps_host
        Whether the server is told the name that the browser calls; else that of the proxy's own
        configuration, 127.0.0.1, as nginx does by itself.
    more
        Headers that are added; `{host}` stands for the name that the browser calls.
    """

    def __init__(self, port, certificate, key, *, keeps_host=True, more=()):
        self._port, self._keeps_host, self._more = port, keeps_host, more
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._under_way = set()

    async def open(self) -> int:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0, ssl=self._context)
        return self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._server.close()
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _take(self, reader, writer) -> None:
        task, back = asyncio.current_task(), None
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            there, back = await asyncio.open_connection("127.0.0.1", self._port)
            back.write(self._told(head).encode("latin-1"))
            async with asyncio.TaskGroup() as ways:
                asking = ways.create_task(_pass_on(reader, back))
                await _pass_on(there, writer)
                asking.cancel()
        for one in (writer, back):
            if one is not None:
                one.close()
                with contextlib.suppress(OSError):
                    await one.wait_closed()

    def _told(self, head: str) -> str:
        first, *lines = head.rstrip("\r\n").split("\r\n")
        found = dict(line.split(": ", 1) for line in lines)
        called = found["Host"]
        if not self._keeps_host:
            found["Host"] = f"127.0.0.1:{self._port}"
        if "Upgrade" not in found:
            found["Connection"] = "close"
        lines = [f"{name}: {value}" for name, value in found.items()]
        lines += [line.format(host=called) for line in self._more]
        return "\r\n".join([first, *lines, "", ""])


async def _pass_on(reader, writer) -> None:
    with contextlib.suppress(OSError):
        while content := await reader.read(1 << 16):
            writer.write(content)
            await writer.drain()
