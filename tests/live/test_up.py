"""`mtcool up` starts a network, feeds it, stops it, and counts from its journals."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest

from live.processes import free_ports
from mtcool.cli.up import conclude
from mtcool.live.config import described, read_description
from mtcool.live.journal import Begun, Learned
from mtcool.live.journals import read_journal
from mtcool.live.replay import Replayed
from mtcool.live.sockets import ask_host
from mtcool.live.streams import Row, open_stream
from mtcool.live.up import log
from mtcool.live.up.outcome import UpOutcome
from mtcool.live.up.process import Process
from mtcool.live.up.tally import Tally

RING = {"kind": "ring", "agents": 4}
EXAMPLES = Path(__file__).parents[2] / "examples" / "live"
BASE = {"name": "test", "graph": RING, "shards": {"count": 2}}


def rows_of(table, rounds=None, folder="."):
    told = []
    source = open_stream(described(BASE | table, folder), rounds, told.append)
    return list(source.rows), told


# --- what is fed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "check"),
    [
        ({"learn": {"features": ["x", "y"]}}, lambda row: len(row.features) == 2),
        (
            {"learn": {"features": ["x"], "task": "classification"}},
            lambda row: row.target in (0.0, 1.0),
        ),
        ({"algorithm": {"dim": 3, "loss": "hinge"}}, lambda row: row.target in (-1.0, 1.0)),
        ({"algorithm": {"dim": 3}}, lambda row: row.loss[0] == "quadratic"),
    ],
)
def test_synthetic_streams_suit_every_kind_of_network(table, check):
    rows, _ = rows_of(table | {"stream": {"kind": "synthetic", "seed": 4}}, 50)
    assert len(rows) == 50
    assert all(check(row) for row in rows)
    assert {row.agent for row in rows} == {0, 1, 2, 3}


def test_rows_of_files_are_read_and_wrong_ones_are_told(tmp_path):
    learn = {"learn": {"features": ["x", "y"]}}
    text = "y,agent,x,target,other\n2,0,1,5,a\n,3,4,6,b\n1,9,1,1,c\n1,1,word,1,d\n1,1\n"
    (tmp_path / "rows.csv").write_text(text)
    rows, told = rows_of(learn | {"stream": {"kind": "csv", "path": "rows.csv"}}, None, tmp_path)
    assert rows[0] == Row(0, [1.0, 2.0], 5.0, number=2)
    assert rows[1].agent == 3
    assert np.isnan(rows[1].features[1])
    assert len(rows) == 2
    assert [sentence[:6] for sentence in told] == ["line 4", "line 5", "line 6"]
    lines = [
        {"agent": 2, "features": {"x": 1}, "target": 3},
        {"agent": 2, "features": [1, 2], "target": "a"},
        {"agent": 1, "features": [1, 2], "target": 4},
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    stream = {"kind": "lines", "path": "rows.jsonl"}
    rows, told = rows_of(learn | {"stream": stream}, None, tmp_path)
    assert [row.agent for row in rows] == [2, 1]
    assert len(told) == 1


def test_a_file_without_a_column_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("agent,x\n0,1\n")
    table = {"learn": {"features": ["x"]}, "stream": {"kind": "csv", "path": "rows.csv"}}
    with pytest.raises(ValueError, match=r"target must be a column of .*, such as 'agent', got"):
        rows_of(table, None, tmp_path)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_the_examples_are_networks(path):
    network = read_description(path)
    assert len(network.places) > 1
    assert network.file.stream is not None


# --- the command -------------------------------------------------------------------------------


def write(folder, text):
    """A network file with free ports."""
    path = folder / "network.toml"
    first = free_ports(4)[0]
    path.write_text(f'name = "test"\n{text}'.replace("PORT", str(first)))
    return path


def command(path, *more):
    return [sys.executable, "-m", "mtcool", "up", str(path), "--json", *more]


def run(path, *more, given=""):
    done = subprocess.run(
        command(path, *more), input=given, capture_output=True, text=True, timeout=300, check=False
    )
    return done, json.loads(done.stdout) if done.stdout else None


def test_a_ring_ends_by_itself_and_its_journals_say_that_nothing_is_lost(tmp_path):
    path = write(
        tmp_path,
        'graph = {kind = "ring", agents = 4}\nlearn = {features = ["x", "y"]}\n'
        "shards = {count = 2, port = PORT}\n"
        'stream = {kind = "synthetic"}\ntiming = {rows = 5.0}\n',
    )
    done, told = run(path, "--rounds", "400")
    assert done.returncode == 0, done.stderr
    assert told["activations"] == 400
    assert (told["old"], told["missing"]) == (0, 0)  # nobody stood still for long
    assert (told["refused"], told["lost"], told["twice"], told["waiting"]) == (0, 0, 0, 0)
    assert told["replayed"] == {"predictions": 400, "same": 400, "differences": []}
    assert told["messages"] >= 4 * 400 / 2  # each agent has one neighbour on the other host
    assert told["bytes"] > 40 * told["messages"]
    assert told["per_second"] > 0
    assert all(told[name]["loss"] > 0 for name in ("learned", "alone", "pooled"))
    assert "2 of 2 hosts are ready" in done.stderr


def test_standard_input_is_fed_until_it_is_stopped(tmp_path):
    path = write(
        tmp_path,
        'graph = {kind = "edges", edges = [["rome", "milan"]]}\nlearn = {features = ["x"]}\n'
        'shards = {count = 1, port = PORT}\nstream = {kind = "csv"}\n',
    )
    with subprocess.Popen(
        command(path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        child.stdin.write("agent,x,target\nrome,1,2\nmilan,2,4\nberlin,1,1\nrome,3,6\n")
        child.stdin.flush()
        for line in child.stderr:  # it says how it is, again and again
            if "activations 3" in line:
                break
        os.kill(child.pid, signal.SIGINT)
        out = child.stdout.read()
        words = child.stderr.read()
        assert child.wait(300) == 0, words
    told = json.loads(out)
    assert (told["activations"], told["lost"], told["twice"]) == (3, 0, 0)
    assert told["replayed"]["same"] == 3


def test_agents_and_hosts_that_join_while_it_runs_are_fed(tmp_path):
    path, ports = tmp_path / "network.toml", free_ports(2)
    south = f'[hosts.south]\nlisten = "127.0.0.1:{ports[0]}"\nagents = '
    north = f'[hosts.north]\nlisten = "127.0.0.1:{ports[1]}"\nagents = ["oslo"]\n'
    text = 'name = "test"\nlearn = {features = ["x"]}\nstream = {kind = "csv"}\n'
    text += 'security = {tls = false}\nrevision = %d\ngraph = {kind = "edges", edges = [%s]}\n'
    before, after = '["rome", "milan"]', '["rome", "berlin"], ["berlin", "oslo"]'
    path.write_text(text % (0, before) + south + '["rome", "milan"]\n')
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), PIPE)
    with subprocess.Popen(command(path), **pipes, text=True) as child:

        def feed(rows, *words):
            child.stdin.write(rows)
            child.stdin.flush()
            for word in words:
                assert any(word in line for line in islice(child.stderr, 300)), word

        feed("agent,x,target\nrome,1,2\nmilan,2,4\n", "activations 2")
        path.write_text(text % (1, after) + south + '["rome", "berlin"]\n' + north)
        asyncio.run(ask_host(read_description(path), "south", {"do": "reload"}))
        feed("", "revision 1: berlin, oslo joined, milan left", "host north is new in the file")
        feed("milan,1,1\nrome,1,2\nberlin,1,2\noslo,3,6\n", "activations 5")
        os.kill(child.pid, signal.SIGINT)
        out, words = child.communicate(timeout=300)
        assert child.returncode == 0, words
    told = json.loads(out)
    assert (told["activations"], told["refused"], told["lost"], told["waiting"]) == (5, 0, 0, 0)


def test_a_host_that_is_taken_out_of_the_file_is_stopped_and_its_journal_counts(tmp_path):
    path, ports = tmp_path / "network.toml", free_ports(3)
    text = 'name = "test"\nlearn = {features = ["x"]}\nstream = {kind = "csv"}\n'
    text += 'security = {tls = false}\nrevision = %d\ngraph = {kind = "edges", edges = [%s]}\n'
    hosts = [
        f'[hosts.{name}]\nlisten = "127.0.0.1:{port}"\nagents = ["{agent}"]\n'
        for name, agent, port in zip(("a", "b", "c"), ("rome", "milan", "oslo"), ports, strict=True)
    ]
    path.write_text(text % (0, '["rome", "milan"], ["milan", "oslo"]') + "".join(hosts))
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), PIPE)
    with subprocess.Popen(command(path), **pipes, text=True) as child:

        def feed(rows, word):
            child.stdin.write(rows)
            child.stdin.flush()
            assert any(word in line for line in islice(child.stderr, 300)), word

        feed("agent,x,target\nrome,1,2\nmilan,2,4\noslo,1,1\noslo,2,2\n", "activations 4")
        path.write_text(text % (1, '["rome", "milan"]') + "".join(hosts[:2]))
        for host in ("a", "b"):
            asyncio.run(ask_host(read_description(path), host, {"do": "reload"}))
        feed("", "host c is in the file no more, and is stopped")
        feed("oslo,1,1\nrome,1,2\nmilan,2,4\n", "activations 6")
        mine = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        assert len(mine) == 2
        os.kill(child.pid, signal.SIGINT)
        out, words = child.communicate(timeout=300)
        assert child.returncode == 0, words
    told = json.loads(out)
    assert told["left"] == ["c"]
    assert (told["activations"], told["replayed"]["same"]) == (6, 6)  # also those of oslo
    assert (told["restarts"], told["lost"], told["waiting"]) == (0, 0, 0)
    last = (tmp_path / "state" / "c.log").read_text().splitlines()[-1]
    assert json.loads(last)["event"] == "stop"


def test_a_process_that_is_killed_begins_again_and_nothing_is_lost(tmp_path):
    path = write(
        tmp_path,
        'graph = {kind = "ring", agents = 4}\n'
        'algorithm = {dim = 2, loss = "squared", learner = "MTFTRLKT"}\n'
        'shards = {count = 2, port = PORT}\nstream = {kind = "csv"}\n',
    )
    rows = [f"{k % 4},0.1,0.2,0.5\n" for k in range(400)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), PIPE)
    with subprocess.Popen(command(path), **pipes, text=True) as child:
        child.stdin.writelines(["agent,x0,x1,target\n", *rows[:100]])
        child.stdin.flush()
        assert any("activations 100" in line for line in child.stderr)
        mine = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        child.stdin.writelines(rows[100:390])
        child.stdin.flush()
        os.kill(int(mine[0]), signal.SIGKILL)  # these are under way, and the stream does not end
        out, words = child.communicate("".join(rows[390:]), timeout=300)
    told = json.loads(out)
    assert child.returncode == 0, words
    assert (told["activations"], told["restarts"]) == (400, 1)
    assert (told["lost"], told["twice"], told["replayed"]["differences"]) == (0, 0, [])


def killed_when_fed(*commands):
    """Runs of `mtcool up` that end as in a crash while they feed rows."""
    children = [subprocess.Popen(one, stdout=PIPE, stderr=PIPE, text=True) for one in commands]
    for child in children:
        assert any("activations" in line and "activations 0" not in line for line in child.stderr)
    for child in children:
        child.kill()
        child.communicate()


def test_each_row_is_fed_once_however_often_everything_is_killed_and_begun_again(tmp_path):
    path = write(
        tmp_path,
        'graph = {kind = "ring", agents = 4}\nlearn = {features = ["x"]}\n'
        'shards = {count = 2, port = PORT}\nstream = {kind = "csv", path = "rows.csv"}\n'
        "security = {tls = false}\n",
    )
    rows = [f"{k * k % 7 % 4},{k},0.5\n" for k in range(100_000)]
    (tmp_path / "rows.csv").write_text("agent,x,target\n" + "".join(rows))
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "state" / "host0.db").touch()  # it was killed at its first start
    killed_when_fed(command(path))
    killed_when_fed(*(command(path, "--host", host) for host in ("host0", "host1")))
    databases = [tmp_path / "state" / f"{host}.db" for host in ("host0", "host1")]
    fed = int(max(features[0] for one in databases for features in learned_from(one))) + 1
    done, told = run(path, "--rounds", str(fed + 20))
    assert done.returncode == 0, done.stderr
    assert told["activations"] >= 20
    assert told["before"] + told["activations"] == fed + 20
    assert (told["lost"], told["twice"], told["replayed"]["differences"]) == (0, 0, [])
    learned = Counter(features[0] for one in databases for features in learned_from(one))
    assert learned == Counter(map(float, range(fed + 20)))


def learned_from(path):
    """The features of all rows that a host has learned from."""
    begun = {}
    for entry in read_journal(path).entries:
        if isinstance(entry, Begun):
            begun[entry.number] = entry.features
        elif isinstance(entry, Learned):
            yield begun[entry.number]


def test_a_longer_made_up_stream_begins_with_the_rows_of_a_shorter_one():
    stream = {"stream": {"kind": "synthetic"}, "learn": {"features": ["x"]}}
    short, _ = rows_of(stream, 1500)
    long, _ = rows_of(stream, 2001)
    assert long[:1500] == short
    assert [row.number for row in long] == list(range(1, 2002))


def test_a_host_that_cannot_begin_ends_it_with_a_sentence(tmp_path):
    path = write(
        tmp_path,
        'graph = {kind = "ring", agents = 4}\nlearn = {features = ["x"]}\n'
        "shards = {count = 2, port = PORT}\nstream = {kind = 'synthetic'}\n",
    )
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "host1.lock").touch()
    with (tmp_path / "state" / "host1.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done, _ = run(path, "--rounds", "10")
    assert done.returncode == 2
    assert "host 'host1' could not begin: database must be ours alone" in done.stderr
    assert "which another process has" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_data_file_that_is_wrong_is_refused_before_anything_is_made(tmp_path):
    path = write(
        tmp_path,
        'graph = {kind = "ring", agents = 4}\nlearn = {features = ["x"]}\n'
        'shards = {count = 2, port = PORT}\nstream = {kind = "csv", path = "rows.csv"}\n',
    )
    (tmp_path / "rows.csv").write_text("agent,y,target\n0,1,2\n")
    done, _ = run(path)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last == (
        f"mtcool: features must be a column of {tmp_path}/rows.csv, "
        "such as 'agent', 'y', 'target', got 'x'"
    )
    assert sorted(each.name for each in tmp_path.iterdir()) == ["network.toml", "rows.csv"]


def test_why_a_host_could_not_begin_is_told_whatever_another_one_writes_below_it(tmp_path):
    network = described(BASE | {"learn": {"features": ["x"]}}, tmp_path)
    process = Process(tmp_path / "n.toml", network, "host0", print)
    process.log.parent.mkdir()
    process.log.write_text("mtcool: host host0 begins\n")
    process.log.chmod(0o644)
    said = 'mtcool: listen must be free\n{"event": "stop", "host": "host0"}\n'
    process._command = [sys.executable, "-c", f"import sys; sys.exit(sys.stderr.write({said!r}))"]
    with pytest.raises(ValueError, match="host 'host0' could not begin: listen must be free"):
        asyncio.run(process.begin())
    assert process.log.read_text() == "mtcool: host host0 begins\n" + said
    assert process.log.stat().st_mode & 0o777 == 0o600


def test_logs_are_few_small_and_their_owners_and_a_full_disk_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "LARGEST", 1000)
    told = []
    written = log.HostLog(tmp_path / "state" / "rome.log", told.append)
    for k in range(500):
        written.write(f"{k:10} 100 % of it")
    files = sorted((tmp_path / "state").iterdir())
    assert [path.name for path in files] == ["rome.log", *(f"rome.log.{k}" for k in (1, 2, 3))]
    assert all(path.stat().st_size <= 1000 for path in files)
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)
    assert files[0].read_text().endswith("499 100 % of it\n")
    written.close()
    full = log.HostLog(tmp_path / "full.log", told.append)
    full.stream.close()
    full.stream = open("/dev/full", "w")  # noqa: SIM115
    for k in range(3):
        full.write(str(k))
    full.close()
    assert len(told) == 1
    assert "full.log could not be written: [Errno 28] No space left" in told[0]


@pytest.mark.parametrize("count", [0, 1234])
def test_rows_that_were_left_out_are_counted_in_the_end(count, capsys):
    """While they are left out only the first are told."""
    conclude(UpOutcome(Tally(activations=1), 1.0, 0, 0, 0, 0, count, {}, [], Replayed()))
    assert ("rows that were left out: 1,234" in capsys.readouterr().out) == (count > 0)


@pytest.mark.parametrize(("count", "told"), [(0, False), (3, True)])
def test_hosts_elsewhere_are_named_if_something_waits_for_them(count, told, capsys):
    again = Replayed(elsewhere=Counter({"north": count}))
    conclude(UpOutcome(Tally(activations=1), 1.0, 0, 0, 0, 0, 0, {}, [], again))
    assert ("3 messages wait for north" in capsys.readouterr().out) == told
