"""What a host keeps on disk: one SQLite file, written in transactions that survive a power cut."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from mtcool.graphs.labels import label_of, plain_name
from mtcool.live.journal import Lives
from mtcool.live.link import Numbers
from mtcool.live.transactions import Changes, Kept
from mtcool.types import Label, Name

FORM = 4
"""Of the tables; another one is refused."""

PASSING = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY}
"""Errors of the disk rather than of the database: it may work later."""
FIRST_BYTE = 0xFF  # of an error's number, which says what it is about

LOOK, LOOKS = 0.1, 5
"""Seconds for which a lock is tried, and how often: who asks whether a host runs has it briefly."""

TABLES = """
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
DESCRIBE = "insert or replace into description values (1, ?)"


class Store:
    """The database of one host.

    Write-ahead log with full synchronisation: a transaction that has returned survives a power
    cut. The file, and those that SQLite puts beside it, are open to their owner only.

    Parameters
    ----------
    path
        The file; it is made if it is not there.
    name, network
        Whose it is: a file of another host or of another network is refused.
    """

    def __init__(self, path: str | os.PathLike[str], name: str, network: int) -> None:
        self.path = Path(path)
        self._lock = _lock(self.path)
        try:
            # SQLite gives the files beside it the permissions of the database itself.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            os.chmod(self.path, 0o600)
            self._base = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        except BaseException:
            os.close(self._lock)
            raise
        try:
            self._open(name, network)
        except BaseException:
            self.close()
            raise

    def describe(self, description: bytes) -> None:
        """Keep the network in words that a replay understands, beside the journal."""
        try:
            self._base.execute(DESCRIBE, (description,))
        except sqlite3.Error as error:
            raise OSError(f"{str(self.path)!r} could not be written: {error}") from error

    def _open(self, name: str, network: int) -> None:
        run = self._base.execute
        try:
            self._check_whose(name, network)
            run("pragma journal_mode = wal")
            run("pragma synchronous = full")
            run("begin immediate")
            for statement in TABLES.split(";\n"):
                run(statement)
            run(
                "insert or ignore into host values (1, ?, ?, ?, 0, 0, null)",
                (FORM, name, network),
            )
            run("commit")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & FIRST_BYTE in PASSING:
                raise OSError(f"{str(self.path)!r} could not be opened: {error}") from None
            raise ValueError(f"database must be one, got {str(self.path)!r}: {error}") from None

    def _check_whose(self, name: str, network: int) -> None:
        """Refuse a file of somebody else before anything is written into it."""
        run, path = self._base.execute, str(self.path)
        tables = {table for (table,) in run("select name from sqlite_master where type = 'table'")}
        if not tables:
            return
        if "host" not in tables:
            raise ValueError(f"database must be that of a host, got {path!r}, which is another's")
        found = run("select form, name, network from host").fetchone()
        if found is None:
            raise ValueError(f"database must be whole, got {path!r} that does not say whose it is")
        if found[0] != FORM:
            raise ValueError(f"database must be of form {FORM}, got {path!r} of form {found[0]}")
        if found[1] != name:
            raise ValueError(f"database must be that of {name!r}, got {path!r} of {found[1]!r}")
        if found[2] != network:
            raise ValueError(
                f"database must be that of this network, got {path!r} of one with another name, "
                "features, algorithm or privacy; remove it to begin anew, or give `state` another "
                "folder"
            )

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was written stays."""
        self._base.close()
        os.close(self._lock)

    def read(self) -> Kept | None:
        """What the host was when it stopped; None if it is new."""
        try:
            self._roll_back()  # a transaction that failed must not be read
            return self._read()
        except sqlite3.Error as error:
            raise OSError(f"{str(self.path)!r} could not be read: {error}") from error
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"database must be whole, got {str(self.path)!r}: {error}") from None

    def _read(self) -> Kept | None:
        run = self._base.execute
        own, version, rounds, lives = run(
            "select name, version, rounds, lives from host"
        ).fetchone()
        found = [(_label(key), state) for key, state in run("select name, state from agent")]
        if lives is None:
            if found:
                raise ValueError("it does not say who lives there")
            return None
        agents, who = dict(found), msgspec.msgpack.decode(lives, type=Lives)
        if len(agents) < len(found):
            raise ValueError("it has an agent twice, under names that are equal, such as 1 and 1.0")
        for name in {*map(label_of, [*who.here, *who.left])} ^ agents.keys():
            what = "does not live there" if name in agents else "is missing"
            raise ValueError(f"agent {name!r} {what}")
        links = {host: Numbers(*numbers) for host, *numbers in run("select * from link")}
        waiting = run("select host, number, receiver, content from outbox order by host, number")
        outbox = [
            (host, number, msgspec.msgpack.decode(to), content)
            for host, number, to, content in waiting
        ]
        others = {host for _, host in who.home} - {own}
        for host in {host for host, *_ in outbox} - others:
            raise ValueError(f"messages wait for {host!r}, where no neighbour lives")
        return Kept(version, rounds, agents, links, outbox, who, str(self.path))

    def write(self, changes: Changes) -> None:
        """Write all changes, or none: an OSError says that they could not be written."""
        base = self._base
        try:
            base.execute("begin immediate")
            state = changes.version, changes.rounds
            base.execute("update host set version = ?, rounds = ?", state)
            if changes.share is not None:
                lives = msgspec.msgpack.encode(changes.share)
                base.execute("update host set lives = ?", (lives,))
            if changes.agents:
                base.executemany(
                    "insert into agent values (?, ?)"
                    " on conflict (name) do update set state = excluded.state",
                    [(_key(name), state) for name, state in changes.agents.items()],
                )
            if changes.links:
                base.executemany(
                    "insert into link values (?, ?, ?, ?, ?, ?, ?) on conflict (host) do update set"
                    " sent = excluded.sent, taken = excluded.taken,"
                    " dropped = excluded.dropped, heard = excluded.heard,"
                    " after = excluded.after, history = excluded.history",
                    [(host, *numbers) for host, numbers in changes.links.items()],
                )
            if changes.outbox:
                base.executemany(
                    "insert into outbox values (?, ?, ?, ?)",
                    [
                        (host, number, msgspec.msgpack.encode(to), content)
                        for host, number, to, content in changes.outbox
                    ],
                )
            if changes.delivered:
                base.executemany(
                    "delete from outbox where host = ? and number <= ?", changes.delivered.items()
                )
            if changes.journal:
                base.executemany(
                    "insert into journal (entry) values (?)", [(one,) for one in changes.journal]
                )
            if changes.description is not None:
                base.execute(DESCRIBE, (changes.description,))
            base.execute("commit")
        except Exception as error:
            with contextlib.suppress(sqlite3.Error):  # `read` tries again, and says so
                self._roll_back()
            raise OSError(f"{str(self.path)!r} could not be written: {error}") from error

    def _roll_back(self) -> None:
        if self._base.in_transaction:
            self._base.execute("rollback")

    def journal(self) -> Iterator[bytes]:
        """What happened to the host, in order."""
        for (entry,) in self._base.execute("select entry from journal order by number"):
            yield entry


def _lock(path: Path) -> int:
    """Refuse a second process of the same host; others may read the database meanwhile.

    The lock has a file of its own: closing a second descriptor of the database would take away
    SQLite's own locks. It ends with the process, however that ends.
    """
    lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    for _ in range(LOOKS):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(LOOK / LOOKS)
        else:
            return lock
    os.close(lock)
    raise ValueError(f"database must be ours alone, got {str(path)!r}, which another process has")


def is_running(path: Path) -> bool:
    """Whether a process has the database of a host."""
    try:
        lock = os.open(path.with_suffix(".lock"), os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _key(name: Label) -> bytes:
    return msgspec.msgpack.encode(plain_name(name, "kept"))


def _label(key: bytes) -> Label:
    name: Name = msgspec.msgpack.decode(key)
    return label_of(name)
