"""A host of a large network reads its description.

100,000 agents with ten neighbours each, on 1,000 hosts, in one TOML file: written out with names in
it, or with the edges in a CSV file beside it. Memory is the highest that a fresh process has had,
without what it has before it reads.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from multiprocessing.queues import Queue
from pathlib import Path

import tomli_w

from benchmarks.live.places import KT
from benchmarks.memory import peak_bytes
from benchmarks.result import Result
from mtcool.live.config import drivers_of, read_description

SPAWN = multiprocessing.get_context("spawn")
DEGREE = 10


def run(quick: bool) -> list[Result]:
    """Seconds and megabytes, for information."""
    agents, hosts = (1_000, 10) if quick else (100_000, 1_000)
    names = [f"town{i}" for i in range(agents)]
    edges = [
        (names[i], names[(i + k) % agents])
        for i in range(agents)
        for k in range(1, DEGREE // 2 + 1)
    ]
    share = agents // hosts
    places = {
        f"host{h}": {
            "agents": names[h * share : (h + 1) * share],
            "listen": f"10.0.{h // 200}.{1 + h % 200}:7447",
        }
        for h in range(hosts)
    }
    results = []
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(f"{one},{other}\n" for one, other in edges)
        (Path(folder) / "edges.csv").write_text(lines)
        graphs = {
            "written out": {"kind": "edges", "edges": [list(edge) for edge in edges]},
            "edges in CSV": {"kind": "file", "path": "edges.csv"},
        }
        for how, graph in graphs.items():
            file = Path(folder) / "network.toml"
            table = {"name": "large", "graph": graph, "hosts": places, **KT}
            file.write_text(tomli_w.dumps(table))
            results += _measured(f"{agents:,} agents on {hosts:,} hosts, {how}", file)
    return results


def _measured(what: str, file: Path) -> list[Result]:
    said: Queue[tuple[float, float, int]] = SPAWN.Queue()
    process = SPAWN.Process(target=_read, args=(file, said), daemon=True)
    process.start()
    reading, making, memory = said.get(timeout=600)
    process.join(60)
    size = file.stat().st_size / 1e6
    return [
        Result(f"{what}: reading", f"{size:.1f} MB of TOML", reading, "s"),
        Result(f"{what}: making the agents of a host", "after reading", making, "s"),
        Result(f"{what}: memory", "at its peak", memory / 1e6, "MB"),
    ]


def _read(file: Path, said: Queue[tuple[float, float, int]]) -> None:
    before, began = peak_bytes(), time.perf_counter()
    network = read_description(file)
    read = time.perf_counter()
    make, host = drivers_of(network), "host7"
    network.change(host)
    for agent in network.agents_of(host):
        make(agent)
    said.put((read - began, time.perf_counter() - read, peak_bytes() - before))
