"""The page of networks that are processes: a viewer, a node by itself, and `mtcool up --web`."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import httpx
import pytest
from playwright.sync_api import expect, sync_playwright

from live.ports import free_ports
from live.stage import launched

pytestmark = pytest.mark.browser

PATIENCE = 300.0
"""Seconds after which a command has hung."""
expect.set_options(timeout=60_000)  # milliseconds; the machine may have other work to do
STREAM = 'stream = { kind = "synthetic", rounds = 100_000 }'


@pytest.fixture
def browser():
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


def network_file(folder, count):
    first = free_ports(2 * count + 1)[0]
    file = folder / "small.toml"
    file.write_text(
        f'name = "small"\ngraph = {{ kind = "ring", agents = 4 }}\n{STREAM}\n'
        f'learn = {{ features = ["a", "b"] }}\nsecurity = {{ tls = false }}\n'
        f"shards = {{ count = {count}, port = {first}, http = {first + count} }}\n"
    )
    return file, first + count


@contextlib.contextmanager
def running(*command):
    """A command; gives it, and what waits for the address that it tells."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mtcool", *map(str, command)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process, lambda: address_in(process.stderr)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def address_in(stderr):
    """The address that a command tells, soon or after it has compiled."""
    said, end = b"", time.monotonic() + PATIENCE
    while (found := re.search(rb" at (http://\S+)\n", said)) is None:
        ready, _, _ = select.select([stderr], [], [], max(0.0, end - time.monotonic()))
        content = os.read(stderr.fileno(), 1 << 16) if ready else b""
        assert content, said
        said += content
    return found[1].decode()


def test_a_viewer_and_a_node_show_what_hosts_say(browser, tmp_path):
    file, http = network_file(tmp_path, 2)
    with (
        running("node", file, "--host", "host0", "--web") as (_, first),
        running("node", file, "--host", "host1") as (_, second),
        running("watch", file, "--listen", "127.0.0.1:0") as (_, viewer),
    ):
        own, _, whole = first(), second(), viewer()  # they begin at the same time
        for k in range(40):
            agent, url = k % 4, f"http://127.0.0.1:{http + k % 4 // 2}"
            row = {"agent": agent, "features": [k % 3 - 1, k % 5 - 2], "target": k % 7}
            assert httpx.post(f"{url}/learn", json=row, timeout=60).status_code == 200
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(whole)
        expect(page.get_by_test_id("activations")).to_have_text("40")
        expect(page.get_by_test_id("state")).to_have_text("2 of 2 hosts answer, 4 agents")
        expect(page.get_by_test_id("press-host0")).to_have_count(0)  # nobody is harmed from here
        page.goto(own)
        expect(page.get_by_test_id("activations")).to_have_text("20")
        page.wait_for_function("() => mtcool.state.values?.health.at(-1) === 'elsewhere'")
        assert httpx.get(f"{own}/status", timeout=60).json()["activations"] == 20


def test_what_is_killed_and_cut_from_the_page_loses_nothing(browser, tmp_path):
    file, _ = network_file(tmp_path, 2)
    with running("up", file, "--web", "--json") as (process, url):
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(url())
        state, button = page.get_by_test_id("state-host1"), page.get_by_test_id("press-host1")
        # Nearly always something is on its way to the other host, which is told as "waiting".
        expect(state).to_have_text(re.compile("^2 agents"))
        # A hundred or more.
        expect(page.get_by_test_id("activations")).to_have_text(re.compile(r"\d{3}"))
        cut = page.get_by_test_id("press-host0-host1")
        cut.click()
        expect(cut).to_have_text("Heal")
        expect(page.get_by_test_id("outbox")).not_to_have_text("0")
        button.click()
        expect(state).to_have_text("killed")
        button.click()
        expect(button).to_have_text("Kill")
        page.get_by_test_id("press-host0").click()  # stopping undoes all harm
        expect(page.get_by_test_id("state-host0")).to_have_text("killed")
        page.close()
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=PATIENCE)
    outcome = json.loads(told)
    assert outcome["activations"] > 100
    assert (outcome["lost"], outcome["twice"], outcome["waiting"], outcome["refused"]) == (0,) * 4
    assert outcome["restarts"] == 2
    assert outcome["replayed"]["same"] == outcome["replayed"]["predictions"]
