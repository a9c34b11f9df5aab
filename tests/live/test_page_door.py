"""The door of a page with a token, in a real browser: over plain HTTP, and behind proxies with TLS.

The page is called by a name that is not this machine's, so that the browser takes it for a server
elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest
from playwright.sync_api import expect, sync_playwright

from live.proxies import TlsProxy
from live.stage import launched
from live.test_page_processes import network_file, running
from mtcool.live.certificates import make_certificates

pytestmark = pytest.mark.browser

TOKEN = "correct horse battery staple"
NAME = "rome.test"
PROXIES = {
    "keeps the name": {"more": ["X-Forwarded-Proto: https"]},
    "tells the name": {"keeps_host": False, "more": ["X-Forwarded-Host: {host}"]},
    "tells nothing": {"keeps_host": False},
}
expect.set_options(timeout=60_000)


@contextlib.contextmanager
def proxied(folder, port):
    """Proxies before a port, in a thread of their own; gives where each of them is."""
    make_certificates(folder, "door", {NAME: f"{NAME}:443"})
    files = folder / f"{NAME}.pem", folder / f"{NAME}.key"
    places, began = {}, threading.Event()

    async def run():
        nonlocal loop, over
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        proxies = {name: TlsProxy(port, *files, **how) for name, how in PROXIES.items()}
        for name, one in proxies.items():
            places[name] = f"https://{NAME}:{await one.open()}"
        began.set()
        await over.wait()
        for one in proxies.values():
            await one.close()

    loop = over = None
    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    assert began.wait(30)
    yield places
    loop.call_soon_threadsafe(over.set)
    thread.join()


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """Where a page that wants a token is called, by how one comes there."""
    folder = tmp_path_factory.mktemp("door")
    file, _ = network_file(folder, 1)
    (folder / "token").write_text(TOKEN)
    (folder / "token").chmod(0o600)
    security = "security = { tls = false }"
    file.write_text(file.read_text().replace(security, security[:-2] + ', token = "token" }'))
    with running("watch", file, "--listen", "127.0.0.1:0") as (_, viewer):
        port = int(viewer().rpartition(":")[2])
        with proxied(folder / "proxy", port) as places:
            yield {"plain": f"http://{NAME}:{port}", **places}


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = launched(playwright, f"--host-resolver-rules=MAP {NAME} 127.0.0.1")
        yield browser
        browser.close()


@pytest.mark.parametrize("way", ["plain", *PROXIES])
def test_a_page_is_entered_with_the_token(browser, doors, way):
    url, tls = doors[way], way != "plain"
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    asked = page.goto(url)
    assert asked.status == 401
    assert page.get_by_role("alert").count() == 0
    for given, seen in (("a wrong one altogether", False), (TOKEN, True)):
        page.get_by_label("Token of this network").fill(given)
        page.get_by_role("button", name="Enter").click()
        if not seen:
            words = "This is not the token of this network."
            expect(page.get_by_role("alert")).to_have_text(words)
            assert context.cookies() == []
    expect(page.get_by_test_id("state")).to_have_text("0 of 1 host answer, 0 agents")
    assert page.url == f"{url}/"
    (cookie,) = context.cookies()
    assert cookie["name"] == ("__Host-mtcool" if tls else "mtcool")
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert cookie["secure"] is tls
    assert TOKEN not in cookie["value"]
    page.reload()
    expect(page.get_by_test_id("state")).to_have_text("0 of 1 host answer, 0 agents")
    page.goto(f"{url}/enter")  # the form was there before
    expect(page.get_by_test_id("state")).to_have_text("0 of 1 host answer, 0 agents")
    assert page.url == f"{url}/"
    context.close()
    stranger = browser.new_context(ignore_https_errors=True)
    again = stranger.new_page()
    assert again.goto(url).status == 401
    stranger.close()


def test_a_page_of_another_site_gets_nothing_with_the_cookie_of_the_browser(browser, doors):
    """Also one whose server has another port of the same machine, where cookies go, too."""
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    mine, other = doors["keeps the name"], doors["tells the name"]
    page.goto(mine)
    page.get_by_label("Token of this network").fill(TOKEN)
    page.get_by_role("button", name="Enter").click()
    expect(page.get_by_test_id("state")).to_be_visible()
    stranger = context.new_page()
    stranger.goto(f"{other}/mtcool/page.css")
    opened = """url => new Promise(done => {
        const socket = new WebSocket(url);
        socket.onopen = () => done(true);
        socket.onerror = () => done(false);
    })"""
    path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    for url, expected in ((other, True), (mine, False)):
        found = stranger.evaluate(opened, url.replace("https:", "wss:") + path)
        assert found is expected
    with pytest.raises(Exception, match="Failed to fetch"):
        stranger.evaluate("url => fetch(url, {method: 'POST', credentials: 'include'})", mine)
    context.close()
