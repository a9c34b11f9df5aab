"""A private host whose database was replaced by an older copy, and whose neighbours were down.

They remember nothing of what it drew meanwhile, and applications have seen what rests on it.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from live.small_network import PRIVATE, small
from live.test_histories import Pair
from mtcool.live import Node
from mtcool.live.config import Description
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

DATABASE, COUNTER = "host0.db", "host0.counter"
OLDER = "must be the newest of its host, got '.*host0.db' with 3 draws of noise of 7"


def network(folder: Path) -> Description:
    return small(folder, agents=4, hosts=2, **PRIVATE)


def copy(state: Path, to: Path, *names: str) -> None:
    to.mkdir(exist_ok=True)
    for name in names:
        (to / name).write_bytes((state / name).read_bytes())


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of a network, `newest` and `older`: one host has learned without the other between."""
    folder = tmp_path_factory.mktemp("rolled-back")
    pair, state = Pair(network(folder)), folder / "state"

    async def run() -> None:
        for name in ("host0", "host1"):
            await pair.begin(name)
        await pair.greeted()
        await pair.learn(3)
        assert await pair.nodes["host0"].delivered()
        await pair.end("host0")
        copy(state, folder / "older", DATABASE, COUNTER)
        await pair.begin("host0")
        await pair.greeted()
        await pair.end("host1")
        await pair.learn(4)
        before = (state / COUNTER).stat().st_mtime_ns
        await pair.nodes["host0"].predict(1, [0.1, 0.1], timeout=0.01)
        await pair.end("host0")
        assert (state / COUNTER).stat().st_mtime_ns == before  # it has drawn nothing
        copy(state, folder / "newest", DATABASE, COUNTER, "host1.db", "host1.counter")

    asyncio.run(run())
    return folder


@pytest.fixture
def state(copies: Path, tmp_path: Path) -> Path:
    """The state of that network as it was in the end."""
    newest = copies / "newest"
    copy(newest, tmp_path / "state", *(file.name for file in newest.iterdir()))
    return tmp_path / "state"


def begin(state: Path) -> None:
    """Let the host begin by itself, and end."""

    async def play() -> None:
        transport = MemoryTransport("host0", MemoryExchange())
        async with Node(network(state.parent), "host0", transport=transport):
            pass

    asyncio.run(play())


def counted(state: Path) -> int:
    return int((state / COUNTER).read_text())


def test_an_older_database_is_refused_until_the_newest_is_back(copies: Path, state: Path) -> None:
    copy(copies / "older", state, DATABASE)
    before = (state / DATABASE).read_bytes()
    for _ in range(2):
        with pytest.raises(ValueError, match=OLDER):
            begin(state)
    assert ((state / DATABASE).read_bytes(), counted(state)) == (before, 7)
    copy(copies / "newest", state, DATABASE)
    begin(state)


def test_a_host_begins_with_an_older_counter_and_counts_on(copies: Path, state: Path) -> None:
    """So it is found after a crash between a transaction and its count."""
    copy(copies / "older", state, COUNTER)
    begin(state)
    assert counted(state) == 7
    copy(copies / "older", state, DATABASE)
    with pytest.raises(ValueError, match=OLDER):
        begin(state)


def test_who_restores_both_is_noticed_by_nobody_but_a_neighbour(copies: Path, state: Path) -> None:
    """It was down when the host learned, and here there is nothing that remembers."""
    copy(copies / "older", state, DATABASE, COUNTER)
    pair = Pair(network(state.parent))

    async def run() -> dict[str, str]:
        for name in ("host0", "host1"):
            await pair.begin(name)
        await pair.greeted()
        trouble = dict(pair.nodes["host0"].host.trouble)
        for name in ("host0", "host1"):
            await pair.end(name)
        return trouble

    assert not asyncio.run(run())


@pytest.mark.parametrize("missing", ["removed", "emptied", "words"])
def test_a_host_that_has_drawn_noise_and_lost_its_counter_says_how_to_go_on(
    state: Path, missing: str
) -> None:
    if missing == "removed":
        (state / COUNTER).unlink()
    else:
        (state / COUNTER).write_text("" if missing == "emptied" else "seven\n")
    with pytest.raises(ValueError, match=r"host0.counter' must be .*write 7 into it to go on"):
        begin(state)
    (state / COUNTER).write_text("7\n")
    begin(state)
    assert counted(state) == 7


def test_a_removed_database_is_not_begun_anew(state: Path) -> None:
    (state / DATABASE).unlink()
    with pytest.raises(ValueError, match="with 0 draws of noise of 7"):
        begin(state)


@pytest.mark.parametrize("emptied", [False, True], ids=["flipped", "emptied"])
def test_a_damaged_database_is_not_to_be_removed(state: Path, emptied: bool) -> None:
    """Without it the host would not begin anew, and nothing of it could be saved."""
    if emptied:
        (state / "host0.lock").write_text("closed")
        (state / DATABASE).write_bytes(b"")
    else:
        with sqlite3.connect(state / DATABASE) as base:
            base.execute("update agent set digest = 0")
        base.close()
    with pytest.raises(
        ValueError, match=r"must be whole, .*; put its newest copy in its place, or"
    ):
        begin(state)


def test_nothing_is_seen_of_noise_that_could_not_be_counted(state: Path) -> None:
    """Of what was written, a process that begins again counts all before it says anything."""
    pair = Pair(network(state.parent))

    async def run() -> None:
        for name in ("host0", "host1"):
            await pair.begin(name)
        await pair.greeted()
        node = pair.nodes["host0"]
        (state / COUNTER).unlink()
        (state / COUNTER).mkdir()
        with pytest.raises(OSError, match="counter"):
            await pair.learn(1)
        assert "counter" in await asyncio.wait_for(node.broken(), 10.0)
        with pytest.raises(OSError, match="counter"):
            await node.predict(1, [0.1, 0.1])
        for name in ("host0", "host1"):
            await pair.end(name)

    asyncio.run(run())
    (state / COUNTER).rmdir()
    (state / COUNTER).write_text("7\n")
    begin(state)
    assert counted(state) == 8


def test_who_is_told_of_a_count_that_failed_is_told_that_it_was_learned_from(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = Pair(network(state.parent))

    async def run() -> None:
        for name in ("host0", "host1"):
            await pair.begin(name)
        await pair.greeted()
        with monkeypatch.context() as patch:

            def hiccup(*_: object) -> None:
                patch.undo()
                raise OSError("the disk hiccups")

            patch.setattr(os, "pwrite", hiccup)
            with pytest.raises(OSError, match=r"hiccups; the database was, .* do not learn"):
                await pair.learn(1)
        await pair.greeted()
        assert pair.nodes["host0"].host.learned[1] == 8
        await pair.learn(1)
        for name in ("host0", "host1"):
            await pair.end(name)

    asyncio.run(run())
    assert counted(state) == 9


FORM_4 = """
alter table host rename to new;
create table host (
    id integer primary key check (id = 1), form integer, name text, network integer,
    version integer, rounds integer, lives blob
) strict;
insert into host select new.id, 4, name, network, version, rounds, content from new, lives;
drop table new;
drop table lives;
alter table agent drop column digest;
update agent set state = cast(substr(state, 1, 8) || substr(state, 25) as blob);
alter table link drop column digest;
alter table outbox drop column digest;
alter table description drop column digest;
alter table journal drop column digest;
"""


@pytest.mark.parametrize("full", [False, True])
def test_a_database_of_the_version_before_has_no_counter_and_gets_one(
    state: Path, full: bool
) -> None:
    """If the disk is full then, an empty one is left behind."""
    (state / COUNTER).unlink()
    if full:
        (state / COUNTER).touch()
    with sqlite3.connect(state / DATABASE) as base:
        base.executescript(FORM_4)
    base.close()
    of_before = (state / DATABASE).read_bytes()
    begin(state)
    assert counted(state) == 7
    (state / COUNTER).write_text("8\n")
    (state / DATABASE).write_bytes(of_before)
    (state / "host0.lock").unlink()
    with pytest.raises(ValueError, match="with 7 draws of noise of 8"):
        begin(state)


def test_hosts_without_private_agents_have_no_counter(tmp_path: Path) -> None:
    async def run() -> None:
        async with Node(small(tmp_path, hosts=1)) as node:
            await node.learn(0, [1.0, 1.0], 1.0)

    asyncio.run(run())
    assert not [*tmp_path.glob("state/*.counter")]
