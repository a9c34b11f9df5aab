"""Networks for the benchmarks: KT with d = 16, on free ports, with certificates."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import tomli_w

from mtcool.live.certificates import make_certificates
from mtcool.live.config import Description, described

DIM = 16
KT = {"algorithm": {"dim": DIM, "loss": "squared", "learner": "MTFTRLKT"}}
TABLES = {"learn": {"features": [f"x{k}" for k in range(DIM)]}}


def network(
    folder: Path, graph: dict[str, Any], hosts: dict[str, list[int]], learner: dict[str, Any] = KT
) -> Description:
    """A network of these hosts, ready to start; its file is network.toml in the folder."""
    ports = free_ports(len(hosts))
    places = {
        name: {"agents": agents, "listen": f"127.0.0.1:{port}"}
        for (name, agents), port in zip(hosts.items(), ports, strict=True)
    }
    table = {"name": "benchmark", "graph": graph, "hosts": places, **learner}
    (folder / "network.toml").write_text(tomli_w.dumps(table))
    made = described(table, folder)
    addresses = {name: place.address for name, place in made.places.items()}
    make_certificates(folder / "certs", "benchmark", addresses)
    return made


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports
