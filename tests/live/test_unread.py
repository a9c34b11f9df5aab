"""Commands whose output nobody reads any more end in bounded time, and leave nothing behind."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from live.ports import free_ports
from mtcool.cli.terminal import is_read
from mtcool.live.config import read_description
from mtcool.live.sockets import ask_host

PATIENCE = 300.0


def write(folder: Path) -> Path:
    """A network with an endless stream, which waits for nobody."""
    path, ports = folder / "network.toml", free_ports(4)
    path.write_text(
        'name = "test"\ngraph = {kind = "ring", agents = 4}\nlearn = {features = ["x"]}\n'
        'stream = {kind = "synthetic", rounds = 1_000_000}\nsecurity = {tls = false}\n'
        f"shards = {{count = 2, port = {ports[0]}, http = {ports[2]}}}\n"
    )
    return path


def command(*words: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "mtcool", *words]


@contextmanager
def closed_pipe():
    """Where output goes that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


def still_runs(number: str) -> bool:
    """Whether a process runs; one that has ended may still have a number."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def closed_after(word: str, *words: str | Path):
    """A command whose output is read up to a word, and then closed."""
    with subprocess.Popen(command(*words), stdout=PIPE, stderr=STDOUT, text=True) as child:
        try:
            assert any(word in line for line in child.stdout)
            child.stdout.close()
            yield child
        finally:
            child.kill()


@pytest.mark.parametrize("told", [False, True], ids=["by itself", "at SIGTERM"])
def test_a_network_that_nobody_reads_stops_its_processes_and_ends(tmp_path, told):
    with closed_after("activations", "up", write(tmp_path)) as child:
        mine = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        assert len(mine) == 2
        if told:
            child.send_signal(signal.SIGTERM)
        assert child.wait(PATIENCE) == 1  # the outcome could not be told
        assert not any(map(still_runs, mine))
    for host in ("host0", "host1"):  # each has stopped by itself
        last = (tmp_path / "state" / f"{host}.log").read_text().splitlines()[-1]
        assert json.loads(last)["event"] == "stop"


def test_an_outcome_that_is_still_read_is_told_when_nobody_reads_how_it_is(tmp_path):
    pipes = {"stdout": PIPE, "stderr": PIPE, "text": True}
    with subprocess.Popen(command("up", write(tmp_path), "--json"), **pipes) as child:
        assert any("activations" in line for line in child.stderr)
        child.stderr.close()
        told = json.loads(child.stdout.read())
        assert child.wait(PATIENCE) == 0
    assert (told["lost"], told["waiting"], told["replayed"]["differences"]) == (0, 0, [])


def answers(ask) -> bool:
    """Whether somebody is there to be asked."""
    try:
        ask()
    except OSError:
        return False
    return True


def test_what_serves_others_goes_on_unread_and_ends_at_sigterm(tmp_path):
    path, port = write(tmp_path), free_ports(1)[0]
    node, watch = (
        ("node", path, "--host", "host0"),
        ("watch", path, "--listen", f"127.0.0.1:{port}"),
    )
    for words, ask in (
        (node, lambda: asyncio.run(ask_host(read_description(path), "host0", {"do": "status"}))),
        (watch, lambda: socket.create_connection(("127.0.0.1", port)).close()),
    ):
        with (
            closed_pipe() as pipe,
            subprocess.Popen(command(*words), stdout=pipe, stderr=pipe) as child,
        ):
            end = time.monotonic() + PATIENCE
            while not answers(ask) and time.monotonic() < end:
                time.sleep(0.1)
            child.send_signal(signal.SIGTERM)
            assert child.wait(PATIENCE) == 0


def test_a_node_whose_replies_nobody_reads_ends_with_the_next_one(tmp_path):
    words = command("node", write(tmp_path), "--host", "host0", "--lines")
    with subprocess.Popen(words, stdin=PIPE, stdout=PIPE, stderr=PIPE) as child:
        assert json.loads(child.stdout.readline())["ready"]
        child.stdout.close()
        child.stdin.write(b'{"do": "status"}\n')
        child.stdin.flush()
        assert child.wait(PATIENCE) == 0
        assert b"Traceback" not in child.stderr.read()


def test_output_that_nobody_reads_is_no_traceback():
    words = command("--version")
    with closed_pipe() as pipe:
        done = subprocess.run(words, stdout=pipe, stderr=PIPE, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_pipe_is_read_until_it_is_closed():
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        assert is_read(stream)
        os.close(reading)
        assert not is_read(stream)
    assert is_read(io.StringIO())
