"""Journals in the databases of hosts, which anybody who may read the file can play again."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from mtcool.live.description import Description, described, drivers_of
from mtcool.live.journal import Begun, Entry, entry_in
from mtcool.live.replay import Replayed, replay
from mtcool.live.store import FORM, is_running


class Journal(NamedTuple):
    """The journal of one host, and the network that it was part of."""

    host: str
    network: int
    description: Description | None
    entries: list[Entry]
    outbox: dict[str, list[int]]
    """Numbers of the messages that wait for each other host."""
    running: bool
    """Whether the host was running when this was read."""


class _Kept(msgspec.Struct, array_like=True):
    folder: str
    table: msgspec.Raw


def kept_description(network: Description) -> bytes:
    """A description as it is kept in a database: its table, and the folder that it speaks of."""
    table = msgspec.Raw(msgspec.json.encode(network.file))
    return msgspec.json.encode(_Kept(str(network.folder.resolve()), table))


def read_journal(path: str | os.PathLike[str]) -> Journal:
    """The journal in a database, which a running host may be writing to."""
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"journals must be databases of hosts, got no file {str(file)!r}")
    base = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        base.execute("begin")  # all that follows is of one moment
        form, host, network, rounds = base.execute(
            "select form, name, network, rounds from host"
        ).fetchone()
        if form != FORM:
            raise ValueError(f"{file} must be of form {FORM}, got form {form}")
        kept = base.execute("select content from description").fetchone()
        found = base.execute("select entry from journal order by number")
        entries = [entry_in(entry) for (entry,) in found]
        outbox: dict[str, list[int]] = {}
        for other, number in base.execute("select host, number from outbox order by number"):
            outbox.setdefault(other, []).append(number)
    except (sqlite3.Error, TypeError) as error:
        raise ValueError(f"{file} must be the database of a host, got {error}") from None
    finally:
        base.close()
    begun = sum(isinstance(entry, Begun) for entry in entries)
    if begun != rounds:
        raise ValueError(
            f"{file} must have a journal of all {rounds:,} rounds, got one of {begun:,}: write "
            "`journal = true` into the network's file, and begin with a fresh state"
        )
    description = None if kept is None else _description(kept[0])
    return Journal(host, network, description, entries, outbox, is_running(file))


def _description(kept: bytes) -> Description:
    content = msgspec.json.decode(kept, type=_Kept)
    return described(msgspec.json.decode(content.table), content.folder)


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
        What the network is, if not what the databases say.
    tell
        Is told now and then how far it is.
    """
    journals: dict[str, Journal] = {}
    for path in paths:
        journal = read_journal(path)
        if journal.host in journals:
            raise ValueError(f"journals must be of different hosts, got {journal.host!r} twice")
        journals[journal.host] = journal
    if not journals:
        raise ValueError("journals must be given, got none")
    first = next(iter(journals.values()))
    if network is None:
        network = first.description
    if network is None:
        raise ValueError(f"network must be given, got a journal of {first.host!r} that has none")
    for journal in journals.values():
        if journal.network != network.number:
            raise ValueError(
                f"journals must be of one network, got that of {journal.host!r} of another"
            )
    return replay(
        [one.entries for one in journals.values()],
        drivers_of(network),
        outboxes={name: one.outbox for name, one in journals.items()},
        running=any(one.running for one in journals.values()),
        tell=tell,
    )
