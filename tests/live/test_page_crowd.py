"""Pages whose browsers never connect: few are made, and they are given up."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import asyncio, json, sys, time
import httpx, nicegui
from fastapi import FastAPI
from mtcool.live.http import serving
from mtcool.live.page import Watch, show_on
from mtcool.live.page import page as made

async def nobody():
    return {}

async def play():
    app, found = FastAPI(), {}
    async with Watch(nobody) as watch:
        show_on(app, watch)
        async with serving(app, "127.0.0.1:0") as url, httpx.AsyncClient(base_url=url) as client:
            async def status(path="/"):
                return (await client.get(path, timeout=60.0)).status_code
            found["codes"] = [await status() for _ in range(12)]
            found["pages"] = len(nicegui.Client.instances)
            found["nothing"] = [await status("/nothing") for _ in range(12)]
            found["after"] = len(nicegui.Client.instances)
            for one in nicegui.Client.instances.values():
                one.created -= made.PATIENCE
            found["later"] = await status()
            found["left"] = len(nicegui.Client.instances)
            for one in nicegui.Client.instances.values():
                for connected in one.connect_handlers:
                    connected()
            found["connected"] = [await status() for _ in range(made.MOST_WAITING + 1)]
            found["most"] = made.MOST_WAITING
    print(json.dumps(found))

asyncio.run(play())
"""


def test_pages_that_never_connect_are_few_and_given_up() -> None:
    """In a process of its own, which has room for one page."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    most = found["most"]
    assert found["codes"] == [200] * most + [503] * (12 - most)
    assert found["pages"] == found["after"] == most
    assert found["nothing"] == [404] * 12
    assert (found["later"], found["left"]) == (200, 1)
    assert found["connected"] == [200] * most + [503]
