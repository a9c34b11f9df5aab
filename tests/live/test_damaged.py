"""A damaged database is refused in one sentence that names the file; nothing begins anew unseen."""

import asyncio
import contextlib
import errno
import fcntl
import gc
import os
import resource
import shutil
import sqlite3
import subprocess
import sys

import msgspec
import pytest

from live.forging import forging
from live.small_network import small
from mtcool.live import Node
from mtcool.live.journal import entry_bytes, entry_in
from mtcool.live.journals import has_journal, replay_files
from mtcool.live.lock import Lock
from mtcool.live.residents import HEAD
from mtcool.live.store import Store

WAITS = "insert into outbox (host, number, receiver, content) values "
DAMAGES = {
    "a state is garbage": "update agent set state = x'" + 24 * "00" + "636465'",
    "a state is another's": "update agent set state = x'" + 24 * "00" + "93c0c0c0'",
    "a state is short": "update agent set state = x'000000'",
    "a state is missing": "update agent set state = null",
    "an agent is unknown": "insert into agent (name, state) values (x'09', x'00')",
    "an agent is missing": "delete from agent where name = x'01'",
    "a name is spelled otherwise": (
        "update agent set name = x'cb3ff0000000000000' where name = x'01'"  # 1.0
    ),
    "a name is garbage": "insert into agent (name, state) values (x'c1', x'00')",
    "a name is a table": "insert into agent (name, state) values (x'80', x'00')",
    "who lives there is garbage": "update lives set content = x'ff'",
    "who lives there is missing": "delete from lives",
    "whose it is is missing": "delete from host",
    "messages wait for nobody": WAITS + "('nobody', 1, x'01', x'00')",
    "messages wait for itself": WAITS + "('host0', 1, x'01', x'00')",
    "a receiver is garbage": WAITS + "('host0', 1, x'c1', x'00')",
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")

    async def play() -> None:
        async with Node(small(folder, agents=4, hosts=1, journal=True)) as node:
            for agent in range(4):
                await node.learn(agent, [1.0, 2.0], 1.0)

    asyncio.run(play())
    return folder / "state" / "host0.db"


def damaged(good, folder, statement):
    file = folder / "state" / "host0.db"
    file.parent.mkdir(exist_ok=True)
    shutil.copy(good, file)
    with forging(file) as base:
        assert base.execute(statement).rowcount
    return file


def content(file):
    """All that a database says, but for who has opened it last."""
    with sqlite3.connect(file) as base:
        base.execute("update host set session = 0, digest = 0")
        found = list(base.iterdump())
        base.rollback()
    base.close()
    return found


@pytest.mark.parametrize("what", DAMAGES)
def test_a_host_does_not_begin_from_a_damaged_database(good, tmp_path, what):
    file = damaged(good, tmp_path, DAMAGES[what])

    async def begin() -> None:
        async with Node(small(tmp_path, agents=4, hosts=1, journal=True)):
            pass

    before = content(file)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^database must be whole, got '.*host0.db'"):
            asyncio.run(begin())
    assert content(file) == before


@pytest.mark.parametrize(
    "statement",
    [
        "update journal set entry = x'c1' where number = 3",
        "update journal set entry = x'80' where number = 3",
        "update description set content = x'c1'",
        "update description set content = cast('{}' as blob)",
    ],
)
def test_a_damaged_journal_is_refused(good, tmp_path, statement):
    file = damaged(good, tmp_path, statement)
    with pytest.raises(ValueError, match=rf"^{file} must "):
        replay_files([file])


def test_a_journal_that_a_host_could_not_begin_with_is_told_from_those_of_others(good, tmp_path):
    file = damaged(good, tmp_path, "update agent set name = name where name = x'01'")
    with forging(file) as base:
        (entry,) = base.execute("select entry from journal where number = 1").fetchone()
        started = entry_in(entry)
        started.agents[1] = started.agents[1][0], b"\xc0"
        base.execute("update journal set entry = ? where number = 1", (entry_bytes(started),))
    with pytest.raises(ValueError, match="got 'the journal of host0', in which the state of agent"):
        replay_files([file])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("end", [".lock", ".db-journal", ".db-wal", ".db-shm"])
def test_a_replay_waits_for_no_pipe_beside_a_database(good, tmp_path, end):
    shutil.copy(good, tmp_path / "host0.db")
    os.mkfifo(tmp_path / f"host0{end}")
    command = [sys.executable, "-m", "mtcool", "replay", tmp_path / "host0.db"]
    done = subprocess.run(command, timeout=100, capture_output=True, text=True)
    if end == ".lock":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 2
        assert f"journals must be in files, got '{tmp_path}/host0{end}'" in done.stderr


def test_a_name_that_is_none_is_refused_in_a_sentence_and_nothing_else(good, tmp_path, monkeypatch):
    file = damaged(good, tmp_path, "update agent set name = x'c1' where name = x'01'")
    more = []
    monkeypatch.setattr(sys, "unraisablehook", more.append)
    with contextlib.suppress(ValueError):
        replay_files([file])
    gc.collect()
    assert more == []


def test_a_name_that_cannot_be_written_again_is_refused(good, tmp_path):
    file = damaged(good, tmp_path, "delete from journal")
    with forging(file) as base:
        (state,) = base.execute("select state from agent where name = x'01'").fetchone()
        driver, *rest = msgspec.msgpack.decode(state[HEAD:])
        driver[1].append([2**64 - 1, 1, []])
        state = state[:HEAD] + msgspec.msgpack.encode([driver, *rest])
        base.execute("update agent set state = ? where name = x'01'", (state,))

    async def begin() -> None:
        async with Node(small(tmp_path, agents=4, hosts=1, journal=True)):
            pass

    with pytest.raises(ValueError, match=r"^database must be whole, .*: labels must be numbers"):
        asyncio.run(begin())


def test_tables_whose_text_is_none_are_refused(good, tmp_path):
    file = damaged(good, tmp_path, "delete from lives")
    content = file.read_bytes()
    assert content.count(b"create table ") == 0 != content.count(b"CREATE TABLE host")
    file.write_bytes(content.replace(b"CREATE TABLE host", b"CREATE TABLE\xa0host"))

    async def begin() -> None:
        async with Node(small(tmp_path, agents=4, hosts=1, journal=True)):
            pass

    with pytest.raises(ValueError, match=r"^database must be .*host0.db'.* put a copy of it in"):
        asyncio.run(begin())
    with pytest.raises(ValueError, match=rf"^{file} must .* give a copy of it that is"):
        replay_files([file])


ENDLESS = "with recursive c (x) as (select 1 union all select x + 1 from c) select max(x)"
"""A statement that never has a result."""


def test_a_view_is_refused_before_anything_is_read_from_it(good, tmp_path):
    file = damaged(good, tmp_path, "delete from lives")
    with sqlite3.connect(file) as base:
        base.execute("drop table host")
        base.execute(f"create view host as {ENDLESS} as form, 'host0' as name, 0 as network from c")
    base.close()
    read = [sys.executable, "-m", "mtcool", "replay", str(file)]
    done = subprocess.run(read, capture_output=True, text=True, timeout=30, check=False)
    assert "must have tables and nothing else" in done.stderr

    async def begin() -> None:
        async with Node(small(tmp_path, agents=4, hosts=1, journal=True)):
            pass

    with pytest.raises(ValueError, match=r"^database must be whole, .* tables and nothing else"):
        asyncio.run(begin())


def test_a_host_that_was_killed_before_its_first_transaction_begins(tmp_path):
    file = tmp_path / "host0.db"
    for _ in range(2):
        with Store(file, "host0", 7) as store:
            assert store.read() is None


def test_a_host_notices_after_a_crash_that_its_write_ahead_log_is_gone(tmp_path):
    crashed = tmp_path / "crashed"

    async def learn(folder, crash=False):
        async with Node(small(folder, agents=4, hosts=1)) as node:
            await node.learn(0, [1.0, 1.0], 1.0)
            if crash:
                node._engine.store._base.execute("pragma wal_checkpoint")  # as now and then
                await node.learn(0, [1.0, 1.0], 1.0)
                shutil.copytree(folder / "state", crashed / "state")
            return node.status()["activations"]

    asyncio.run(learn(tmp_path, crash=True))
    assert asyncio.run(learn(tmp_path)) == 3  # it was closed
    shutil.copytree(crashed, tmp_path / "whole")
    (crashed / "state" / "host0.db-wal").unlink()
    for _ in range(2):
        with pytest.raises(ValueError, match=r"its write-ahead log '.*host0.db-wal' is missing"):
            asyncio.run(learn(crashed))
    assert asyncio.run(learn(tmp_path / "whole")) == 3
    (crashed / "state" / "host0.lock").unlink()  # as the sentence says
    assert asyncio.run(learn(crashed)) == 2


class Checkpointing:
    """A connection that does something else instead of, or after, a checkpoint."""

    def __init__(self, base, instead):
        self._base, self._instead = base, instead

    def execute(self, statement, *values):
        if statement == "pragma wal_checkpoint(truncate)":
            return self._instead(lambda: self._base.execute(statement, *values))
        return self._base.execute(statement, *values)

    def __getattr__(self, name):
        return getattr(self._base, name)


def test_a_host_that_is_killed_when_its_log_is_empty_begins_again(tmp_path):
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            store = Store(tmp_path / "one.db", "one", 1)
            store._base = Checkpointing(store._base, lambda good: [good(), os._exit(0)])
            store.close()
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    Store(tmp_path / "one.db", "one", 1).close()


def test_a_log_that_could_not_be_emptied_must_be_there(tmp_path):
    def fail(good):
        raise sqlite3.OperationalError("database or disk is full")

    store = Store(tmp_path / "one.db", "one", 1)
    store._base = Checkpointing(store._base, fail)
    reader = sqlite3.connect(store.path)  # which keeps the log, too
    reader.execute("select * from host").fetchall()
    store.close()
    assert (tmp_path / "one.lock").read_text() == f"{store._session}"
    assert (tmp_path / "one.db-wal").stat().st_size > 0
    reader.close()


def test_a_full_disk_takes_nothing_from_the_file_of_a_lock(tmp_path):
    lock = Lock(tmp_path / "host0.db")
    lock.note(17, 4)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            lock.note(18)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert lock.path.read_text() == "17 4"
    lock.note(5)
    assert lock.path.read_text() == "5"
    lock.close()


def test_a_forked_process_changes_nothing_of_a_host_that_its_parent_goes_on_with(tmp_path):
    async def play():
        async with Node(small(tmp_path, agents=4, hosts=1, journal=True)) as node:
            await node.learn(0, [1.0, 1.0], 1.0)
            wanted = node.learn(0, [1.0, 1.0], 1.0)
            lock = (tmp_path / "state" / "host0.lock").read_text()
            child = os.fork()
            if child == 0:
                with contextlib.suppress(BaseException):
                    wanted.send(None)  # it learns, and waits until that is written
                error = node._engine.commit()
                node._engine.store.close()
                os._exit(0 if "which was forked" in str(error) else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert (tmp_path / "state" / "host0.lock").read_text() == lock
            await wanted
            assert node.status()["activations"] == 2

    asyncio.run(play())
    again = replay_files([tmp_path / "state" / "host0.db"])
    assert (again.learned, again.same, again.differences) == (2, 2, [])


def test_a_disk_without_locks_is_not_taken_for_another_process(tmp_path, monkeypatch):
    def flock(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(OSError, match=r"one\.lock' could not be locked: .*No locks available"):
        Lock(tmp_path / "one.db")


def test_a_database_that_was_closed_may_be_opened_while_a_forked_process_lives(tmp_path):
    store = Store(tmp_path / "one.db", "one", 1)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # until the end of this test
        os._exit(0)
    try:
        with pytest.raises(ValueError, match="which another process has"):
            Store(store.path, "one", 1)
        store.close()
        Store(store.path, "one", 1).close()
    finally:
        os.close(writing)
        os.close(reading)
        os.waitpid(child, 0)


FORM_4 = """
create table if not exists host (
    id integer primary key check (id = 1), form integer, name text, network integer,
    version integer, rounds integer, lives blob
) strict;
create table if not exists agent (name blob primary key, state blob) strict, without rowid;
create table if not exists link (
    host text primary key, sent integer, taken integer, dropped integer, heard integer,
    after integer, history integer
) strict, without rowid;
create table if not exists outbox (
    host text, number integer, receiver blob, content blob, primary key (host, number)
) strict, without rowid;
create table if not exists description (id integer primary key check (id = 1), content blob) strict;
create table if not exists journal (number integer primary key, entry blob) strict;
"""
"""The tables of version 0.2.0."""
FROM_5 = {
    "host": "select id, 4, name, network, version, rounds, (select content from new.lives)"
    " from new.host",
    "agent": "select name, cast(substr(state, 1, 8) || substr(state, 25) as blob) from new.agent",
    "link": "select host, sent, taken, dropped, heard, after, history from new.link",
    "outbox": "select host, number, receiver, content from new.outbox",
    "description": "select id, content from new.description",
    "journal": "select number, entry from new.journal",
}


def test_a_host_goes_on_from_the_database_of_the_version_before(tmp_path):
    async def learn():
        async with Node(small(tmp_path, agents=4, hosts=1, journal=True)) as node:
            for k in range(4):
                await node.learn(k, [1.0, float(k)], 1.0)
            return node.status()

    asyncio.run(learn())
    file, new = tmp_path / "state" / "host0.db", tmp_path / "new.db"
    file.rename(new)
    base = sqlite3.connect(file)
    base.executescript(FORM_4)
    base.execute("attach ? as new", (str(new),))
    for table, rows in FROM_5.items():
        base.execute(f"insert into {table} {rows}")
    base.commit()
    base.close()
    with pytest.raises(ValueError, match="must be of form 5, got one of form 4: begin its host"):
        replay_files([file])
    assert not has_journal(file)  # so `mtcool up` begins the host, which brings it up
    status = asyncio.run(learn())
    assert has_journal(file)
    assert [one["activations"] for one in status["agents"]] == [2, 2, 2, 2]
    assert [one["offset"] for one in status["agents"]] == [[0, 0]] * 4
    again = replay_files([file])
    assert (again.learned, again.same, again.differences) == (8, 8, [])
