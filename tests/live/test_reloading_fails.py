"""A reload that fails leaves the network as it was, or ends by itself."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from live.ports import free_ports
from live.test_reloading import Reloading, table
from mtcool.live import Node
from mtcool.live.certificates import make_certificates
from mtcool.live.config import described
from mtcool.live.journals import read_journal, replay_files
from mtcool.live.transactions import Transaction


def full(changes: Transaction) -> None:
    raise OSError("the disk is full")


def test_a_disk_that_is_full_leaves_the_old_network_in_force(tmp_path: Path) -> None:
    reloading = Reloading(tmp_path, "tables", over_zenoh=False)

    async def play() -> None:
        async with reloading.node("x", 0) as x, reloading.node("y", 0) as y:
            await x.learn("a", [0.1], 0.2)
            good, x._engine.store.write = x._engine.store.write, full
            with pytest.raises(OSError, match="the disk is full"):
                await x.reload(reloading.network(1))
            x._engine.store.write = good
            assert (x.host.share.revision, x.network.file.revision) == (0, 0)
            assert set(x.host.links) == {"y"}
            await x.learn("a", [0.1], 0.2)
            for node in (x, y):
                await node.reload(reloading.network(1))
            async with reloading.node("z", 1) as z:
                await x.learn("a", [0.1], 0.2)
                assert not (await x.predict("a", [0.3])).missing
                for node in (x, y, z):
                    assert await node.delivered(60.0)

    asyncio.run(play())
    again = replay_files([tmp_path / "state" / f"{host}.db" for host in "xyz"])
    assert (again.differences, again.lost, again.learned) == ([], 0, 3)


def test_the_description_is_written_with_the_change(tmp_path: Path) -> None:
    """SQLite refuses the description itself: the change must not be there without it."""
    reloading, database = Reloading(tmp_path, "tables", over_zenoh=False), tmp_path / "state/x.db"

    async def play() -> None:
        async with reloading.node("x", 0) as x:
            base = sqlite3.connect(database)
            base.execute(
                "create trigger no before insert on description"
                " begin select raise(abort, 'no room'); end"
            )
            with pytest.raises(OSError, match="no room"):
                await x.reload(reloading.network(1))
            assert x.host.share.revision == 0
            base.execute("drop trigger no")
            base.close()
            await x.reload(reloading.network(1))

    asyncio.run(play())
    description = read_journal(database).description
    assert description is not None
    assert description.file.revision == 1


def test_certificates_that_are_missing_are_refused_before_anything_changes(tmp_path: Path) -> None:
    ports = dict(zip("xy", free_ports(2), strict=True))
    places = {host: f"127.0.0.1:{port}" for host, port in ports.items()}
    alone = {
        "name": "one",
        "learn": {"features": ["x"]},
        "graph": {"kind": "edges", "agents": ["a"]},
        "hosts": {"x": {"agents": ["a"], "listen": places["x"]}},
    }
    both = alone | {
        "revision": 1,
        "graph": {"kind": "edges", "edges": [["a", "b"]]},
        "hosts": alone["hosts"] | {"y": {"agents": ["b"], "listen": places["y"]}},
    }

    async def play() -> None:
        async with Node(described(alone, tmp_path)) as x:
            with pytest.raises(ValueError, match="certificates must be made"):
                await x.reload(described(both, tmp_path))
            assert x.host.share.revision == 0
            make_certificates(tmp_path / "certs", "one", places)
            await x.reload(described(both, tmp_path))
            async with Node(described(both, tmp_path), "y") as y:
                await y.learn("b", [1.0], 2.0)
                assert await y.delivered(60.0)

    asyncio.run(play())


@pytest.mark.parametrize("turns", [1, 3])
def test_a_reload_that_is_cancelled_goes_on(tmp_path: Path, turns: int) -> None:
    reloading = Reloading(tmp_path, "tables", over_zenoh=True)

    async def play() -> None:
        async with reloading.node("x", 0) as x, reloading.node("y", 0) as y:
            under_way = asyncio.create_task(x.reload(reloading.network(1)))
            for _ in range(turns):
                await asyncio.sleep(0.0)
            under_way.cancel()
            await asyncio.gather(under_way, return_exceptions=True)
            assert under_way.cancelled()
            with pytest.raises(ValueError, match="until the one before is done"):
                await x.reload(reloading.network(2))
            await y.reload(reloading.network(1))
            async with reloading.node("z", 1) as z:
                await z.learn("c", [0.1], 0.2)
                assert await z.delivered(60.0)

    asyncio.run(play())


def test_a_node_can_close_while_it_reloads(tmp_path: Path) -> None:
    reloading = Reloading(tmp_path, "tables", over_zenoh=True)

    async def play() -> None:
        async with reloading.node("x", 0) as x:
            under_way = asyncio.create_task(x.reload(reloading.network(1)))
            await asyncio.sleep(0.0)
        await under_way
        async with reloading.node("x", 1):  # its address is free
            pass

    asyncio.run(play())


@pytest.mark.parametrize(("key", "value"), [("state", "elsewhere"), ("journal", False)])
def test_what_cannot_change_while_a_host_runs_is_refused(
    tmp_path: Path, key: str, value: object
) -> None:
    reloading = Reloading(tmp_path, "tables", over_zenoh=False)
    changed = table("tables", reloading.ports, 1) | {key: value}

    async def play() -> None:
        async with reloading.node("x", 0) as x:
            with pytest.raises(ValueError, match=f"{key} must stay as it was .* got {value!r}"):
                await x.reload(described(changed, tmp_path))
            assert x.host.share.revision == 0

    asyncio.run(play())
