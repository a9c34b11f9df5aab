"""Journals may be long: who waits for them hears how far it is, and may stop."""

from __future__ import annotations

import asyncio
import time

import pytest

from live.test_replay import play
from mtcool.cli import node as command
from mtcool.live import journals, logs
from mtcool.live.config import described
from mtcool.live.replay import Replayed
from mtcool.live.up import supervisor

RING = {"name": "test", "graph": {"kind": "ring", "agents": 4}, "learn": {"features": ["x"]}}


def for_ever(tell):
    """Work that says how far it is, and never ends by itself."""
    while True:
        tell("more is read")
        time.sleep(0.01)


async def heard(told, task):
    """Wait until it says something; the loop has its turns meanwhile."""
    async with asyncio.timeout(30):
        while "more is read" not in told and not task.done():
            await asyncio.sleep(0.01)


def running_in(folder, told):
    network = described(RING | {"shards": {"count": 1}}, folder)
    return supervisor.Running(folder / "network.toml", network, ["host0"], told.append)


def test_it_is_told_how_much_of_a_journal_is_read(tmp_path, monkeypatch):
    paths, told = play(tmp_path), []
    monkeypatch.setattr(journals, "QUIET", -1.0)
    journals.replay_files(paths, tell=told.append)
    count = len(journals.read_journal(paths[1]).entries)
    assert told[0] == "1 entries of the journal of host0 are read"
    assert f"{count} entries of the journal of host1 are read" in told


def test_a_network_that_reads_its_journals_can_be_stopped(tmp_path, monkeypatch):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "host0.db").write_text("something is there")
    told = []
    monkeypatch.setattr(supervisor, "read_journal", lambda path, tell: for_ever(tell))

    async def run():
        stopped, running = asyncio.Event(), running_in(tmp_path, told)
        task = asyncio.create_task(supervisor.run_network(running, None, lambda _: None, stopped))
        await heard(told, task)
        stopped.set()
        with pytest.raises(InterruptedError, match="stopped before all hosts were ready"):
            await task

    asyncio.run(run())  # waits for threads


def test_playing_again_ends_when_it_is_stopped(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(supervisor, "replay_files", lambda paths, network, tell: for_ever(tell))

    async def run():
        stopped = asyncio.Event()
        task = asyncio.create_task(supervisor._played_again(running_in(tmp_path, told), stopped))
        await heard(told, task)
        stopped.set()
        return await task

    assert asyncio.run(run()) is None


def test_a_network_that_was_stopped_before_is_played_again(tmp_path, monkeypatch):
    found = Replayed(predictions=3)
    monkeypatch.setattr(supervisor, "replay_files", lambda paths, network, tell: found)

    async def run():
        stopped = asyncio.Event()
        stopped.set()
        return await supervisor._played_again(running_in(tmp_path, []), stopped)

    assert asyncio.run(run()) is found


@pytest.mark.parametrize(
    ("host", "lines", "words"),
    [
        ("rome", False, "mtcool: host rome begins\n"),
        (None, False, "mtcool: the host of none.toml begins\n"),
        ("rome", True, ""),
    ],
)
def test_a_node_says_first_that_it_begins(monkeypatch, capsys, host, lines, words):
    def stop():
        raise ValueError("enough")

    monkeypatch.setattr(logs, "log_to", stop)
    with pytest.raises(ValueError, match="enough"):
        command.node("none.toml", host, lines)
    assert capsys.readouterr().err == words
