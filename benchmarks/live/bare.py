"""Floors: what zenoh and SQLite take by themselves, configured as a node configures them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from mtcool.live.config import Description
from mtcool.live.store import TABLES
from mtcool.live.transactions import Transaction

# This one first: it says how many threads zenoh has, for all in this process.
from mtcool.live.transport.zenoh import LONGEST_WAIT, Credentials, Peers, configuration  # isort: skip
import zenoh  # isort: skip

OTHER = 1_000
"""Added to the network's number: bare sessions must not meet those of the nodes."""


def peers(network: Description, name: str) -> Peers:
    """What a host of the network is to a bare session."""
    share, places, certs = network.share(name), network.places, network.folder / "certs"
    others = {other: places[other].address for other in share.others}
    credentials = Credentials(certs / "authority.pem", certs / f"{name}.pem", certs / f"{name}.key")
    return Peers(
        share.network + OTHER, name, places[name].listen, others, 5.0, credentials, 1 << 20
    )


class BareZenoh:
    """A session that sends back what it is asked, and asks others.

    It replies on zenoh's own thread, or on a loop, if one is given.
    """

    def __init__(self, me: Peers, loop: asyncio.AbstractEventLoop | None = None) -> None:
        def on_the_loop(query: zenoh.Query) -> None:
            loop.call_soon_threadsafe(_echo, query)

        answer = _echo if loop is None else on_the_loop
        self._session = zenoh.open(zenoh.Config.from_json5(json.dumps(configuration(me))))
        keys = f"mtcool/{me.network:x}"
        self._echo = self._session.declare_queryable(
            f"{keys}/{me.name}/*", zenoh.handlers.Callback(answer, indirect=False)
        )
        self._queriers = [
            self._session.declare_querier(
                f"{keys}/{host}/{me.name}",
                target=zenoh.QueryTarget.BEST_MATCHING,
                consolidation=zenoh.ConsolidationMode.NONE,
                timeout=LONGEST_WAIT,
                express=True,
                congestion_control=zenoh.CongestionControl.DROP,
            )
            for host in me.others
        ]

    def ask(self, content: bytes, done: Callable[[], None]) -> list[bytes]:
        """Ask all others at once; zenoh's thread calls `done` after the last reply."""
        replies: list[bytes] = []
        waiting = len(self._queriers)

        def take(reply: zenoh.Reply) -> None:
            replies.append(reply.ok.payload.to_bytes())

        def end() -> None:
            nonlocal waiting
            waiting -= 1
            if waiting == 0:
                done()

        for querier in self._queriers:
            querier.get(zenoh.handlers.Callback(take, end, indirect=False), payload=content)
        return replies

    def ask_and_wait(self, content: bytes) -> int:
        """Ask all others at once; returns how many have replied. The thread sleeps meanwhile."""
        event = threading.Event()
        replies = self.ask(content, event.set)
        event.wait(2.0)
        return len(replies)

    def close(self) -> None:
        self._session.close()


def _echo(query: zenoh.Query) -> None:
    query.reply(query.key_expr, query.payload.to_bytes())
    query.drop()


class BareSqlite:
    """The rows of transactions, in tables like those of a host, with nothing between."""

    def __init__(self, path: Path) -> None:
        self._base = sqlite3.connect(path, isolation_level=None)
        self._base.execute("pragma journal_mode = wal")
        self._base.execute("pragma synchronous = full")
        self._base.executescript(TABLES)
        self._base.execute("insert into host values (1, 1, 'bare', 1, 0, 0, null)")

    def write(self, statements: Iterable[tuple[str, list[tuple]]]) -> None:
        """One synchronised transaction."""
        self._base.execute("begin immediate")
        for statement, rows in statements:
            self._base.executemany(statement, rows)
        self._base.execute("commit")

    def close(self) -> None:
        self._base.close()


def statements_of(changes: Transaction) -> list[tuple[str, list[tuple]]]:
    """What a transaction of a node writes, as statements and rows."""
    encode = msgspec.msgpack.encode
    found = [
        ("update host set version = ?, rounds = ?", [(changes.version, changes.rounds)]),
        ("insert into agent values (?, ?) on conflict (name) do update set state = excluded.state",
         [(encode(name), state) for name, state in changes.agents.items()]),
        ("insert or replace into link values (?, ?, ?, ?, ?, ?, ?)",
         [(host, *numbers) for host, numbers in changes.links.items()]),
        ("insert into outbox values (?, ?, ?, ?)",
         [(host, number, encode(to), content) for host, number, to, content in changes.outbox]),
    ]  # fmt: skip
    return [(statement, rows) for statement, rows in found if rows]
