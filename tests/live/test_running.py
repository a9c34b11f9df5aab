"""A network of processes ends in bounded time, whatever becomes of its processes."""

from __future__ import annotations

import asyncio
import csv
import os
import signal
import sys
import threading
import time
from collections import Counter
from types import SimpleNamespace

import pytest

from live.processes import free_ports
from mtcool.cli import up
from mtcool.live.config import described, read_description
from mtcool.live.replay import Replayed
from mtcool.live.streams import OpenStream, Row, open_stream
from mtcool.live.up import feeder as feeding
from mtcool.live.up import process as processes
from mtcool.live.up import supervisor
from mtcool.live.up.feeder import Feeder
from mtcool.live.up.outcome import UpOutcome
from mtcool.live.up.process import Gone, Process
from mtcool.live.up.tally import Tally
from mtcool.live.up.web import Harm

RING = {"name": "test", "graph": {"kind": "ring", "agents": 4}, "learn": {"features": ["x"]}}
TWO = described(RING | {"shards": {"count": 2}})
ONE = described(RING | {"shards": {"count": 1}})
FOR_EVER = 300.0
"""Seconds after which a test has hung: on a busy machine to compile alone may take a minute."""


def source_of(rows):
    numbered = (row._replace(number=k) for k, row in enumerate(rows, start=1))
    return OpenStream(numbered, None, False, {})


class Fake:
    """A process that replies what a function says."""

    def __init__(self, reply):
        self.ready = asyncio.Event()
        self.ready.set()
        self.given_up = False
        self.asked = []
        self._reply = reply

    async def ask(self, request):
        self.asked.append(request)
        if request["do"] == "status":
            agents = [{"agent": k, "activations": 0, "offset": [0, 0]} for k in range(4)]
            return {"status": {"agents": agents}}
        return self._reply(request)


def said(request):
    return {"value": 0.0, "alone": 0.0, "activations": 1, "old": [], "missing": []}


def fed(feeder, rows, source=None):
    async def run():
        async with asyncio.timeout(FOR_EVER):
            await feeder.feed(source_of(rows) if source is None else source)

    return run()


def test_a_mistake_while_a_row_is_fed_is_not_swallowed():
    def reply(request):
        return {"no": "reply"} if request["agent"] == 0 else said(request)

    async def run():
        feeder = Feeder(ONE, {"host0": Fake(reply)}, print)
        with pytest.raises(KeyError, match="value"):  # long before the stream ends
            await fed(feeder, [Row(min(k, 1), [1.0], 1.0) for k in range(1000)])

    asyncio.run(run())


def test_a_stream_that_is_wrong_is_refused_with_its_own_sentence():
    def rows():
        yield Row(0, [1.0], 1.0)
        raise ValueError("rows must be good")

    async def run():
        with pytest.raises(ValueError, match="rows must be good"):
            await fed(Feeder(ONE, {"host0": Fake(said)}, print), rows())

    asyncio.run(run())


@pytest.mark.parametrize("mistake", [RecursionError, RuntimeError, KeyError, csv.Error, ValueError])
def test_whatever_ends_a_stream_that_is_waited_for_reaches_the_loop(mistake):
    def rows():
        yield from ()  # without a row nothing is compiled, which would take long
        raise mistake("rows must be good")

    async def run():
        feeder, source = (
            Feeder(ONE, {"host0": Fake(said)}, print),
            OpenStream(rows(), None, True, {}),
        )
        with pytest.raises(mistake, match="rows must be good"):
            async with asyncio.timeout(20.0):
                await feeder.feed(source)

    asyncio.run(run())


def test_a_pipe_to_which_nobody_writes_does_not_stop_the_loop(tmp_path):
    pipe, late = tmp_path / "rows", []
    os.mkfifo(pipe)
    stream = {"kind": "csv", "path": "rows"}
    network = described(RING | {"shards": {"count": 1}, "stream": stream}, tmp_path)

    def rescue():  # else a loop that stands still would never end
        late.append("the loop stood still")
        pipe.write_text("")

    async def run():
        watch = threading.Timer(20.0, rescue)
        watch.start()
        feeder = Feeder(network, {"host0": Fake(said)}, print)
        feeding = asyncio.create_task(feeder.feed(open_stream(network, None, print)))
        await asyncio.sleep(0.1)  # it opens the pipe meanwhile
        watch.cancel()
        feeder.stop()
        await feeding
        pipe.write_text("")  # lets the reader end, too

    asyncio.run(run())
    assert not late


def test_rows_of_hosts_elsewhere_leave_the_loop_its_turns():
    async def run():
        turns = 0

        async def count():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        process = Fake(said)
        await fed(Feeder(TWO, {"host0": process}, print), [Row(3, [1.0], 1.0)] * 10_000)
        counting.cancel()
        assert len(process.asked) == 1  # how it is, and nothing else
        assert turns > 100

    asyncio.run(run())


def test_a_row_of_a_process_that_dies_again_and_again_does_not_stop_the_loop(monkeypatch):
    monkeypatch.setattr(feeding, "PAUSE", 0.0)

    class Dying(Fake):
        deaths = 0

        async def ask(self, request):
            if request["do"] == "round" or (request["do"] == "status" and 0 < self.deaths < 3000):
                self.deaths += 1
                if self.deaths == 3000:
                    self.given_up = True
                raise Gone("gone")
            return await super().ask(request)

    async def run():
        feeder = Feeder(ONE, {"host0": Dying(said)}, print)
        await fed(feeder, [Row(0, [1.0], 1.0)])
        assert feeder.stopped

    asyncio.run(run())


# --- a stream that was fed before ----------------------------------------------------------------


class Remembering(Fake):
    """A process that keeps how far its agents were fed."""

    def __init__(self):
        super().__init__(said)
        self.offsets = [(0, 0)] * 4

    async def ask(self, request):
        if request["do"] == "status":
            agents = [{"agent": k, "offset": told} for k, told in enumerate(self.offsets)]
            return {"status": {"agents": agents}}
        if request["do"] == "rewind":
            self.offsets = [(0, 0)] * 4
            return {"rewound": True}
        self.offsets[request["agent"]] = request["offset"]
        self.asked.append(request["features"][0])
        return said(request)


def test_a_stream_goes_on_where_it_was_if_it_is_the_same(tmp_path):
    stream, told = {"kind": "csv", "path": "rows.csv"}, []
    network = described(RING | {"shards": {"count": 1}, "stream": stream}, tmp_path)
    process, rows = Remembering(), [f"{k % 3},{k},1\n" for k in range(9)]

    def feed(text, rounds=None, again=False):
        (tmp_path / "rows.csv").write_text("agent,x,target\n" + text)
        feeder = Feeder(network, {"host0": process}, told.append, again=again)
        source = open_stream(network, rounds, told.append)
        process.asked.clear()
        asyncio.run(fed(feeder, (), source=source))
        return sorted(process.asked), feeder.tally.before

    assert feed("".join(rows), rounds=4) == ([0, 1, 2, 3], 0)
    assert feed("".join(rows[:6])) == ([4, 5], 4)
    assert feed("".join(rows)) == ([6, 7, 8], 6)  # it has grown
    assert feed("".join(rows)) == ([], 9)
    assert told[-1] == "all rows of the stream were fed before: --again feeds them again"
    for other in (rows[:8], [*rows[:8], "2,8,3\n"], ["3,1,1\n", *rows]):
        sentence = "stream must be the one that was fed before, got another row 1?[0-9] than agent"
        with pytest.raises(ValueError, match=sentence):
            feed("".join(other))
    assert process.asked == []
    assert feed("".join(rows[:2]), again=True) == ([0, 1], 0)
    assert feed("".join(rows[:3])) == ([2], 2)


def test_what_comes_only_once_is_new_each_time(tmp_path):
    process, told = Remembering(), []
    for again in (False, True, False):
        rows = iter([Row(0, [1.0], 1.0, number=1), Row(1, [2.0], 1.0, number=2)])
        feeder = Feeder(ONE, {"host0": process}, told.append, again=again)
        asyncio.run(fed(feeder, (), OpenStream(rows, None, True, {})))
    assert sorted(process.asked) == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    (sentence,) = told  # whoever asks for it with --again knows
    assert sentence.startswith("rows were fed before; what comes through a pipe is new")


# --- a network that changes ----------------------------------------------------------------------


def test_rows_of_agents_that_join_are_fed_and_those_of_agents_that_left_are_not(tmp_path):
    def with_agents(*edges):
        graph = {"kind": "edges", "edges": edges}
        agents = sorted({end for edge in edges for end in edge})
        hosts = {"here": {"agents": agents, "listen": "127.0.0.1:9"}}
        csv = {"stream": {"kind": "csv", "path": "rows.csv"}, "algorithm": {"dim": 1}}
        table = {"name": "test", "graph": graph, "hosts": hosts} | csv
        table["algorithm"] |= {"loss": "squared", "algorithm": "dpmt_co2ol", "law": "gaussian"}
        return described(table | {"privacy": {"epsilon": 1.0, "horizon": 9}}, tmp_path)

    before, after = with_agents(["a", "b"], ["b", "c"]), with_agents(["a", "b"], ["b", "new"])
    (tmp_path / "rows.csv").write_text("agent,x0,target\n" + "c,1,1\nnew,1,1\n" * 2)
    told = []

    async def run():
        process = Fake(said)
        stream = open_stream(before, None, told.append)
        feeder = Feeder(before, {"here": process}, told.append)
        changing = stream.rows

        def rows():
            yield next(changing)
            yield next(changing)  # of c again: who is new is not known
            feeder.take(after)
            yield from changing

        await fed(feeder, (), source=stream._replace(rows=rows()))
        return [one["agent"] for one in process.asked if one["do"] == "round"], feeder.tally

    asked, tally = asyncio.run(run())
    assert asked == ["new"]  # rows of c were read before it left, and not fed
    assert (tally.activations, tally.counted) == (1, 1)
    assert told == ["line 3 is left out: agent must be in the network, got 'new'"]


def test_a_row_that_a_host_refuses_because_its_agent_has_left_is_no_mistake():
    refused = {"error": "agent must live on host 'host0', got 3"}

    class Left(Fake):
        async def ask(self, request):
            reply = await super().ask(request)
            if request["do"] == "status" and len(self.asked) > 1:
                reply["status"]["agents"].pop()
            return reply

    async def run():
        found = []
        for kind in (Left, Fake):
            feeder = Feeder(ONE, {"host0": kind(lambda request: refused)}, lambda sentence: None)
            await fed(feeder, [Row(3, [1.0], 1.0)])
            found.append(feeder.tally.refused)
        assert found == [0, 1]

    asyncio.run(run())


@pytest.mark.parametrize("whole_network", [True, False])
def test_a_host_that_is_new_in_the_file_is_begun_or_told(tmp_path, monkeypatch, whole_network):
    def text(count, revision):
        return (
            f'name = "test"\nrevision = {revision}\nlearn = {{features = ["x"]}}\n'
            'security = {tls = false}\n[graph]\nkind = "edges"\n'
            f"agents = {list(range(count))}\n"
            + "".join(
                f'[hosts.h{k}]\nagents = [{k}]\nlisten = "127.0.0.1:{9 + k}"\n'
                for k in range(count)
            )
        )

    path = tmp_path / "network.toml"
    path.write_text(text(2, 0))
    begun, told = [], []

    async def begin(process):
        begun.append(process.host)

    async def ask(process, request):
        return {"status": {"agents": [], "revision": 1, "began": 0.0}}

    monkeypatch.setattr(Process, "begin", begin)
    monkeypatch.setattr(Process, "ask", ask)

    async def run():
        network = read_description(path)
        hosts = ["h0", "h1"] if whole_network else ["h0"]
        running = supervisor.Running(path, network, hosts, told.append)
        await running.look()
        path.write_text("name = 1")  # somebody is writing it
        await running.notice()
        assert running.network is network
        path.write_text(text(3, 1))
        await running.notice()
        await running.notice()
        assert running.network.file.revision == 1
        await running.look()
        return list(running.processes)

    processes = asyncio.run(run())
    assert told[0].startswith("hosts have read the file again, and rows go on as before: ")
    assert told[1] == ("hosts have read the file again, revision 1: 2 joined, no agent left")
    if whole_network:
        assert (begun, processes) == (["h2"], ["h0", "h1", "h2"])
        assert told[2] == "host h2 is new in the file, and runs now"
    else:
        assert (begun, processes) == ([], ["h0"])
        assert f"`mtcool up {path} --host h2`" in told[2]
    assert len(told) == 3


def test_a_row_under_way_on_a_host_that_is_taken_out_does_not_end_the_stream():
    without = described(
        {
            "name": "test",
            "graph": {"kind": "edges", "edges": [[0, 1]]},
            "learn": {"features": ["x"]},
            "hosts": {"host0": {"agents": [0, 1], "listen": "127.0.0.1:9"}},
        }
    )

    class TakenOut(Fake):
        async def ask(self, request):
            if request["do"] == "round":
                feeder.take(without)
                self.given_up = True
                raise Gone("it was stopped")
            return await super().ask(request)

    async def run():
        await fed(feeder, [Row(3, [1.0], 1.0), *[Row(0, [1.0], 1.0)] * 5])
        return feeder.stopped, feeder.tally.activations

    feeder = Feeder(TWO, {"host0": Fake(said), "host1": TakenOut(said)}, print)
    assert asyncio.run(run()) == (False, 5)


@pytest.mark.parametrize(("left", "right"), [([], False), (["north"], True)])
def test_messages_of_a_host_that_has_left_do_not_wait_in_the_network(left, right):
    again = Replayed(waiting=3, kept=Counter(north=3))
    outcome = UpOutcome(Tally(), 1.0, 0, 0, 0, 0, 0, {}, left, again)
    assert outcome.right == right
    assert outcome.summary()["waiting"] == (0 if right else 3)


# --- processes ---------------------------------------------------------------------------------


def process_of(tmp_path, program):
    network = described(RING | {"shards": {"count": 1}}, tmp_path)
    found = Process(tmp_path / "network.toml", network, "host0", print)
    found._command = [sys.executable, "-c", program]
    return found


def test_a_process_that_begins_with_other_words_is_refused_with_them(tmp_path):
    async def run():
        process = process_of(tmp_path, "print('hello'); import time; time.sleep(60)")
        with pytest.raises(ValueError, match="must first say that it is ready, got b'hello"):
            await process.begin()

    asyncio.run(run())


def test_nobody_asks_a_process_that_has_ended(tmp_path):
    """Whoever finds out before its output is read to the end waits for the next process."""

    async def run():
        process = process_of(tmp_path, "pass")
        process.ready.set()
        process._child = SimpleNamespace(returncode=-9, stdin=object())
        with pytest.raises(Gone):
            await process.ask({"do": "status"})
        assert not process.ready.is_set()

    asyncio.run(run())


def write(folder, more='stream = {kind = "synthetic"}\n'):
    path = folder / "network.toml"
    path.write_text(
        'name = "test"\ngraph = {kind = "ring", agents = 4}\nlearn = {features = ["x", "y"]}\n'
        f"security = {{tls = false}}\n"
        f"shards = {{count = 2, port = {free_ports(2)[0]}}}\n{more}"
    )
    return path


@pytest.mark.parametrize("when", ["beginning", "feeding"])
def test_a_process_that_hangs_does_not_keep_a_network_that_is_stopped(tmp_path, monkeypatch, when):
    monkeypatch.setattr(supervisor, "HANGING", 0.5)
    monkeypatch.setattr(processes, "PATIENCE", 0.5)
    path = write(tmp_path)
    network = read_description(path).with_journal()
    made = []
    monkeypatch.setattr(
        Process, "__init__", _then(Process.__init__, lambda process, *_: made.append(process))
    )

    async def run():
        task = asyncio.create_task(
            up._run(path, network, None, None, False, again=False, replay=True)
        )
        async with asyncio.timeout(FOR_EVER):
            while not (
                made
                and all(process.pid is not None for process in made)
                and (when == "beginning" or all(process.ready.is_set() for process in made))
            ):
                await asyncio.sleep(0.01)
        os.kill(made[1].pid, signal.SIGSTOP)
        if when == "feeding":
            await asyncio.sleep(0.5)  # rows are under way
        began = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
        try:
            async with asyncio.timeout(FOR_EVER):  # as long as the process would hang
                return await task, time.monotonic() - began
        except InterruptedError:
            return None, time.monotonic() - began

    outcome, seconds = asyncio.run(run())
    assert seconds < 20  # most of which is for the journals
    assert (outcome is None) == (when == "beginning")
    assert all(process._child.returncode is not None for process in made)


def _then(first, more):
    def both(*given):
        first(*given)
        more(*given)

    return both


def test_harm_is_undone_before_a_network_settles_when_its_stream_ends(tmp_path):
    path = write(tmp_path, "timing = {rows = 0.1}\n")
    network = read_description(path).with_journal()

    async def run():
        running = supervisor.Running(path, network, list(network.places), print)
        harm = Harm(running)

        def rows():
            cutting.append(asyncio.create_task(harm.cut_link("host0", "host1")))
            for k in range(8):
                yield Row(k % 4, [1.0, float(k)], 1.0)

        cutting = []
        stream, stopped = source_of(rows()), asyncio.Event()
        outcome = await supervisor.run_network(running, stream, lambda running: None, stopped)
        await harm.kill("host0")  # too late
        assert running.silent == {"host0", "host1"}  # as the page shows while journals are played
        return outcome, harm

    outcome, harm = asyncio.run(run())
    assert harm.cut == harm.killed == set()
    assert (outcome.tally.activations, outcome.replayed.waiting, outcome.right) == (8, 0, True)


def test_one_host_compiles_while_the_others_wait(tmp_path, monkeypatch):
    """On a machine with nothing compiled eight processes would compile the same at once."""
    network, events, told = described(RING | {"shards": {"count": 4}}, tmp_path), [], []

    async def begin(process):
        events.append(f"{process.host} begins")
        await asyncio.sleep(0.1)
        events.append(f"{process.host} is ready")

    monkeypatch.setattr(Process, "begin", begin)
    monkeypatch.setattr(supervisor, "QUIET", 0.02)
    running = supervisor.Running(tmp_path, network, list(network.places), told.append)
    asyncio.run(running.begin())
    assert events[:2] == ["host0 begins", "host0 is ready"]
    assert len(events) == 8
    assert "0 of 4 hosts are ready; the first compiles" in told[0]
    assert told[-1] == "4 of 4 hosts are ready"
