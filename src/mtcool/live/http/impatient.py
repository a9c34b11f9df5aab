"""Connections that say nothing are closed, and there are not too many of them."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

PATIENCE = 10.0
"""Seconds for the headers of a first request, and for the token in a form after them.

Callers without a token must not hold a door open. Who has not shown it by then is answered, and the
connection is closed: there is no second request before the token is known.
"""
MOST_CONNECTIONS = 256


class Impatient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # chosen when uvicorn is imported
    """The protocol that uvicorn chooses, with less patience."""

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 (as uvicorn has it)
        """Take a connection, if there are not too many."""
        if len(self.connections) >= MOST_CONNECTIONS:
            transport.close()
            return
        super().connection_made(transport)
        self._late = asyncio.get_running_loop().call_later(PATIENCE, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        if hasattr(self, "_late"):
            self._late.cancel()
            super().connection_lost(exc)

    def _close_if_silent(self) -> None:
        upgraded = self.transport.get_protocol() is not self  # to a websocket
        if self.cycle is None and not upgraded:
            self.transport.close()
