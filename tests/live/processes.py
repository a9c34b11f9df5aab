"""Real processes of a network on this machine, spoken to in JSON lines, killed and begun again."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import tomli_w

from live.ports import free_ports
from mtcool.live.certificates import make_certificates
from mtcool.live.config import read_description

PATIENCE = 300.0
"""Seconds after which a process hangs: on a busy machine to compile alone may take a minute."""


def write_network(folder: Path, table: dict, shares: dict[str, list]) -> Path:
    """The file of a network whose hosts listen on free ports, with certificates beside it."""
    ports = free_ports(len(shares))
    hosts = {
        name: {"agents": agents, "listen": f"127.0.0.1:{port}"}
        for (name, agents), port in zip(shares.items(), ports, strict=True)
    }
    path = folder / "network.toml"
    path.write_text(tomli_w.dumps({"name": "test", "hosts": hosts, "journal": True} | table))
    network = read_description(path)
    addresses = {name: place.address for name, place in network.places.items()}
    make_certificates(folder / "certs", "test", addresses)
    return path


class Child:
    """One host as a process."""

    def __init__(self, path: Path, host: str) -> None:
        self.path, self.host = path, host
        self.numbers = 0
        self.begin()

    def begin(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mtcool", "node", self.path, "--host", self.host, "--lines"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.rest, self.ending = b"", False

    def stop(self) -> subprocess.Popen:
        """Stop the process; it may still answer until each of its threads has."""
        self.process.send_signal(signal.SIGSTOP)
        tasks, end = Path(f"/proc/{self.process.pid}/task"), time.monotonic() + PATIENCE
        while any(_state(task) != "T" for task in tasks.iterdir()):
            assert time.monotonic() < end, "it does not stop"
            time.sleep(0.001)
        return self.process

    def wait_until_ready(self) -> None:
        assert self.read()["ready"]

    def write(self, **request) -> int:
        self.numbers += 1
        self.process.stdin.write(json.dumps({"id": self.numbers, **request}).encode() + b"\n")
        self.process.stdin.flush()
        return self.numbers

    def read(self, patience: float = PATIENCE) -> dict | None:
        """The next line, None if the process has ended."""
        end = time.monotonic() + patience
        pipe = self.process.stdout.fileno()
        while b"\n" not in self.rest:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{self.host} is silent"
            content = os.read(pipe, 1 << 16)
            if not content:
                return None
            self.rest += content
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def ask(self, patience: float = PATIENCE, **request) -> dict | None:
        number = self.write(**request)
        while (reply := self.read(patience)) is not None:
            if reply["id"] == number:
                return reply
        return None

    def activations(self, agent) -> int:
        agents = self.ask(do="status")["status"]["agents"]
        return next(one["activations"] for one in agents if one["agent"] == agent)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def ask_to_end(self) -> None:
        """Once: a second signal might end it less cleanly."""
        if self.process.poll() is None and not self.ending:
            self.ending = True
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()

    def end(self) -> int:
        """Stop it cleanly; returns its status."""
        self.ask_to_end()
        code = self.process.wait(PATIENCE)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        return code


@contextlib.contextmanager
def running(path: Path, hosts: list[str], files: dict[str, Path] | None = None):
    """Processes of these hosts, ready; ended in the end. Some may have a file of their own."""
    children = {}
    try:
        for host in hosts:
            children[host] = Child((files or {}).get(host, path), host)
        for child in children.values():
            child.wait_until_ready()
        yield children
    finally:
        for child in children.values():
            child.ask_to_end()
        for child in children.values():
            child.end()


def _state(task: Path) -> str:
    """The state of a thread, as Linux tells it."""
    return (task / "stat").read_text().rpartition(")")[2].split()[0]
