"""zenoh: peer to peer, with TLS on both sides and access by certificate name.

A host asks another on the key `mtcool/NETWORK/TO/FROM`. The one that is asked lets a key in only
from the peer whose certificate names FROM, so the key tells who asks.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

# One thread for all of zenoh's work but sending, before its runtime begins: it takes less of the
# processor where hosts share one. Sending has a thread of its own, because the loop may wait for
# room in its queue while the other thread waits for the loop: they would stand still until zenoh
# gives up the connection, five seconds later.
os.environ.setdefault(
    "ZENOH_RUNTIME",
    "(app: (worker_threads: 1, max_blocking_threads: 4), acc: (handover: app), "
    "net: (handover: app), rx: (handover: app), tx: (worker_threads: 1, max_blocking_threads: 4))",
)

from mtcool.live.extra import told_if_missing
from mtcool.live.transport.lingering import linger_not
from mtcool.live.transport.transport import LONGEST_WAIT, Answer

with told_if_missing():
    import zenoh

QUEUE = {
    "size": {"data": 4},
    "congestion_control": {"drop": {"wait_before_drop": 50_000}},
}
"""Of zenoh, for each link: batches, and microseconds for which a full one is waited for."""
LOOK = 1.0
"""Seconds between two looks for new connections, at most."""
ENVELOPE = 1 << 16
"""Bytes that zenoh adds to a message, at most, and room for what is too long by less than that."""


class Credentials(NamedTuple):
    """The files of a host that `mtcool certs` makes."""

    authority: Path
    certificate: Path
    key: Path


class Peers(NamedTuple):
    """Where a host listens, and where the hosts are that it talks to."""

    network: int
    name: str
    listen: str
    others: Mapping[str, str]
    lease: float
    credentials: Credentials | None
    """None for plain connections, where everybody is believed."""
    largest: int
    """Bytes of a question or a reply that reach those who refuse what is too long; much longer ones
    do not even arrive."""


class ZenohTransport:
    """Carries questions between processes with zenoh.

    Parameters
    ----------
    peers
        Where everybody is.
    """

    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self._session: zenoh.Session | None = None
        self._queriers: dict[str, zenoh.Querier] = {}
        self._tending: asyncio.Task[None] | None = None

    async def open(self, answer: Answer) -> None:
        """Open the session; peers that are not there yet are tried again and again."""
        self._loop, self._answer = asyncio.get_running_loop(), answer
        opening = asyncio.ensure_future(asyncio.to_thread(self._open))
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            await opening  # a thread cannot be stopped, and its session must not stay
            await self.close()
            raise
        except zenoh.ZError as error:
            await self.close()
            where, why = self._peers.listen, str(error).partition(" at /")[0]
            raise OSError(f"listen must be an address that is free, got {where}: {why}") from None
        self._tending = asyncio.create_task(self._tend())

    async def _tend(self) -> None:
        """Prepare connections for their end, before any of them can be given up."""
        here, *there = (
            int(address.rpartition(":")[2])
            for address in (self._peers.listen, *self._peers.others.values())
        )
        while True:
            linger_not(here, there)
            await asyncio.sleep(min(LOOK, self._peers.lease / 4))

    def _open(self) -> None:
        config = zenoh.Config.from_json5(json.dumps(configuration(self._peers)))
        session = self._session = zenoh.open(config)
        prefix, me = f"mtcool/{self._peers.network:x}", self._peers.name
        self._queryable = session.declare_queryable(
            f"{prefix}/{me}/*", zenoh.handlers.Callback(self._take, indirect=False)
        )
        for host in self._peers.others:
            self._queriers[host] = session.declare_querier(
                f"{prefix}/{host}/{me}",
                target=zenoh.QueryTarget.BEST_MATCHING,
                consolidation=zenoh.ConsolidationMode.NONE,
                timeout=LONGEST_WAIT,
                express=True,
                # Blocking would hold up the loop while a neighbour does not read.
                congestion_control=zenoh.CongestionControl.DROP,
            )

    # --- asking -----------------------------------------------------------------------------------

    async def ask(self, questions: Mapping[str, bytes], timeout: float) -> dict[str, bytes]:
        """Ask several hosts at once; replies are collected on zenoh's thread."""
        asked = _Asked(len(questions), self._loop)
        for host, content in questions.items():
            asked.send(self._queriers.get(host), host, content)
        handle = self._loop.call_later(timeout, asked.give_up)
        try:
            await asked.done
        finally:
            handle.cancel()
        return dict(asked.replies)

    # --- answering --------------------------------------------------------------------------------

    def _take(self, query: zenoh.Query) -> None:
        """On zenoh's thread."""
        host, payload = str(query.key_expr).rpartition("/")[2], query.payload
        content = b"" if payload is None else payload.to_bytes()
        self._answer(host, content, functools.partial(_reply, query))

    async def close(self) -> None:
        """Close the session."""
        if self._tending is not None:
            self._tending.cancel()
            await asyncio.gather(self._tending, return_exceptions=True)
        session, self._session = self._session, None
        self._queriers.clear()
        if session is not None:
            await asyncio.to_thread(session.close)


class _Asked:
    """Questions under way together, and the replies so far."""

    def __init__(self, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self.replies: dict[str, bytes] = {}
        self.done: asyncio.Future[None] = loop.create_future()
        self._count, self._loop = count, loop
        self._ended: list[None] = []
        """One for each question that has ended: appending is safe on any thread."""
        if count == 0:
            self.done.set_result(None)

    def send(self, querier: zenoh.Querier | None, host: str, question: bytes) -> None:
        replies = self.replies

        def take(reply: zenoh.Reply) -> None:
            sample = reply.ok
            if sample is not None:
                replies[host] = sample.payload.to_bytes()

        if querier is None:  # the session is being opened again
            self._end()
            return
        try:
            querier.get(zenoh.handlers.Callback(take, self._end, indirect=False), payload=question)
        except zenoh.ZError:  # the session is closed
            self._end()

    def _end(self) -> None:
        """On zenoh's thread: a question has ended, with a reply or without."""
        self._ended.append(None)
        if len(self._ended) == self._count:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.give_up)

    def give_up(self) -> None:
        """On the loop's thread: nobody waits any longer."""
        if not self.done.done():
            self.done.set_result(None)


def _reply(query: zenoh.Query, content: bytes) -> None:
    try:
        query.reply(query.key_expr, content)
    except zenoh.ZError:  # the session is closed
        return
    query.drop()  # type: ignore[no-untyped-call]


def configuration(peers: Peers) -> dict[str, object]:
    """zenoh's configuration: explicit endpoints, no discovery, default deny."""
    secure = peers.credentials is not None
    scheme = "tls" if secure else "tcp"
    retry = {"period_init_ms": 50, "period_max_ms": 1000, "period_increase_factor": 1.5}
    config: dict[str, object] = {
        "mode": "peer",
        "listen": {"endpoints": [f"{scheme}/{peers.listen}"]},
        "connect": {
            "endpoints": [f"{scheme}/{address}" for address in peers.others.values()],
            # Without end, and in the background: else a host whose packets vanish would be waited
            # for before the next one is tried.
            "timeout_ms": -1,
            "exit_on_failure": False,
            "retry": retry,
        },
        "scouting": {"multicast": {"enabled": False}, "gossip": {"enabled": False}},
        "access_control": _access(peers),
    }
    transport: dict[str, object] = {
        "unicast": {"open_timeout": 5000, "accept_timeout": 5000},
        "link": {
            "tx": {"lease": int(1000 * peers.lease), "keep_alive": 4, "queue": QUEUE},
            "rx": {"max_message_size": peers.largest + ENVELOPE},
        },
        # Between processes of one machine it would carry long messages past TLS, in files that stay
        # when a process is killed, and take tens of megabytes from the first such message on.
        "shared_memory": {"enabled": False},
    }
    if peers.credentials is not None:
        link: dict[str, object] = {
            "root_ca_certificate": str(peers.credentials.authority),
            "listen_certificate": str(peers.credentials.certificate),
            "listen_private_key": str(peers.credentials.key),
            "connect_certificate": str(peers.credentials.certificate),
            "connect_private_key": str(peers.credentials.key),
            "enable_mtls": True,
            "verify_name_on_connect": False,  # certificates name hosts of the network
        }
        transport["link"] = {**transport["link"], "tls": link}  # type: ignore[dict-item]
    config["transport"] = transport
    return config


def _access(peers: Peers) -> dict[str, object]:
    """Each other host may ask on its own key and answer on its own, and nothing else."""
    network, me = f"mtcool/{peers.network:x}", peers.name
    # zenoh tries questions for others, too, on a connection that is being opened. The one who asks
    # holds them back if it knows by a certificate who is there; otherwise they come, and it is no
    # intruder who sends them: they are let in, and nobody here answers them.
    asked = me if peers.credentials is not None else "*"
    rules, subjects, policies = [], [], []
    for host in peers.others:
        incoming, outgoing = f"{network}/{me}/{host}", f"{network}/{host}/{me}"
        rules += [
            _rule(f"{host} asks", ["query"], ["ingress"], [f"{network}/{asked}/{host}"]),
            _rule(f"{host} is answered", ["reply"], ["egress"], [incoming]),
            _rule(f"{host} hears of us", ["declare_queryable"], ["egress"], [f"{network}/{me}/*"]),
            _rule(f"{host} is asked", ["query"], ["egress"], [outgoing]),
            _rule(f"{host} answers", ["reply"], ["ingress"], [outgoing]),
            _rule(
                f"{host} is heard of", ["declare_queryable"], ["ingress"], [f"{network}/{host}/*"]
            ),
        ]
        names = [
            f"{host} {what}"
            for what in ("asks", "is answered", "hears of us", "is asked", "answers", "is heard of")
        ]
        subject: dict[str, object] = {"id": host}
        if peers.credentials is not None:
            subject["cert_common_names"] = [host]
        subjects.append(subject)
        policies.append({"id": f"{host} here", "rules": names, "subjects": [host]})
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": rules,
        "subjects": subjects,
        "policies": policies,
    }


def _rule(name: str, messages: list[str], flows: list[str], keys: list[str]) -> dict[str, object]:
    return {
        "id": name,
        "messages": messages,
        "flows": flows,
        "permission": "allow",
        "key_exprs": keys,
    }
