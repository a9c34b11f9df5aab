"""A disk that is full, and a network that is cut in two by a proxy and healed: real ones both."""

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from live.ports import free_ports
from live.proxies import Proxy
from live.small_network import KT
from mtcool.live import Node
from mtcool.live.certificates import make_certificates
from mtcool.live.config import described
from mtcool.live.journals import replay_files

ALGORITHM = {"dim": 1, "loss": "squared"} | KT


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_refuses_and_nothing_is_lost_when_there_is_room_again(small_disk: Path) -> None:
    network = described(
        {
            "name": "full",
            "graph": {"kind": "ring", "agents": 3},
            "algorithm": ALGORITHM,
            "shards": {"count": 1},
            "journal": True,
        },
        small_disk,
    )

    async def play() -> list[str]:
        refused = []
        async with Node(network) as node:
            await _rounds(node, 20)
            filler = small_disk / "filler"
            with contextlib.suppress(OSError):
                filler.write_bytes(bytes(4 << 20))
            for _ in range(200):
                try:
                    await _rounds(node, 1)
                except OSError as error:
                    refused.append(str(error))
            filler.unlink()
            await _rounds(node, 20)
        return refused

    refused = asyncio.run(play())
    assert refused
    assert all("could not be written" in reason for reason in refused)
    again = replay_files([small_disk / "state" / "host0.db"])
    assert (again.differences, again.lost, again.twice) == ([], 0, 0)
    assert again.learned >= 40


async def _rounds(node: Node, count: int) -> None:
    rng = np.random.default_rng(1)
    for k in range(count):
        row = rng.normal(size=1)
        await node.learn(k % 3, row, float(row[0]))


@contextlib.asynccontextmanager
async def two_hosts(folder: Path) -> AsyncIterator[tuple[Node, Node, list[Proxy]]]:
    """Two nodes over zenoh that reach each other through proxies only."""
    ports = free_ports(2)
    proxies = [Proxy(port) for port in ports]
    outside = [await proxy.open() for proxy in proxies]
    network = described(
        {
            "name": "two",
            "graph": {"kind": "edges", "edges": [["a", "b"]]},
            "algorithm": ALGORITHM,
            "journal": True,
            "timing": {"rows": 0.3, "delivery": 0.3, "lease": 1.0},
            "hosts": {
                name: {
                    "agents": [agent],
                    "listen": f"127.0.0.1:{port}",
                    "address": f"127.0.0.1:{seen}",
                }
                for name, agent, port, seen in zip(
                    ("one", "two"), "ab", ports, outside, strict=True
                )
            },
        },
        folder,
    )
    places = {name: place.address for name, place in network.places.items()}
    make_certificates(folder / "certs", "two", places)
    async with Node(network, "one") as one, Node(network, "two") as two:
        yield one, two, proxies
    for proxy in proxies:
        await proxy.close()


def test_a_network_that_is_cut_in_two_heals_and_nothing_is_lost(tmp_path: Path) -> None:
    async def play() -> None:
        async with two_hosts(tmp_path) as (one, two, proxies):
            await _learn(one, "a", 5)
            await _learn(two, "b", 5)
            assert await one.delivered(60.0)
            assert await two.delivered(60.0)
            async with asyncio.timeout(60.0):
                while (await one.predict("a", [0.5])).missing:
                    pass  # until b has said its row
            for proxy in proxies:
                proxy.cut(True)
            began = time.monotonic()
            said = await one.predict("a", [0.5])
            assert time.monotonic() - began < 3.0
            assert said.old == ("b",)
            await _learn(one, "a", 10)
            await _learn(two, "b", 10)
            assert not await one.delivered(0.2)
            for proxy in proxies:
                proxy.cut(False)
            assert await one.delivered(60.0)
            assert await two.delivered(60.0)

    asyncio.run(play())
    again = replay_files([tmp_path / "state" / "one.db", tmp_path / "state" / "two.db"])
    assert (again.differences, again.lost, again.twice) == ([], 0, 0)
    assert again.learned == 30
    assert again.messages == 30


async def _learn(node: Node, agent: str, count: int) -> None:
    for k in range(count):
        await node.learn(agent, [0.1 * k], 0.05 * k)


def test_a_database_is_open_to_its_owner_only(tmp_path: Path) -> None:
    network = described(
        {
            "name": "own",
            "graph": {"kind": "edges", "agents": ["a"]},
            "algorithm": ALGORITHM,
            "shards": {"count": 1},
        },
        tmp_path,
    )

    async def play() -> list[int]:
        async with Node(network) as node:
            await node.learn("a", [0.5], 1.0)
            return [os.stat(file).st_mode & 0o077 for file in (tmp_path / "state").iterdir()]

    assert set(asyncio.run(play())) == {0}
