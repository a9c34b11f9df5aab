"""What nodes log: one line of JSON for each event, and few of them whatever others send."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json

import pytest

from live.small_network import never_idle, opened, play, small
from mtcool.live.logs import LOG, log_to
from mtcool.live.reporting import MOST_LINES, Reporter


@contextlib.contextmanager
def lines():
    stream, found = io.StringIO(), []
    handler = log_to(stream)
    try:
        yield found
    finally:
        LOG.removeHandler(handler)
        found += [json.loads(line) for line in stream.getvalue().splitlines()]


def test_start_stop_refused_trouble_and_disk_errors_are_logged(tmp_path, monkeypatch):
    never_idle(monkeypatch)  # what an idle node writes fails on a full disk, too

    async def run():
        network = small(tmp_path, hosts=2)
        async with opened(network) as nodes:
            await play(network, nodes, 6)
            one = nodes["host0"]
            for _ in range(1000):
                one.host.receive("host1", b"nonsense", None)
            one.host.trouble["host1"] = "its memory is not ours"
            one.report.look(one.host)
            one.report.look(one.host)
            one.host.trouble.clear()  # in which agents refuse to learn

            def full(changes):
                raise OSError("disk is full")

            with monkeypatch.context() as patched:
                patched.setattr(one._engine.store, "write", full)
                with pytest.raises(OSError, match="disk"):
                    await play(network, nodes, 1)

    with lines() as found:
        asyncio.run(run())
    assert all(line["time"].endswith("+00:00") and line["level"] for line in found)
    told = [(line["event"], line["host"], line.get("count")) for line in found]
    assert told[:2] == [("start", "host0", None), ("start", "host1", None)]
    assert told[2:4] == [("refused", "host0", 1000), ("trouble", "host0", None)]
    assert ("disk", "host0", 1) in told
    assert {line["event"] for line in found[-2:]} <= {"stop", "disk"}
    refused = found[2]
    assert (refused["peer"], refused["level"]) == ("host1", "warning")
    assert refused["reason"] == "content must be of schema 2, got schema 110"


def test_a_flood_of_different_nonsense_makes_few_lines(tmp_path):
    async def run():
        async with opened(small(tmp_path, hosts=2)) as nodes:
            host = nodes["host0"].host
            for k in range(1000):
                host.receive("host1", b"\x01" + bytes(k), None)
            reporter = Reporter("host0")
            reporter.look(host)
            reporter.look(host)

    with lines() as found:
        asyncio.run(run())
    refused = [line for line in found if line["event"] == "refused" and line["count"] > 0]
    assert 0 < len(refused) <= 2 * (MOST_LINES + 1)
    assert sum(line["count"] for line in refused) in (1000, 2000)  # the node itself may look, too
