"""Journals are played again from the databases of hosts, and whatever is not right is found."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from live.forging import forging
from live.small_network import KT, greeted
from mtcool.cli.commands import app
from mtcool.live import Node, journals
from mtcool.live.config import described
from mtcool.live.config.stored import kept_description
from mtcool.live.journal import Begun, Predicted, Taken, entry_bytes, entry_in
from mtcool.live.journals import prune_journal, read_journal, replay_files
from mtcool.live.store import Store
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

HOSTS = ("host0", "host1")
LEARN = {"learn": {"features": ["x"]}}
ALGORITHM = {"algorithm": {"dim": 1, "loss": "squared"} | KT}


def network(folder, kind=LEARN, journal=True):
    ring = {"kind": "ring", "agents": 4}
    table = {"name": "test", "graph": ring, "shards": {"count": 2}, "journal": journal}
    return described(table | kind, folder)


def play(folder, kind=LEARN, rounds=20, during=None, journal=True):
    """A run of two hosts in this process; returns the paths of their databases."""
    found, numbers = network(folder, kind, journal), np.random.default_rng(3)

    async def run():
        exchange = MemoryExchange()
        nodes = [Node(found, name, transport=MemoryTransport(name, exchange)) for name in HOSTS]
        async with nodes[0], nodes[1]:
            await greeted(*nodes)
            for k in range(rounds):
                agent = k % 4
                x, y = numbers.uniform(-1.0, 1.0, 2)
                await nodes[agent // 2].learn(agent, [x], y)
            assert await nodes[0].delivered()
            assert await nodes[1].delivered()
            return None if during is None else during()

    seen = asyncio.run(run())
    paths = [folder / "state" / f"{name}.db" for name in HOSTS]
    return paths if during is None else (paths, seen)


def change(path, choose, entry=None):
    """Replace an entry of a journal, or take it out."""
    with forging(path) as base:
        for number, content in base.execute("select number, entry from journal").fetchall():
            found = entry_in(content)
            if isinstance(found, choose):
                if entry is None:
                    base.execute("delete from journal where number = ?", (number,))
                else:
                    new = entry_bytes(entry(found))
                    base.execute("update journal set entry = ? where number = ?", (new, number))
                return
    raise AssertionError("there is no such entry")


@pytest.mark.parametrize("kind", [LEARN, ALGORITHM], ids=["tables", "gradients"])
def test_a_run_comes_out_the_same_bit_for_bit_over_restarts(tmp_path, kind):
    play(tmp_path, kind)
    found = replay_files(play(tmp_path, kind))  # the hosts have gone on from their disks
    assert (found.predictions, found.same, found.learned) == (40, 40, 40)
    assert (found.lost, found.twice, found.waiting, found.differences) == (0, 0, 0, [])
    assert found.messages == 40  # each agent has one neighbour on the other host


def test_journals_are_read_while_hosts_run(tmp_path):
    files = [tmp_path / "state" / f"{name}.db" for name in HOSTS]
    _, seen = play(tmp_path, during=lambda: (replay_files(files), read_journal(files[0]).running))
    again, is_running = seen
    assert is_running
    assert not read_journal(files[0]).running
    assert (again.same, again.lost, again.differences) == (20, 0, [])


def test_messages_between_the_reading_of_two_journals_are_not_lost(tmp_path, monkeypatch):
    """A host goes on after the journal of another was read, which has taken what it says then."""
    found = network(tmp_path)

    async def run():
        exchange = MemoryExchange()
        nodes = [Node(found, name, transport=MemoryTransport(name, exchange)) for name in HOSTS]
        async with nodes[0], nodes[1]:
            await greeted(*nodes)
            loop = asyncio.get_running_loop()

            async def go_on():
                for agent in (0, 3, 0, 3):
                    await nodes[agent // 2].learn(agent, [1.0], 0.5)
                assert await nodes[0].delivered()
                assert await nodes[1].delivered()

            def read(path, tell=None):
                journal = read_journal(path, tell)
                asyncio.run_coroutine_threadsafe(go_on(), loop).result(30)
                return journal

            monkeypatch.setattr(journals, "read_journal", read)
            return await asyncio.to_thread(replay_files, files)

    files = [tmp_path / "state" / f"{name}.db" for name in HOSTS]
    play(tmp_path)
    again = asyncio.run(run())
    assert (again.same, again.lost, again.twice) == (again.predictions, 0, 0)
    assert again.differences == []


def test_another_prediction_is_found(tmp_path):
    paths = play(tmp_path)
    change(paths[1], Predicted, lambda e: msgspec.structs.replace(e, value=[e.value[0] + 1e-12]))
    found = replay_files(paths)
    assert found.same == found.predictions - 1
    assert len(found.differences) == 1
    assert "the prediction of round" in found.differences[0]
    done = CliRunner().invoke(app, ["replay", *map(str, paths)])
    assert done.exit_code == 1
    assert "19 of 20 predictions" in done.output


def test_a_message_that_was_not_taken_is_found(tmp_path):
    paths = play(tmp_path)
    with forging(paths[0]) as base:
        numbers = base.execute("select number, entry from journal order by number").fetchall()
        last = [n for n, content in numbers if isinstance(entry_in(content), Taken)][-1]
        base.execute("delete from journal where number = ?", (last,))
    with pytest.raises(ValueError, match="got one up to message 9 of host1, and 10 were taken"):
        replay_files(paths)  # it was taken, and no journal was written
    with forging(paths[0]) as base:
        base.execute("update link set taken = taken - 1")
    assert replay_files(paths).lost == 1


def test_a_message_that_was_taken_twice_is_found(tmp_path):
    paths = play(tmp_path)
    with forging(paths[0]) as base:
        contents = [c for (c,) in base.execute("select entry from journal order by number")]
        taken = next(c for c in contents if isinstance(entry_in(c), Taken))
        base.execute("insert into journal (entry) values (?)", (taken,))
    found = replay_files(paths)
    assert found.twice == 1
    assert found.differences


def test_a_journal_that_cannot_be_played_is_a_difference_and_no_crash(tmp_path):
    paths = play(tmp_path)
    change(paths[0], Predicted)
    found = replay_files(paths)
    assert any("cannot be played again" in sentence for sentence in found.differences)


def test_a_host_that_was_killed_before_its_first_transaction_has_taken_nothing(tmp_path):
    found = network(tmp_path)

    async def run():
        node = Node(found, "host0", transport=MemoryTransport("host0", MemoryExchange()))
        async with node:
            await node.learn(0, [1.0], 1.0)

    asyncio.run(run())
    state = tmp_path / "state"
    with Store(state / "host1.db", "host1", found.number) as store:
        store.describe(kept_description(found))
    paths = [state / f"{name}.db" for name in HOSTS]
    again = replay_files(paths)
    assert (again.predictions, again.waiting, again.lost, again.differences) == (1, 1, 0, [])
    assert replay_files(paths[1:]).predictions == 0
    with forging(paths[0]) as base:
        base.execute("delete from outbox")
    assert replay_files(paths).lost == 1


def test_what_is_no_journal_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        replay_files([tmp_path / "nothing.db"])
    (tmp_path / "text.db").write_text("no database at all, only words")
    with pytest.raises(ValueError, match="must be the database of a host, and whole"):
        replay_files([tmp_path / "text.db"])
    paths = play(tmp_path / "without", journal=False)
    with pytest.raises(ValueError, match="must have a journal of all 10 rounds, got one of 0"):
        replay_files(paths)
    change(first := play(tmp_path / "gap")[0], Begun)
    with pytest.raises(ValueError, match="got one of 9"):
        replay_files([first])
    first, other = play(tmp_path / "one"), play(tmp_path / "two", ALGORITHM)
    with pytest.raises(ValueError, match="of one network"):
        replay_files([first[0], other[1]])
    with pytest.raises(ValueError, match="different hosts"):
        replay_files([first[0], first[0]])


@pytest.mark.parametrize(
    ("kind", "changes", "what"),
    [
        (ALGORITHM, {"dim": 10**12}, "algorithm.dim"),
        (LEARN, {"features": [f"f{k}" for k in range(200_000)]}, "number of learn.features"),
    ],
    ids=["gradients", "tables"],
)
def test_a_description_that_asks_for_more_than_the_memory_is_refused(tmp_path, kind, changes, what):
    path = play(tmp_path, kind)[0]
    (part,) = kind
    large = network(tmp_path, {part: kind[part] | changes})
    with forging(path) as base:
        base.execute("update description set content = ?", (kept_description(large),))
        base.execute("update host set network = ?", (large.number,))
        (first,) = base.execute("select entry from journal where number = 1").fetchone()
        first = msgspec.structs.replace(entry_in(first), network=large.number)
        base.execute("update journal set entry = ? where number = 1", (entry_bytes(first),))
    with pytest.raises(ValueError, match=rf"^{what} must fit into memory, got "):
        replay_files([path])


def at_another_version(entry, ago):
    assert entry.used
    used = [msgspec.structs.replace(one, version=one.version + ago) for one in entry.used]
    return msgspec.structs.replace(entry, used=used)


@pytest.mark.parametrize("ago", [10**6, -(10**6)])
def test_a_row_of_a_state_that_never_was_is_found(tmp_path, ago):
    paths = play(tmp_path)
    change(paths[1], Predicted, lambda entry: at_another_version(entry, ago))
    found = replay_files(paths)
    assert found.same == found.predictions
    assert len(found.differences) == 1
    assert "row" in found.differences[0]


def test_an_agent_that_has_become_another_is_found(tmp_path):
    paths = play(tmp_path)
    with forging(paths[1]) as base:
        name = msgspec.msgpack.encode(3)
        (state,) = base.execute("select state from agent where name = ?", (name,)).fetchone()
        worse = state[:-1] + bytes([state[-1] ^ 1])
        base.execute("update agent set state = ? where name = ?", (worse, name))
    found = replay_files(paths)
    assert found.same == found.predictions
    assert found.differences == ["host1: what agent 3 has become is not what is kept of it"]
    assert CliRunner().invoke(app, ["replay", *map(str, paths)]).exit_code == 1
    fewer = (int.from_bytes(state[:8]) - 1).to_bytes(8) + state[8:]
    with forging(paths[1]) as base:
        base.execute("update agent set state = ? where name = ?", (fewer, name))
    assert len(replay_files(paths).differences) == 1  # it has learned more often than is kept
    with forging(paths[1]) as base:
        base.execute("delete from agent where name = ?", (name,))
        base.execute(
            "insert into agent (name, state) values (?, ?)", (msgspec.msgpack.encode(9), state)
        )
    assert replay_files(paths).differences == [
        "host1: agent 3 lives there, and is not kept",
        "host1: agent 9 is kept, and does not live there",
    ]


OUTSIDE = """
from pathlib import Path
import mtcool

Path(__file__).with_name("imported").touch()
mine = mtcool.algorithms.algorithm("i_ftrl")
"""


def test_nothing_that_a_database_names_is_imported(tmp_path, monkeypatch):
    (tmp_path / "brought_along.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    kind = {"algorithm": {"dim": 1, "loss": "squared", "algorithm": "brought_along:mine"}}
    paths = play(tmp_path, kind, rounds=4)
    (tmp_path / "imported").unlink()
    monkeypatch.delitem(sys.modules, "brought_along")
    with pytest.raises(ValueError, match=r"algorithm\.algorithm of .* in a database .*--network"):
        replay_files(paths)
    assert not (tmp_path / "imported").exists()
    found = replay_files(paths, network(tmp_path, kind))  # the user says what it is
    assert (found.same, found.differences) == (4, [])
    assert (tmp_path / "imported").exists()


@pytest.mark.parametrize("key", ["learner", "aggregator"])
def test_parts_of_an_algorithm_that_a_database_names_are_not_imported(tmp_path, key):
    paths = play(tmp_path, ALGORITHM, rounds=4)
    other = network(tmp_path, {"algorithm": ALGORITHM["algorithm"] | {key: "os:abort"}})
    for path in paths:
        with forging(path) as base:
            base.execute("update description set content = ?", (kept_description(other),))
            base.execute("update host set network = ?", (other.number,))
    with pytest.raises(ValueError, match=f"algorithm.{key} of a network in a database"):
        replay_files(paths)


# --- journals that were pruned -------------------------------------------------------------------

PRIVATE = {
    "algorithm": {"algorithm": "dpmt_co2ol", "dim": 1, "loss": "squared"},
    "privacy": {"epsilon": 1.0, "horizon": 100},
}


@pytest.mark.parametrize(
    "kind", [LEARN, ALGORITHM, PRIVATE], ids=["tables", "gradients", "private"]
)
@pytest.mark.parametrize("which", [(0,), (0, 1)], ids=["one", "both"])
def test_a_replay_begins_where_a_journal_was_pruned(tmp_path, kind, which):
    paths = play(tmp_path, kind)
    for k in which:
        prune_journal(paths[k])
        assert len(read_journal(paths[k]).entries) == 1
    found = replay_files(paths)
    assert (found.lost, found.twice, found.waiting, found.differences) == (0, 0, 0, [])
    assert found.pruned == {HOSTS[k]: 10 for k in which}
    found = replay_files(play(tmp_path, kind))  # the hosts have gone on
    count = 20 + 10 * (2 - len(which))
    assert (found.predictions, found.same, found.learned) == (count, count, count)
    assert (found.lost, found.twice, found.waiting, found.differences) == (0, 0, 0, [])
    if len(which) == 1:  # the other one later, so that one has said what the other's has forgotten
        prune_journal(paths[1])
        prune_journal(paths[0])
        found = replay_files(play(tmp_path, kind))
        assert (found.predictions, found.same, found.pruned) == (20, 20, dict.fromkeys(HOSTS, 20))
        assert (found.lost, found.twice, found.waiting, found.differences) == (0, 0, 0, [])


def test_what_waits_beyond_a_pruned_journal_is_counted_and_what_is_wrong_after_it_is_found(
    tmp_path,
):
    found, paths = network(tmp_path), [tmp_path / "state" / f"{name}.db" for name in HOSTS]

    async def alone():
        async with Node(
            found, "host0", transport=MemoryTransport("host0", MemoryExchange())
        ) as node:
            for _ in range(3):
                await node.learn(0, [1.0], 1.0)

    play(tmp_path)
    asyncio.run(alone())  # three messages wait
    prune_journal(paths[0])
    assert replay_files(paths).waiting == 3
    play(tmp_path)
    again = replay_files(paths)
    assert (again.waiting, again.lost, again.differences) == (0, 0, [])
    change(paths[1], Taken)  # one of those that were said before
    assert replay_files(paths).differences


def test_pruning_after_a_crash_says_how_much_of_the_disk_is_free_again(tmp_path):
    crashed = tmp_path / "crashed"

    async def learn():
        async with Node(
            network(tmp_path), "host0", transport=MemoryTransport("host0", MemoryExchange())
        ):
            shutil.copytree(tmp_path / "state", crashed)

    play(tmp_path)
    asyncio.run(learn())
    before = sum(file.stat().st_size for file in crashed.glob("host0.db*"))
    pruned = prune_journal(crashed / "host0.db")
    after = sum(file.stat().st_size for file in crashed.glob("host0.db*"))
    shared = 1 << 15  # of the index of the log, which is memory
    assert pruned.bytes == before - after - shared > 0


def test_a_journal_is_pruned_though_the_disk_has_no_room_for_a_copy(tmp_path, monkeypatch):
    class Full:
        def __init__(self, base):
            self._base = base

        def execute(self, statement, *values):
            if statement == "vacuum":
                raise sqlite3.OperationalError("database or disk is full")
            return self._base.execute(statement, *values)

        def __getattr__(self, name):
            return getattr(self._base, name)

    def prune(store, snapshot):
        store._base = Full(store._base)
        good(store, snapshot)

    paths, good = play(tmp_path, rounds=4), Store.prune
    monkeypatch.setattr(Store, "prune", prune)
    assert prune_journal(paths[0]).rounds == 2
    assert replay_files(paths).differences == []


def test_a_journal_that_lacks_something_or_whose_host_runs_is_not_pruned(tmp_path):
    paths = play(tmp_path, rounds=4)
    runner, words = CliRunner(), ["prune", *map(str, paths)]
    with Store(paths[1], "host1", network(tmp_path).number):
        done = runner.invoke(app, words)
    assert "must be stopped before its journal is pruned" in str(done.exception)
    assert len(read_journal(paths[0]).entries) > 1  # nor is the other one's
    size = paths[0].stat().st_size
    done = runner.invoke(app, words)
    assert done.exit_code == 0
    assert "host0.db: " in done.output
    assert "replays begin after round 2" in done.output
    assert paths[0].stat().st_size <= size
    said = runner.invoke(app, ["replay", *map(str, paths)]).output
    assert "the journal of host1 begins after 2 rounds: those before were pruned" in said
    play(tmp_path / "none", rounds=4, journal=False)
    with pytest.raises(ValueError, match="must have a journal of all"):
        prune_journal(tmp_path / "none" / "state" / "host0.db")
