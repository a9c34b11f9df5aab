"""What a host keeps on disk: one SQLite file, written in transactions that survive a power cut."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from mtcool.graphs.labels import label_of, plain_name
from mtcool.live.journal import Lives
from mtcool.live.transactions import Changes, Kept
from mtcool.types import Label, Name

FORM = 1
"""Of the tables; another one is refused."""

TABLES = """
create table if not exists host (
    id integer primary key check (id = 1), form integer, name text, network integer,
    version integer, rounds integer, lives blob
) strict;
create table if not exists agent (name blob primary key, state blob) strict, without rowid;
create table if not exists link (host text primary key, sent integer, taken integer)
    strict, without rowid;
create table if not exists outbox (
    host text, number integer, receiver blob, content blob, primary key (host, number)
) strict, without rowid;
create table if not exists description (id integer primary key check (id = 1), content blob) strict;
create table if not exists journal (number integer primary key, entry blob) strict;
"""


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
    description
        The network in words that a replay understands, kept beside the journal.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        name: str,
        network: int,
        description: bytes | None = None,
    ) -> None:
        self.path = Path(path)
        self._lock = _lock(self.path)
        # SQLite gives the files beside it the permissions of the database itself.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        os.chmod(self.path, 0o600)
        self._base = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            self._open(name, network)
            if description is not None:
                self._base.execute(
                    "insert into description values (1, ?)"
                    " on conflict (id) do update set content = excluded.content",
                    (description,),
                )
        except BaseException:
            self.close()
            raise

    def _open(self, name: str, network: int) -> None:
        run = self._base.execute
        try:
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
            raise ValueError(f"database must be one, got {str(self.path)!r}: {error}") from None
        found = run("select form, name, network from host").fetchone()
        if found != (FORM, name, network):
            raise ValueError(
                f"database must be that of host {name!r} in this network (form {FORM}, "
                f"{network}), got one of {found[1]!r} (form {found[0]}, {found[2]})"
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
        run = self._base.execute
        version, rounds, lives = run("select version, rounds, lives from host").fetchone()
        if lives is None:
            return None
        agents = {_label(name): state for name, state in run("select name, state from agent")}
        links = {host: (sent, taken) for host, sent, taken in run("select * from link")}
        waiting = run("select host, number, receiver, content from outbox order by host, number")
        outbox = [
            (host, number, msgspec.msgpack.decode(to), content)
            for host, number, to, content in waiting
        ]
        return Kept(
            version, rounds, agents, links, outbox, msgspec.msgpack.decode(lives, type=Lives)
        )

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
                    "insert into link values (?, ?, ?) on conflict (host)"
                    " do update set sent = excluded.sent, taken = excluded.taken",
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
            base.execute("commit")
        except sqlite3.Error as error:
            if base.in_transaction:
                base.execute("rollback")
            raise OSError(f"{str(self.path)!r} could not be written: {error}") from error

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
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise ValueError(
            f"database must be ours alone, got {str(path)!r}, which another process has"
        ) from None
    return lock


def is_running(path: Path) -> bool:
    """Whether a process has the database of a host."""
    lock = path.with_suffix(".lock")
    if not lock.exists():
        return False
    try:
        os.close(_lock(path))
    except ValueError:
        return True
    return False


def _key(name: Label) -> bytes:
    return msgspec.msgpack.encode(plain_name(name, "kept"))


def _label(key: bytes) -> Label:
    name: Name = msgspec.msgpack.decode(key)
    return label_of(name)
