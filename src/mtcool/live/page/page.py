"""The page: what it is made of, and which page goes on which server."""

from __future__ import annotations

import html
from pathlib import Path

import nicegui
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from nicegui import Client, ui

import mtcool
from mtcool.live.page.view import View
from mtcool.live.page.watching import Watch

DRAWN = 2.0
"""Seconds between two times that a page is sent what is new."""
PATIENCE, MOST_WAITING = 20.0, 8
"""Seconds that a page waits for its browser to connect; how many may wait.

Each takes some hundredths of a second of the loop, and memory. Whoever does not let its scripts run
never connects.
"""
STATIC = Path(__file__).parent / "static"
HEAD = f"""
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/mtcool/page.css?{mtcool.__version__}">
<script src="/mtcool/page.js?{mtcool.__version__}"></script>
"""
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g stroke="#1f6fb4" '
    'stroke-width="2"><path d="M6 6 18 6 12 18Z" fill="none"/></g><g fill="#1f6fb4">'
    '<circle cx="6" cy="6" r="4"/><circle cx="18" cy="6" r="4"/><circle cx="12" cy="18" r="4"/>'
    "</g></svg>"
)
_shown: list[FastAPI] = []
_waiting: set[str] = set()
"""Pages whose browsers have not connected yet."""


def show_on(app: FastAPI, watch: Watch) -> None:
    """Put the page of a network at "/" of an app; a process has room for one page.

    Parameters
    ----------
    app
        The app: `http_app(node)`, or one of its own.
    watch
        What is shown, watched for as long as the app is served.

    Examples
    --------
    >>> from mtcool.live.http import http_app, serving
    >>> from mtcool.live.page import of_node
    >>> async def watched(node, stop):  # an open node, and an event
    ...     app = http_app(node)
    ...     async with Watch(of_node(node)) as watch:
    ...         show_on(app, watch)
    ...         async with serving(app, "127.0.0.1:8000"):
    ...             await stop.wait()
    """
    if _shown:
        raise ValueError(f"page must be the only one of this process, got {app.title!r} as well")
    _shown.append(app)
    nicegui.app.add_static_files("/mtcool", STATIC)

    @ui.page("/", title="mtcool")
    def page() -> Response | None:
        if not _may_wait(ui.context.client):
            ui.context.client.delete()
            words = f"pages that wait for their browsers must be at most {MOST_WAITING}"
            return PlainTextResponse(words, 503, {"Retry-After": f"{PATIENCE:.0f}"})
        ui.add_head_html(HEAD)
        name = html.escape(watch.network.name or "mtcool")
        ui.add_body_html(f'<div id="mt-wait"><b>{name}</b><span>one moment</span></div>')
        view = View(watch)
        ui.timer(DRAWN, view.refresh)
        return None

    @nicegui.app.exception_handler(404)
    async def nothing(request: Request, error: Exception) -> JSONResponse:
        """What is not there is no page, either."""
        return JSONResponse({"error": "Not Found"}, 404)

    ui.run_with(
        app,
        favicon=ICON,
        dark=None,
        tailwind=False,  # its script makes styles in the browser, which takes time
        show_welcome_message=False,
        binding_refresh_interval=None,
        reconnect_timeout=10.0,
    )


def _may_wait(client: Client) -> bool:
    """Note that a page waits for its browser, unless too many do; who waited long is given up."""
    Client.prune_instances(client_age_threshold=PATIENCE)
    if len(_waiting) >= MOST_WAITING:
        return False
    _waiting.add(client.id)
    for end in (client.on_connect, client.on_delete):
        end(lambda: _waiting.discard(client.id))
    return True
