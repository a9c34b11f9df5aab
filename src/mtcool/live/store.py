"""What a host keeps on disk: one SQLite file, written in transactions that survive a power cut."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from mtcool.graphs.labels import label_of, plain_name
from mtcool.live.journal import Lives
from mtcool.live.link import Numbers
from mtcool.live.lock import CLOSED, MEND, Lock
from mtcool.live.residents import learned_in
from mtcool.live.rollback import MEND as MEND_PRIVATE
from mtcool.live.rollback import RollbackCounter
from mtcool.live.schema import (
    DIGESTED,
    FORM,
    UPGRADED,
    BlobRow,
    HostRow,
    agents_in,
    check_tables,
    intact,
    label_in,
    links_in,
    make_tables,
    prepare,
    upgrade,
    waiting_in,
)
from mtcool.live.transactions import Checkpoint, Transaction
from mtcool.types import Label, Name

PASSING = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY}
"""Errors of the disk rather than of the database: it may work later."""
FIRST_BYTE = 0xFF  # of an error's number, which says what it is about

DESCRIBE = "insert or replace into description values (1, ?1, digest(?1))"
HOST = """
update host set version = ?1, rounds = ?2,
    digest = digest(form, name, network, ?1, ?2, session) where session = ?3
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
    private
        Whether agents draw noise: then an older copy is refused, by a counter beside the file.
    """

    def __init__(
        self, path: str | os.PathLike[str], name: str, network: int, *, private: bool = False
    ) -> None:
        self.path = Path(path)
        self._lock = Lock(self.path)
        self._counter = RollbackCounter(self.path) if private else None
        self._mend = MEND_PRIVATE if private else MEND
        """What to do when the database is damaged."""
        self._session = secrets.randbits(62) + 1
        """A number that no other process writes with."""
        self._opened, self._process = False, os.getpid()
        try:
            self._lock.check_not_empty(self._mend)
            # SQLite gives the files beside it the permissions of the database itself.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            os.chmod(self.path, 0o600)
            self._base = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        except BaseException:
            self._lock.close()
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
        run, path = self._base.execute, str(self.path)
        try:
            with self._whole():
                prepare(self._base)
            form, before = self._check_whose(name, network)
            run("pragma journal_mode = wal")
            run("pragma synchronous = full")
            run("begin immediate")
            if form == UPGRADED:
                upgrade(self._base)
            elif form is None:
                make_tables(self._base)
                new = FORM, name, network
                run("insert into host values (1, ?, ?, ?, 0, 0, 0, null)", new)
            with self._whole():
                check_tables(self._base)
                drawn = 0 if self._counter is None else self._drawn()
            if self._counter is not None:
                self._counter.begin(drawn, new=form != FORM)
            run("update host set session = ?", (self._session,))
            run(f"update host set digest = digest({DIGESTED['host']})")
            self._lock.note(before, self._session)
            run("commit")
            self._lock.note(self._session)
            self._opened = True
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            number = getattr(error, "sqlite_errorcode", 0)  # none if a text is no UTF-8
            if number & FIRST_BYTE in PASSING:
                raise OSError(f"{path!r} could not be opened: {error}") from None
            raise ValueError(f"database must be one, got {path!r}: {error}; {self._mend}") from None

    def _check_whose(self, name: str, network: int) -> tuple[int | None, int]:
        """Refuse a file of somebody else before anything is written into it.

        Returns the form of its tables, None if there are none, and who has written it last.
        """
        run, path = self._base.execute, str(self.path)
        tables = {table for (table,) in run("select name from sqlite_master where type = 'table'")}
        if not tables:
            self._lock.check_last(0)
            return None, 0
        if "host" not in tables:
            raise ValueError(f"database must be that of a host, got {path!r}, which is another's")
        found = run("select form, name, network from host").fetchone()
        if found is None:
            raise ValueError(
                f"database must be whole, got {path!r} that does not say whose it is; {self._mend}"
            )
        form = found[0]
        if form not in (FORM, UPGRADED):
            raise ValueError(
                f"database must be of form {FORM}, or {UPGRADED}, which is brought up to it, got "
                f"{path!r} of form {form}: start it with the version of mtcool that has made it"
            )
        if found[1] != name:
            raise ValueError(f"database must be that of {name!r}, got {path!r} of {found[1]!r}")
        if found[2] != network:
            raise ValueError(
                f"database must be that of this network, got {path!r} of one with another name, "
                "features, algorithm or privacy; remove it to begin anew, or give `state` another "
                "folder"
            )
        if form == UPGRADED:
            return form, 0
        with self._whole():
            check_tables(self._base)
            (host,) = intact(self._base, "host", HostRow, lambda _: "what it says of its host")
        self._lock.check_last(host.session)
        return form, host.session

    def _drawn(self) -> int:
        """How often agents have learned, and so have drawn noise, if they are private."""
        return sum(learned_in(one.state) for one in agents_in(self._base))

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """Say of whatever is wrong in which database it is, and what to do."""
        try:
            yield
        except (ValueError, TypeError, RecursionError) as error:
            path = str(self.path)
            raise ValueError(
                f"database must be whole, got {path!r}: {error}; {self._mend}"
            ) from None

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
        """Close the file; what was written stays. A forked process leaves it to its parent."""
        if self._process != os.getpid():
            return
        if self._opened:
            with contextlib.suppress(OSError, sqlite3.Error):
                self._empty_log()
        self._base.close()
        if self._opened and not Path(f"{self.path}-wal").exists():  # all of it is in one file
            with contextlib.suppress(OSError):  # the disk is full: what stands there is true, too
                self._lock.note(CLOSED)
        self._lock.close()

    def _empty_log(self) -> None:
        """Let all stand in one file; we may be killed as soon as the log is empty."""
        self._lock.note(self._session, CLOSED)
        busy = 1
        try:
            self._base.execute("pragma busy_timeout = 0")  # nobody waits for who reads it
            (busy, *_) = self._base.execute("pragma wal_checkpoint(truncate)").fetchone()
        finally:
            if busy:  # the log is still wanted
                self._lock.note(self._session)

    def read(self) -> Checkpoint | None:
        """What the host was when it stopped; None if it is new."""
        self._check_process()
        try:
            self._roll_back()  # a transaction that failed must not be read
            self.check_ours()
            with self._whole():
                kept = self._read()
                if self._counter is not None:  # a transaction may be there that was not counted
                    self._counter.count(self._drawn())
            return kept
        except sqlite3.Error as error:
            raise OSError(f"{str(self.path)!r} could not be read: {error}") from error

    def _read(self) -> Checkpoint | None:
        base = self._base
        (host,) = intact(base, "host", HostRow, lambda _: "what it says of its host")
        found = {one.name: one.state for one in list(agents_in(base))}
        lives = list(intact(base, "lives", BlobRow, lambda _: "what it says of who lives there"))
        if not lives:
            if found:
                raise ValueError("it does not say who lives there")
            return None
        who = msgspec.msgpack.decode(lives[0].content, type=Lives)
        # By keys, which tell 1 from 1.0: an agent is kept under one of its names.
        names = {_key(label): label for label in map(label_of, [*who.here, *who.left])}
        if len({label_in(key) for key in found}) < len(found):
            raise ValueError("it has an agent twice, under names that are equal, such as 1 and 1.0")
        for key in names.keys() ^ found.keys():
            what = "is missing" if key in names else "does not live there"
            raise ValueError(f"agent {label_in(key)!r} {what}")
        agents = {names[key]: state for key, state in found.items()}
        links = {one.host: Numbers(*one[1:]) for one in list(links_in(base))}
        outbox = [
            (one.host, one.number, msgspec.msgpack.decode(one.receiver, type=Name), one.content)
            for one in list(waiting_in(base))
        ]
        others = {other for _, other in who.home} - {host.name}
        for other, waiting in itertools.groupby(outbox, key=lambda one: one[0]):
            if other not in others:
                raise ValueError(f"messages wait for {other!r}, where no neighbour lives")
            numbers = [number for _, number, *_ in waiting]
            last = links[other].sent if other in links else 0
            if numbers != list(range(last + 1 - len(numbers), last + 1)):
                raise ValueError(f"messages that wait for {other!r} must end with number {last}")
        return Checkpoint(host.version, host.rounds, agents, links, outbox, who, str(self.path))

    def _check_process(self) -> None:
        """Refuse a forked process, whose parent goes on with the database."""
        if self._process != os.getpid():
            raise OSError(
                f"database must be used by the process that has opened it, got {str(self.path)!r} "
                f"of process {self._process} in process {os.getpid()}, which was forked"
            )

    def check_ours(self) -> None:
        """Refuse to go on when another process has opened the database since."""
        self._check_process()
        (session,) = self._base.execute("select session from host").fetchone() or (0,)
        if session != self._session:
            raise OSError(
                f"database must be ours alone, got {str(self.path)!r}, which another process has "
                f"opened since: the file of its lock, '{self._lock.path}', was removed"
            )

    def write(self, changes: Transaction) -> None:
        """Write all changes, or none: an OSError says that they could not be written."""
        base = self._base
        self._check_process()
        try:
            base.execute("begin immediate")
            self.check_ours()
            base.execute(HOST, (changes.version, changes.rounds, self._session))
            if changes.share is not None:
                lives = msgspec.msgpack.encode(changes.share)
                base.execute("insert or replace into lives values (1, ?1, digest(?1))", (lives,))
            if changes.agents:
                base.executemany(
                    "insert into agent values (?1, ?2, digest(?1, ?2)) on conflict (name)"
                    " do update set state = excluded.state, digest = excluded.digest",
                    [(_key(name), state) for name, state in changes.agents.items()],
                )
            if changes.links:
                base.executemany(
                    "insert or replace into link values"
                    " (?1, ?2, ?3, ?4, ?5, ?6, ?7, digest(?1, ?2, ?3, ?4, ?5, ?6, ?7))",
                    [(host, *numbers) for host, numbers in changes.links.items()],
                )
            if changes.outbox:
                base.executemany(
                    "insert into outbox values (?1, ?2, ?3, ?4, digest(?1, ?2, ?3, ?4))",
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
                    "insert into journal (entry, digest) values (?1, digest(?1))",
                    [(one,) for one in changes.journal],
                )
            if changes.description is not None:
                base.execute(DESCRIBE, (changes.description,))
            base.execute("commit")
        except Exception as error:
            with contextlib.suppress(sqlite3.Error):  # `read` tries again, and says so
                self._roll_back()
            damaged = getattr(error, "sqlite_errorcode", 0) & FIRST_BYTE == sqlite3.SQLITE_CORRUPT
            what = f"{error}; {self._mend}" if damaged else error
            raise OSError(f"{str(self.path)!r} could not be written: {what}") from error
        if self._counter is not None:  # before anything is seen that rests on this noise
            self._count(self._counter, changes.drawn)

    def _count(self, counter: RollbackCounter, drawn: int) -> None:
        try:
            counter.count(drawn)
        except OSError as error:
            raise OSError(
                f"'{counter.path}' could not be written: {error}; the database was, so what was to "
                "be learned is: do not learn from it again"
            ) from error

    def prune(self, snapshot: bytes) -> None:
        """Write a snapshot of the host in place of its journal, and give back the room on disk."""
        run = self._base.execute
        try:
            run("begin immediate")
            self.check_ours()
            run("delete from journal")
            run("insert into journal (entry, digest) values (?1, digest(?1))", (snapshot,))
            run("commit")
        except sqlite3.Error as error:
            self._roll_back()
            raise OSError(f"{str(self.path)!r} could not be written: {error}") from error
        with contextlib.suppress(sqlite3.Error):  # no room for a copy: entries to come use this one
            run("vacuum")

    def _roll_back(self) -> None:
        if self._base.in_transaction:
            self._base.execute("rollback")


def _key(name: Label) -> bytes:
    return msgspec.msgpack.encode(plain_name(name, "kept"))
