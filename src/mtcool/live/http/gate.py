"""Who gets in: the first thing that sees a request, whatever it is for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mtcool.live.http import connection_limits
from mtcool.live.http.token import pass_of, same_token

LONGEST = 1 << 20
"""Bytes of a request."""
LONGEST_FORM = 1 << 12
"""Bytes of a request that shows the token: whoever sends it is not known yet."""
HEADERS = {
    # Pages load nothing from elsewhere, and no other page shows them in a frame.
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Others are told nothing; of our own pages, browsers must say where a form was sent from.
    "Referrer-Policy": "same-origin",
}
COOKIE, COOKIE_OVER_TLS = "mtcool", "__Host-mtcool"
"""Two names: over TLS, browsers show the second one nowhere else, and no plain page replaces it."""
DOOR = "/enter"
OPEN = ("/health", "/ready")
"""What anybody may ask: whatever watches over processes has no token, and hears yes or no."""
FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><title>mtcool</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>body{font:16px/1.5 system-ui,sans-serif;display:grid;place-items:center;min-height:90vh}
form{display:grid;gap:.75rem;width:min(22rem,90vw)}input,button{font:inherit;padding:.5rem}
p{margin:0;color:light-dark(#b3261e,#f2b8b5)}</style>
<form method="post" action="/enter"><label for="token">Token of this network</label>
<input id="token" name="token" type="password" autocomplete="current-password" autofocus>%s
<button>Enter</button></form></html>"""
WRONG = '<p role="alert">This is not the token of this network.</p>'


class Gate:
    """Refuses requests that lack the token, come from other sites, or are too long.

    Programs show the token as `Authorization: Bearer ...`. A browser is asked for it once.

    Parameters
    ----------
    app
        What is behind the gate.
    token
        What callers must know; None if everybody on this machine may call.
    names
        Names that this server may be called by. A page of another site that calls it by a name
        of its own is refused, so that a browser on this machine is no way in. None for any.
    """

    def __init__(
        self, app: ASGIApp, token: str | None = None, names: Iterable[str] | None = None
    ) -> None:
        self.app, self._token = app, token
        self._pass = None if token is None else pass_of(token)
        self._names = None if names is None else frozenset(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        send = _with_headers(send)
        refusal = self._refusal(scope, headers)
        shows = scope["path"] == DOOR and scope.get("method") == "POST"
        if refusal is None and self._token is not None and shows:
            refusal = await self._at_the_door(headers, receive)
        elif refusal is None and scope["path"] not in OPEN and not self._known(headers):
            html = scope["type"] == "http" and "text/html" in headers.get(b"accept", "")
            refusal = HTMLResponse(FORM % "", 401) if html else _said(401, "token must be given")
        elif refusal is None and self._token is not None and scope["path"] == DOOR:
            refusal = RedirectResponse("/", 303)  # who is in already, and goes back to the form
        if refusal is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            # The rest of the request is not read, and who is not known yet does not stay.
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[bytes, str]) -> Response | None:
        called = headers.get(b"host", "")
        if self._names is not None and _name(called) not in self._names:
            return _said(403, f"host must be {', '.join(sorted(self._names))}, got {called!r}")
        if _foreign(headers):
            origin = headers[b"origin"]
            return _said(403, f"requests must come from this page, got one from {origin!r}")
        if _embedded(scope, headers):
            return _said(403, "pages of other sites must not load anything from here")
        if scope.get("method") in ("POST", "PUT", "PATCH"):
            # Of a body in chunks, whatever else is said of it, nobody knows how long it is; a
            # request that says neither has none.
            chunks = b"transfer-encoding" in headers
            length = "" if chunks else headers.get(b"content-length", "0")
            if not length.isdecimal() or len(length) > 9 or int(length) > LONGEST:
                given = length or "none"
                return _said(400, f"content-length must be at most {LONGEST}, got {given}")
        return None

    def _known(self, headers: dict[bytes, str]) -> bool:
        if self._token is None or self._pass is None:
            return True
        scheme, _, given = headers.get(b"authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return same_token(given.strip(), self._token)
        try:
            kept = SimpleCookie(headers.get(b"cookie", ""))
        except CookieError:
            return False
        shown = [kept[name].value for name in (COOKIE, COOKIE_OVER_TLS) if name in kept]
        return any(same_token(one, self._pass) for one in shown)

    async def _at_the_door(self, headers: dict[bytes, str], receive: Receive) -> Response:
        """A browser shows the token; it is told what to show from now on."""
        assert self._token is not None
        assert self._pass is not None
        try:
            async with asyncio.timeout(connection_limits.PATIENCE):
                content = await _body(receive, LONGEST_FORM)
        except TimeoutError:
            return _said(408, f"token must be given within {connection_limits.PATIENCE:g} seconds")
        given = parse_qs(content.decode("latin-1")).get("token", [""])[0]
        if not same_token(given, self._token):
            return HTMLResponse(FORM % WRONG, 401)
        answer = RedirectResponse("/", 303)
        # A proxy may have ended TLS before us: the browser says how it has reached the page.
        secure = headers.get(b"origin", "").startswith("https://")
        name = COOKIE_OVER_TLS if secure else COOKIE
        answer.set_cookie(name, self._pass, secure=secure, httponly=True, samesite="strict")
        return answer


def _foreign(headers: dict[bytes, str]) -> bool:
    """Whether a page of another site asks, as browsers tell of it.

    `Sec-Fetch-Site` is what the browser itself has found, over TLS and on its own machine, whatever
    a proxy makes of the other headers; it does not come with WebSockets, nor over plain HTTP from
    elsewhere. There the origin must be where the request went, to us or to the proxy. None of these
    headers can be set by a page of another site.
    """
    origin = headers.get(b"origin")
    if origin is None or headers.get(b"sec-fetch-site") == "same-origin":
        return False
    place = _place(origin)
    return not place or place not in (headers.get(b"host"), headers.get(b"x-forwarded-host"))


def _embedded(scope: Scope, headers: dict[bytes, str]) -> bool:
    """Whether a page of another site asks for something, and is not left for it: for an image, say.

    Browsers tell of it where a server is on their own machine or is reached over TLS. Elsewhere the
    token keeps such requests out, which no browser shows for the pages of others.
    """
    if headers.get(b"sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    shown = headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")
    return scope.get("method") != "GET" or shown != ("navigate", "document")


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return sent


async def _body(receive: Receive, most: int) -> bytes:
    """The body of a request, or its beginning if it is longer than `most` bytes."""
    found, more = b"", True
    while more and len(found) < most:
        message: Message = await receive()
        found += message.get("body", b"")
        more = message.get("more_body", False)
    return found[:most]


def _said(status: int, reason: str) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    return JSONResponse({"error": reason}, status, headers)


def _name(called: str) -> str:
    """The name in a `Host` header, without the port."""
    try:
        return urlsplit(f"//{called}").hostname or "" if called.isprintable() else ""
    except ValueError:
        return ""


def _place(origin: str) -> str:
    """The name and port in an `Origin` header; nothing if it is no address."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
