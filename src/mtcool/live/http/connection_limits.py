"""Connections whose callers keep us waiting are closed, and there are not too many of them."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

PATIENCE = 10.0
"""Seconds for the headers of a request, for its body, and until something of a reply is read.

Callers must not hold a door open, whether they know a token or not. Who is late at two looks, so
long after each other, has its connection closed. Who has not shown the token by then is answered,
and the connection is closed: there is no second request before the token is known, unless both are
of those that need none.
"""
MOST_CONNECTIONS = 256


class Impatient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # chosen when uvicorn is imported
    """The protocol that uvicorn chooses, with less patience."""

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 (as uvicorn has it)
        """Take a connection; if there are too many, instead of the oldest that keeps us waiting."""
        if len(self.connections) >= MOST_CONNECTIONS and not _make_room(self.connections):
            transport.close()
            return
        super().connection_made(transport)
        self.began = asyncio.get_running_loop().time()
        self._seen = self._state
        self._look_again()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        if hasattr(self, "_late"):
            self._late.cancel()
            super().connection_lost(exc)

    @property
    def late(self) -> bool:
        """Whether we wait for the caller: to ask, to go on with a request, or to read the reply."""
        cycle = self.cycle
        asks = cycle is None or cycle.response_complete or cycle.more_body
        return bool(asks or self.flow.write_paused)

    @property
    def _state(self) -> tuple[object, ...]:
        """What is another one as soon as a request or a reply has got anywhere."""
        cycle, unread = self.cycle, self.transport.get_write_buffer_size()
        if cycle is None:
            return None, unread
        return cycle, cycle.more_body, cycle.response_complete, unread

    def _look_again(self) -> None:
        self._late = asyncio.get_running_loop().call_later(PATIENCE, self._close_if_late)

    def _close_if_late(self) -> None:
        if self.transport.get_protocol() is not self:  # but a websocket
            return
        before, self._seen = self._seen, self._state
        if self.late and before == self._seen:
            self.transport.abort()  # `close` would wait until everything is read
        else:
            self._look_again()


def _make_room(connections: set[Any]) -> bool:
    """Close the oldest connection whose caller keeps us waiting, if there is one."""
    open_ones = [one for one in connections if not one.transport.is_closing()]
    if len(open_ones) < MOST_CONNECTIONS:
        return True  # the others end soon
    waiting = [one for one in open_ones if isinstance(one, Impatient) and one.late]
    if not waiting:
        return False
    min(waiting, key=lambda one: one.began).transport.abort()
    return True
