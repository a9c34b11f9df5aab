"""A process is killed, and begins again.

Three hosts with an agent each run as `mtcool node`, with compiled code in the cache. One of them is
ended by SIGKILL and started again at once, and is asked for a prediction as soon as it listens.
Time begins with the kill: Python, imports, the description, the database, TLS and zenoh are all in
it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import msgspec

from benchmarks.live.places import DIM, network
from benchmarks.result import Result, at_most


def run(quick: bool) -> list[Result]:
    """Seconds from the kill to the next prediction."""
    answered, complete = [], []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ring = {"kind": "ring", "agents": 3}
        network(Path(folder), ring, {"one": [0], "two": [1], "three": [2]})
        file = Path(folder) / "network.toml"
        for host in ("two", "three"):
            stack.enter_context(_Lines(file, host)).predict()
        host = stack.enter_context(_Lines(file, "one"))
        host.predict()
        for _ in range(2 if quick else 9):
            began = time.perf_counter()
            host.kill()
            host = stack.enter_context(_Lines(file, "one"))
            said = host.predict()
            answered.append(time.perf_counter() - began)
            while said["old"] or said["missing"]:
                said = host.predict()
            complete.append(time.perf_counter() - began)
    median = statistics.median(answered)
    return [
        Result(
            "From SIGKILL to the next prediction of the process that was started again",
            f"median of {len(answered)}; the slowest took {max(answered):.2f} s",
            median,
            "s",
            at_most(2.0),
        ),
        Result(
            "The same, to a prediction with the rows of all neighbours",
            f"median of {len(complete)}; the slowest took {max(complete):.2f} s",
            statistics.median(complete),
            "s",
        ),
    ]


class _Lines:
    """A process of a host that is spoken to in JSON lines."""

    def __init__(self, file: Path, host: str) -> None:
        self._agent = {"one": 0, "two": 1, "three": 2}[host]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mtcool", "node", str(file), "--host", host, "--lines"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._ready = False

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def predict(self) -> dict[str, list[int]]:
        """Ask for a prediction; the first time, wait until it is ready."""
        process = self._process
        assert process.stdin is not None  # they are pipes
        assert process.stdout is not None
        request = {"do": "predict", "agent": self._agent, "features": [0.1] * DIM}
        process.stdin.write(msgspec.json.encode(request) + b"\n")
        process.stdin.flush()
        if not self._ready:
            self._ready = True
            process.stdout.readline()
        return msgspec.json.decode(process.stdout.readline())
