"""A proxy that can fall silent: it forwards nothing, and keeps all connections."""

from __future__ import annotations

import contextlib
import socket
import threading


class Silence:
    """Passes bytes on to a port, in threads; what comes while it is silent is held back."""

    def __init__(self, port: int) -> None:
        self._there = port
        self._forwards = threading.Event()
        self._forwards.set()
        self._server = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._server]
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def begin(self) -> None:
        self._forwards.clear()

    def end(self) -> None:
        self._forwards.set()

    def close(self) -> None:
        self.end()
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._server.accept()
                try:
                    there = socket.create_connection(("127.0.0.1", self._there))
                except OSError:
                    here.close()
                    continue
                self._sockets += [here, there]
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, reader: socket.socket, writer: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := reader.recv(1 << 16):
                self._forwards.wait()
                writer.sendall(content)
        for one in (reader, writer):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
