"""A process that dies begins again, whenever it dies, and what was under way is fed once."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace

import pytest

from mtcool.live.config import described
from mtcool.live.streams import OpenStream, Row
from mtcool.live.up import process as processes
from mtcool.live.up.feeder import Feeder
from mtcool.live.up.process import Gone, Process
from mtcool.live.up.web import Harm

RING = {"name": "test", "graph": {"kind": "ring", "agents": 4}, "learn": {"features": ["x"]}}
READY = "print('{\"ready\": true}', flush=True); sys.stdin.read()"
KILLED = "os.kill(os.getpid(), 9)"
HANGS = "time.sleep(600)"


def process_of(tmp_path, told, *lives):
    """A process that does something else each time that it begins, and the last thing for ever."""
    count = tmp_path / "count"
    count.write_text("0")
    program = tmp_path / "program.py"
    program.write_text(
        "import os, pathlib, sys, time\n"
        f"count = pathlib.Path({str(count)!r})\n"
        "life = int(count.read_text())\ncount.write_text(str(life + 1))\n"
        f"lives = {lives!r}\nexec(lives[min(life, len(lives) - 1)])\n"
    )
    network = described(RING | {"shards": {"count": 1}}, tmp_path)
    found = Process(tmp_path / "network.toml", network, "host0", told.append)
    found._command = [sys.executable, str(program)]
    return found


def lived(tmp_path, told, lives, story):
    async def run():
        process = process_of(tmp_path, told, *lives)
        async with asyncio.timeout(60):
            try:
                await process.begin()
                await story(process)
            finally:
                process._stopping = True
                if process._again is not None:
                    process._again.cancel()
                if process._child.returncode is None:
                    process._child.kill()
                    await process._child.wait()
                await process._reading

    asyncio.run(run())


async def until(condition):
    while not condition():
        await asyncio.sleep(0.01)


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch):
    monkeypatch.setattr(processes, "PAUSE", 0.001)


def test_a_host_that_is_killed_while_it_starts_is_tried_again(tmp_path):
    told = []

    async def story(process):
        process._child.kill()
        await until(lambda: process.ready.is_set() and "4" in (tmp_path / "count").read_text())
        assert not process.given_up

    lived(tmp_path, told, (READY, KILLED, "sys.exit(1)", READY), story)
    assert told[0] == "host host0 was ended by signal 9, and begins again"
    assert told[1] == "host 'host0' could not begin: it was ended by signal 9"
    assert told[2] == "host host0 is tried again in 0.001 s"
    assert len(told) == 5


@pytest.mark.parametrize(("end", "tries"), [("sys.exit(2)", 1), (KILLED, processes.TRIES)])
def test_a_host_is_given_up_if_it_is_wrong_or_has_failed_too_often(tmp_path, end, tries):
    told = []

    async def story(process):
        process._child.kill()
        await until(lambda: process.given_up)
        assert process.ready.is_set()

    lived(tmp_path, told, (READY, end), story)
    assert (tmp_path / "count").read_text() == str(1 + tries)
    assert told[-1] == "host host0 is given up"


def test_a_host_that_is_killed_by_hand_while_it_starts_stays_down_until_it_is_restarted(tmp_path):
    told = []

    async def story(process):
        await process.kill()
        restarting = asyncio.create_task(process.restart())
        await until(lambda: (tmp_path / "count").read_text() == "2")
        await process.kill()
        await restarting
        assert not process.ready.is_set()
        assert not process.given_up
        await process.restart()
        assert process.ready.is_set()
        assert (tmp_path / "count").read_text() == "3"

    lived(tmp_path, told, (READY, HANGS, READY), story)
    assert told == ["host host0 was ended by signal 9, and stays down"]


def test_a_restart_while_it_is_killed_begins_one_process(tmp_path):
    async def story(process):
        killing = asyncio.create_task(process.kill())
        await asyncio.sleep(0)
        await process.restart()
        await killing
        assert process.ready.is_set()
        assert (tmp_path / "count").read_text() == "2"

    lived(tmp_path, [], (READY,), story)


def test_a_row_that_somebody_has_noted_before_its_process_died_is_not_fed_again():
    """`note` is also asked when the file is read again, while rows are under way."""
    learned, rounds = 0, 0

    class Dying:
        def __init__(self):
            self.ready = asyncio.Event()
            self.ready.set()
            self.given_up = False

        async def ask(self, request):
            nonlocal learned, rounds
            if request["do"] == "status":
                learned_by = [learned * (k == 0) for k in range(4)]
                agents = [
                    {"agent": k, "activations": many, "offset": [many, 0]}
                    for k, many in enumerate(learned_by)
                ]
                return {"status": {"agents": agents}}
            assert rounds == 0, "it is fed again"
            rounds += 1
            learned += 1
            await feeder.note(self)
            raise Gone("it has learned, and has ended before it could say so")

    async def run():
        async with asyncio.timeout(30):
            await feeder.feed(OpenStream(iter([Row(0, [1.0], 1.0, number=1)]), None, False, {}))

    network = described(RING | {"shards": {"count": 1}})
    feeder = Feeder(network, {"host0": Dying()}, print)
    asyncio.run(run())
    assert (rounds, feeder.tally.activations, feeder.tally.unseen) == (1, 1, 1)


def test_links_may_be_cut_and_healed_while_a_host_is_restarted():
    asked = []

    class One:
        held = True

        async def restart(self):
            pass

        async def ask(self, request):
            asked.append(request["host"])
            if len(asked) == 1:
                harm.cut.add(frozenset("ad"))
                harm.cut -= {pair for pair in harm.cut if asked[0] not in pair and "d" not in pair}

    harm = Harm(SimpleNamespace(processes={"a": One()}))
    harm.cut |= {frozenset("ab"), frozenset("ac")}
    asyncio.run(harm.restart("a"))
    assert len(asked) == 1  # the other one was healed meanwhile
