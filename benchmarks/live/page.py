"""What it costs a node to be watched, and how soon the page is there.

Two hosts with an agent each run as processes on this machine. A program asks one of them for rounds
(a row of the other host, a prediction, a durable gradient) over its socket, in turns without a page
and with one open in chromium: a page of the node itself, and one of a viewer in its own process,
which asks the hosts how they are once a second.
"""

from __future__ import annotations

import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from playwright.sync_api import Browser, sync_playwright

from benchmarks.live.places import free_ports
from benchmarks.result import Result, at_most
from mtcool.live.certificates import make_certificates
from mtcool.live.config import Description, read_description
from mtcool.live.sockets import socket_of

CHROMIUM = "/usr/bin/chromium"
HOSTS = ("one", "two")


def run(quick: bool) -> list[Result]:
    """Latency with a page over latency without; the first paint."""
    turns, rounds = (2, 100) if quick else (8, 600)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file, network, viewer = _network(Path(folder))
        for host in HOSTS:
            web = ("--web",) * (host == "one")
            stack.enter_context(_running("node", str(file), "--host", host, *web))
        listen = f"127.0.0.1:{viewer}"
        stack.enter_context(_running("watch", str(file), "--listen", listen))
        browser = stack.enter_context(_browser())
        own = f"http://{network.places['one'].http}"
        _rounds(network, rounds)  # nothing is compiled or connected for the first time
        found = [
            _with_page(browser, network, f"http://{listen}", "of a viewer", turns, rounds),
            _with_page(browser, network, own, "of the node itself", turns, rounds),
        ]
        paints = [_first_paint(browser, f"http://{listen}") for _ in range(3 if quick else 7)]
    return [
        *found,
        Result(
            "First paint of the page",
            f"median of {len(paints)} fresh browsers",
            statistics.median(paints),
            "s",
            at_most(2.0),
        ),
    ]


def _with_page(
    browser: Browser, network: Description, url: str, whose: str, turns: int, rounds: int
) -> Result:
    without, watched = [], []
    for _ in range(turns):
        without += _rounds(network, rounds)
        page = browser.new_page()
        page.goto(url)
        page.get_by_test_id("activations").wait_for()
        page.wait_for_timeout(1000)
        watched += _rounds(network, rounds)
        page.close()
    bare, seen = statistics.median(without), statistics.median(watched)
    return Result(
        f"Median round with a page {whose} open over one without",
        f"{1e3 * bare:.2f} ms; 99 % of rounds within {1e3 * _late(without):.1f} ms, "
        f"with the page {1e3 * _late(watched):.1f} ms",
        seen / bare,
        target=at_most(1.2),
    )


def _late(times: list[float]) -> float:
    return sorted(times)[int(0.99 * len(times))]


def _first_paint(browser: Browser, url: str) -> float:
    context = browser.new_context()
    page = context.new_page()
    page.goto(url)
    page.get_by_test_id("activations").wait_for()
    found = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    context.close()
    return float(found) / 1000


def _rounds(network: Description, count: int) -> list[float]:
    times = []
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(socket_of(network, "one")))
        replies = line.makefile("rb")
        for k in range(count):
            row = {"do": "round", "agent": 0, "features": [k % 7 / 7, k % 5 / 5], "target": k % 3}
            began = time.perf_counter()
            line.sendall(msgspec.json.encode(row) + b"\n")
            reply = msgspec.json.decode(replies.readline())
            times.append(time.perf_counter() - began)
            if "error" in reply:
                raise RuntimeError(reply["error"])
            time.sleep(0.002)  # as a program that has something else to do
    return times


def _network(folder: Path) -> tuple[Path, Description, int]:
    ports = free_ports(5)
    hosts = "".join(
        f'[hosts.{name}]\nagents = [{k}]\nlisten = "127.0.0.1:{ports[k]}"\n'
        f'http = "127.0.0.1:{ports[2 + k]}"\n'
        for k, name in enumerate(HOSTS)
    )
    file = folder / "pair.toml"
    file.write_text(
        'name = "pair"\ngraph = { kind = "edges", edges = [[0, 1]] }\n'
        f'learn = {{ features = ["a", "b"] }}\n{hosts}'
    )
    network = read_description(file)
    addresses = {name: place.address for name, place in network.places.items()}
    make_certificates(folder / "certs", "pair", addresses)
    return file, network, ports[4]


@contextmanager
def _running(*command: str) -> Iterator[None]:
    """A command, from when it says that it is ready until it is told to stop."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mtcool", *command], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None  # it is a pipe
    try:
        while line := process.stderr.readline():
            if "is ready" in line or "the page is at" in line:
                break
        else:
            raise RuntimeError(f"mtcool {' '.join(command)} could not start")
        yield
    finally:
        process.terminate()
        process.communicate()


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()
