"""The tables of a host's database, and the digests that tell damage in them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from mtcool.graphs.labels import label_of
from mtcool.live.residents import COUNT, HEAD
from mtcool.types import Label, Name

FORM = 5
"""Of the tables; one form before is brought up to it, others are refused."""
UPGRADED = 4

TABLES = """
create table if not exists host (
    id integer primary key check (id = 1), form integer, name text, network integer,
    version integer, rounds integer, session integer, digest integer
) strict;
create table if not exists lives (
    id integer primary key check (id = 1), content blob, digest integer
) strict;
create table if not exists agent (
    name blob primary key, state blob, digest integer
) strict, without rowid;
create table if not exists link (
    host text primary key, sent integer, taken integer, dropped integer, heard integer,
    after integer, history integer, digest integer
) strict, without rowid;
create table if not exists outbox (
    host text, number integer, receiver blob, content blob, digest integer,
    primary key (host, number)
) strict, without rowid;
create table if not exists description (
    id integer primary key check (id = 1), content blob, digest integer
) strict;
create table if not exists journal (
    number integer primary key, entry blob, digest integer
) strict;
"""
DIGESTED = {
    "host": "form, name, network, version, rounds, session",
    "lives": "content",
    "agent": "name, state",
    "link": "host, sent, taken, dropped, heard, after, history",
    "outbox": "host, number, receiver, content",
    "description": "content",
    "journal": "entry",
}
"""The columns of each table that its digests are of."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""No honest host counts farther."""


class HostRow(NamedTuple):
    """Whose the database is, and how far it has counted."""

    form: int
    name: str
    network: int
    version: Count
    rounds: Count
    session: int


class AgentRow(NamedTuple):
    """An agent: its name in bytes, and its state."""

    name: bytes
    state: bytes


class LinkRow(NamedTuple):
    """A link: the numbers of `link.Numbers`."""

    host: str
    sent: Count
    taken: Count
    dropped: Count
    heard: Count
    after: Annotated[int, msgspec.Meta(ge=0)]
    history: Annotated[int, msgspec.Meta(ge=0)]


class WaitingRow(NamedTuple):
    """A message that waits for another host."""

    host: str
    number: Count
    receiver: bytes
    content: bytes


class BlobRow(NamedTuple):
    """A row of one blob."""

    content: bytes


Row = TypeVar("Row")
_ENCODE = msgspec.msgpack.Encoder().encode


def digest(*columns: Any) -> int:  # noqa: ANN401 (whatever SQLite has)
    """A digest of the columns of a row, as an integer that SQLite can hold.

    Examples
    --------
    >>> digest("rome", 1) == digest("rome", 1), digest("rome", 1) == digest("rome", 2)
    (True, False)
    """
    return int.from_bytes(blake2b(_ENCODE(columns), digest_size=8).digest()) >> 1


def prepare(base: sqlite3.Connection) -> None:
    """Let statements compute digests, and nothing in a database run anything."""
    base.create_function("digest", -1, digest, deterministic=True)
    base.execute("pragma trusted_schema = off")
    base.execute("pragma cell_size_check = on")
    # To read a view may take for ever, and nobody knows yet whether a name is that of a table.
    if base.execute("select 1 from sqlite_master where sql not like 'create table%'").fetchone():
        raise ValueError("it must have tables and nothing else, got a view, say")


def make_tables(base: sqlite3.Connection) -> None:
    """Make the tables that are not there."""
    for statement in TABLES.split(";\n"):
        base.execute(statement)


def upgrade(base: sqlite3.Connection) -> None:
    """From the form before to this one, within a transaction."""
    run = base.execute
    for name, state in run("select name, state from agent").fetchall():  # it has no offset yet
        told = state[:COUNT] + bytes(HEAD - COUNT) + state[COUNT:]
        run("update agent set state = ? where name = ?", (told, name))
    run("alter table host add column session integer")
    for table in DIGESTED.keys() - {"lives"}:
        run(f"alter table {table} add column digest integer")
    make_tables(base)
    run("insert into lives (id, content) select 1, lives from host where lives is not null")
    run("alter table host drop column lives")
    run("update host set form = ?, session = 0", (FORM,))
    for table, columns in DIGESTED.items():
        run(f"update {table} set digest = digest({columns})")


def check_tables(base: sqlite3.Connection) -> None:
    """Refuse tables that are not ours, and whatever else may stand in a stranger's database."""
    with sqlite3.connect(":memory:") as ours:
        make_tables(ours)
        expected = _statements(ours)
    ours.close()
    strange = _statements(base) ^ expected
    if strange:
        raise ValueError(f"its tables must be those of form {FORM}, got {min(strange)!r}")


def _statements(base: sqlite3.Connection) -> set[str]:
    found = base.execute("select sql from sqlite_master where sql is not null")
    return {_spaced(str(sql)) for (sql,) in found}


def _spaced(sql: str) -> str:
    """A statement with one space between words: SQLite leaves them as they were, also in changes.

    Examples
    --------
    >>> _spaced("create table one (\\n    id integer\\n, digest integer) strict")
    'create table one (id integer, digest integer) strict'
    """
    words = " ".join(sql.split())
    return words.replace("( ", "(").replace(" )", ")").replace(" ,", ",")


def intact(
    base: sqlite3.Connection,
    table: str,
    kind: type[Row],
    what: Callable[[Row], str],
    order: str = "rowid",
) -> Iterator[Row]:
    """The rows of a table as they were written; refuses those with another digest.

    `what` says of a row what it is.
    """
    columns = DIGESTED[table]
    found = base.execute(
        f"select digest is digest({columns}), {columns} from {table} order by {order}"
    )
    try:
        for same, *columns_of_row in found:
            row = msgspec.convert(columns_of_row, kind)
            if not same:
                raise ValueError(f"{what(row)} is damaged: its digest is another")
            yield row
    finally:  # else a row that is refused keeps the database open, if that is not closed by now
        with contextlib.suppress(sqlite3.ProgrammingError):
            found.close()


def agents_in(base: sqlite3.Connection) -> Iterator[AgentRow]:
    """What is kept of each agent."""
    return intact(
        base, "agent", AgentRow, lambda one: f"the state of agent {label_in(one.name)!r}", "name"
    )


def links_in(base: sqlite3.Connection) -> Iterator[LinkRow]:
    """What is kept of each link."""
    return intact(
        base, "link", LinkRow, lambda one: f"what it says of its link with {one.host!r}", "host"
    )


def waiting_in(base: sqlite3.Connection) -> Iterator[WaitingRow]:
    """The messages that wait for other hosts, in order."""
    return intact(
        base,
        "outbox",
        WaitingRow,
        lambda one: f"message {one.number} that waits for {one.host!r}",
        "host, number",
    )


def label_in(key: bytes) -> Label:
    """The name of an agent in the key of its row."""
    return label_of(msgspec.msgpack.decode(key, type=Name))
