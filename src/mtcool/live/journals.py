"""Journals in the databases of hosts, which anybody who may read the file can play again."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mtcool.live.config import Description, drivers_of
from mtcool.live.config.stored import check_runs_nothing, description_in
from mtcool.live.journal import Begun, Entry, Rejected, Snapshot, Taken, entry_bytes, entry_in
from mtcool.live.lock import is_running
from mtcool.live.replay import Replayed, replay
from mtcool.live.schema import (
    FORM,
    UPGRADED,
    BlobRow,
    HostRow,
    agents_in,
    check_tables,
    intact,
    label_in,
    links_in,
    prepare,
    waiting_in,
)
from mtcool.live.snapshots import snapshot_of
from mtcool.live.store import Store
from mtcool.types import Label

BESIDE = "-journal", "-wal", "-shm"
"""Files of SQLite beside a database."""
QUIET = 2.0
"""Seconds after which people who wait are told how far it is."""


class Journal(NamedTuple):
    """The journal of one host, and the network that it was part of."""

    host: str
    network: int
    description: Description | None
    entries: list[Entry]
    outbox: dict[str, list[int]]
    """Numbers of the messages that wait for each other host."""
    agents: dict[Label, bytes]
    """What is kept of each agent: of the same moment as the entries, also if the host runs."""
    running: bool
    """Whether the host was running when this was read."""


def has_journal(path: str | os.PathLike[str]) -> bool:
    """Whether a database is to be read before its host begins.

    Not so if its host was killed at its first start and has written nothing, or if version 0.2.0
    wrote it, which its host brings up to this one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".db") as file:
    ...     has_journal(file.name)
    False
    """
    base = _opened(Path(path))
    try:
        if not base.execute("select count(*) from sqlite_master").fetchone()[0]:
            return False
        return bool(base.execute("select form from host").fetchone() != (UPGRADED,))
    except sqlite3.Error:
        return True  # what is wrong with it, its reader says
    finally:
        base.close()


def _opened(file: Path) -> sqlite3.Connection:
    """A database, to be read and nothing else; refuses pipes, for which SQLite would wait."""
    for end in BESIDE:
        beside = Path(f"{file.resolve()}{end}")
        if beside.exists() and not beside.is_file():
            raise ValueError(f"journals must be in files, got {str(beside)!r}, which is none")
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)


@contextlib.contextmanager
def _whole(file: Path) -> Iterator[None]:
    """Say of whatever is wrong in which database it is, and what to do."""
    try:
        yield
    except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{file} must be the database of a host, and whole, got one that is not: {error}; give "
            "a copy of it that is"
        ) from None


@contextlib.contextmanager
def _read(file: Path) -> Iterator[sqlite3.Connection]:
    """The database of a host as it is at one moment; refuses what is none."""
    if not file.is_file():
        raise ValueError(f"journals must be databases of hosts, got no file {str(file)!r}")
    with contextlib.closing(_opened(file)) as base:
        with _whole(file):
            prepare(base)
            base.execute("begin")  # all that follows is of one moment
            found = base.execute("select form from host").fetchone()
        if found == (UPGRADED,):
            raise ValueError(
                f"{file} must be of form {FORM}, got one of form {UPGRADED}: begin its host once, "
                "which brings it up to this version, or use the version that has written it"
            )
        with _whole(file):
            check_tables(base)
            yield base


def _acknowledged(path: str | os.PathLike[str]) -> tuple[str, dict[str, int]]:
    """A host, and up to which message each other host has acknowledged its messages."""
    with _read(Path(path)) as base:
        (host,) = intact(base, "host", HostRow, lambda _: "what it says of its host")
        found = {one.host: one.sent for one in links_in(base)}
        for one in waiting_in(base):
            found[one.host] = min(found.get(one.host, one.number), one.number - 1)
    return host.name, found


def read_journal(
    path: str | os.PathLike[str], tell: Callable[[str], None] | None = None
) -> Journal:
    """The journal in a database, which a running host may be writing to.

    Parameters
    ----------
    path
        The database.
    tell
        Is told now and then how far it is.
    """
    file = Path(path)
    with _read(file) as base:
        (host,) = intact(base, "host", HostRow, lambda _: "what it says of its host")
        kept = list(intact(base, "description", BlobRow, lambda _: "its description"))
        entries: list[Entry] = []
        last = time.monotonic()
        number = lambda _: f"entry {len(entries) + 1} of its journal"  # noqa: E731
        for row in intact(base, "journal", BlobRow, number, "number"):
            entries.append(entry_in(row.content))
            if tell is not None and time.monotonic() > last + QUIET:
                last = time.monotonic()
                tell(f"{len(entries):,} entries of the journal of {host.name} are read")
        links = {one.host: one.taken for one in links_in(base)}
        outbox: dict[str, list[int]] = {}
        for one in waiting_in(base):
            outbox.setdefault(one.host, []).append(one.number)
        agents = {label_in(one.name): one.state for one in agents_in(base)}
    before = entries[0] if entries and isinstance(entries[0], Snapshot) else None
    begun = sum(isinstance(entry, Begun) for entry in entries)
    begun += 0 if before is None else before.rounds
    if begun != host.rounds:
        raise ValueError(
            f"{file} must have a journal of all {host.rounds:,} rounds, got one of {begun:,}: "
            "write `journal = true` into the network's file, and begin with a fresh state"
        )
    told = {} if before is None else {other: numbers.taken for other, numbers in before.links}
    for entry in entries:
        if isinstance(entry, Taken | Rejected):
            last = entry.first + entry.count - 1
            told[entry.host] = max(last, told.get(entry.host, 0))
    for other, taken in links.items():
        if taken != told.get(other, 0):
            raise ValueError(
                f"{file} must have a journal of all messages, got one up to message "
                f"{told.get(other, 0):,} of {other}, and {taken:,} were taken: it ran without one "
                "for a while"
            )
    try:
        description = description_in(kept[0].content) if kept else None
    except ValueError as error:
        raise ValueError(f"{file} must say what its network is, got {error}") from None
    return Journal(host.name, host.network, description, entries, outbox, agents, is_running(file))


def check_not_running(path: str | os.PathLike[str]) -> None:
    """Refuse the database of a host that runs."""
    if is_running(Path(path)):
        raise ValueError(f"host must be stopped before its journal is pruned, got {path}: it runs")


class Pruned(NamedTuple):
    """What was taken out of a database."""

    entries: int
    rounds: int
    """All that the host has ever begun; a replay begins after them now."""
    bytes: int
    """By which the database and its log are smaller."""


def prune_journal(
    path: str | os.PathLike[str], tell: Callable[[str], None] | None = None
) -> Pruned:
    """Put a snapshot of a host in place of its journal, from which replays begin then.

    The host must not run. What is refused changes nothing.

    Parameters
    ----------
    path
        Its database.
    tell
        Is told now and then how far it is.
    """
    check_not_running(path)
    journal = read_journal(path, tell)
    if not journal.entries:
        raise ValueError(f"{path} must have a journal, got none")
    size = _size(path)
    with Store(path, journal.host, journal.network) as store:
        kept = store.read()
        assert kept is not None  # it has a journal
        snapshot = snapshot_of(kept, journal.host, journal.network)
        store.prune(entry_bytes(snapshot))
    return Pruned(len(journal.entries), kept.rounds, size - _size(path))


def _size(path: str | os.PathLike[str]) -> int:
    """Bytes of a database and its log, which a host that has crashed leaves behind."""
    files = Path(path), Path(f"{os.fspath(path)}-wal")
    return sum(one.stat().st_size for one in files if one.exists())


def replay_files(
    paths: Sequence[str | os.PathLike[str]],
    network: Description | None = None,
    tell: Callable[[str], None] | None = None,
) -> Replayed:
    """Play the journals in these databases again.

    Parameters
    ----------
    paths
        Databases of hosts of one network; messages of hosts whose journals are not among them are
        taken as they came.
    network
        What the network is, if not what the databases say. It must be given if the algorithm, its
        learner or its aggregator are from outside ("module:name"): they are imported, and nothing
        in a database may choose what runs.
    tell
        Is told now and then how far it is.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> from mtcool.live import Node, described
    >>> async def play(folder):
    ...     network = described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...         "learn": {"features": ["x"]}, "shards": {"count": 1}, "journal": True}, folder)
    ...     async with Node(network) as node:
    ...         await node.learn(0, [1.0], 5.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(play(folder))
    ...     again = replay_files([f"{folder}/state/host0.db"])
    >>> again.predictions, again.same, again.differences
    (1, 1, [])
    """
    # Hosts that run go on while one journal is read after the other: what a host had acknowledged
    # before the first of them was read must be in its journal.
    acknowledged = dict(map(_acknowledged, paths))
    journals: dict[str, Journal] = {}
    for path in paths:
        journal = read_journal(path, tell)
        if journal.host in journals:
            raise ValueError(f"journals must be of different hosts, got {journal.host!r} twice")
        journals[journal.host] = journal
    if not journals:
        raise ValueError("journals must be given, got none")
    first, given = next(iter(journals.values())), network is not None
    if network is None:
        network = first.description
    if network is None:
        raise ValueError(f"network must be given, got a journal of {first.host!r} that has none")
    if not given:
        check_runs_nothing(network)
    for journal in journals.values():
        if journal.network != network.number:
            raise ValueError(
                f"journals must be of one network, got that of {journal.host!r} of another"
            )
    # Who was killed before its first transaction has said nothing, and taken nothing.
    return replay(
        [one.entries for one in journals.values() if one.entries],
        drivers_of(network),
        outboxes={name: one.outbox for name, one in journals.items()},
        acknowledged=acknowledged,
        agents={name: one.agents for name, one in journals.items()},
        running=any(one.running for one in journals.values()),
        tell=tell,
    )
