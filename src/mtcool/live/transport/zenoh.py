"""zenoh: peer to peer, with TLS on both sides and access by certificate name.

A host asks another on the key `mtcool/NETWORK/TO/FROM`. The one that is asked lets a key in only
from the peer whose certificate names FROM, so the key tells who asks.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections import deque
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

import zenoh

from mtcool.live.transport.transport import Answer, Reply


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
    """Bytes of a question; longer ones are refused."""


class ZenohTransport:
    """Carries questions between processes with zenoh."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self._session: zenoh.Session | None = None
        self._queriers: dict[str, zenoh.Querier] = {}
        self._arrived: deque[zenoh.Query] = deque()
        self._scheduled = False

    async def open(self, answer: Answer) -> None:
        """Open the session; peers that are not there yet are tried again and again."""
        self._loop, self._answer = asyncio.get_running_loop(), answer
        config = zenoh.Config.from_json5(json.dumps(configuration(self._peers)))
        self._session = await asyncio.to_thread(zenoh.open, config)
        mine = f"mtcool/{self._peers.network:x}/{self._peers.name}/*"
        self._queryable = self._session.declare_queryable(
            mine, zenoh.handlers.Callback(self._take, indirect=False)
        )
        for host in self._peers.others:
            self.meet(host)

    def meet(self, host: str) -> None:
        """Be ready to ask a host."""
        if self._session is None:
            raise ValueError("transport must be open")
        self._queriers[host] = self._session.declare_querier(
            f"mtcool/{self._peers.network:x}/{host}/{self._peers.name}",
            target=zenoh.QueryTarget.BEST_MATCHING,
            consolidation=zenoh.ConsolidationMode.NONE,
            timeout=60.0,
            express=True,
        )

    # --- asking -----------------------------------------------------------------------------------

    async def ask(self, questions: Mapping[str, bytes], timeout: float) -> dict[str, bytes]:
        """Ask several hosts at once; replies are collected on zenoh's thread."""
        asked = _Asked(len(questions), self._loop)
        for host, content in questions.items():
            asked.send(self._queriers[host], host, content)
        handle = self._loop.call_later(timeout, asked.give_up)
        try:
            await asked.done
        finally:
            handle.cancel()
        return dict(asked.replies)

    # --- answering --------------------------------------------------------------------------------

    def _take(self, query: zenoh.Query) -> None:
        """On zenoh's thread: hand a question over to the loop, which is woken once for many."""
        self._arrived.append(query)
        if not self._scheduled:
            self._scheduled = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: so is this host
                self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        self._scheduled = False
        while self._arrived:
            query = self._arrived.popleft()
            payload, host = query.payload, str(query.key_expr).rpartition("/")[2]
            if payload is None or len(payload) > self._peers.largest:
                content = b""  # it is refused like all that cannot be understood
            else:
                content = payload.to_bytes()
            self._answer(host, content, _replier(query))

    async def close(self) -> None:
        """Close the session."""
        session, self._session = self._session, None
        if session is not None:
            await asyncio.to_thread(session.close)


class _Asked:
    """Questions under way together, and the replies so far."""

    def __init__(self, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self.replies: dict[str, bytes] = {}
        self.done: asyncio.Future[None] = loop.create_future()
        self._open, self._loop = count, loop
        if count == 0:
            self.done.set_result(None)

    def send(self, querier: zenoh.Querier, host: str, content: bytes) -> None:
        def take(reply: zenoh.Reply) -> None:
            if reply.ok is not None:
                self.replies[host] = reply.ok.payload.to_bytes()

        querier.get(zenoh.handlers.Callback(take, self._end, indirect=False), payload=content)

    def _end(self) -> None:
        """On zenoh's thread: a question has ended, with a reply or without."""
        self._open -= 1
        if self._open == 0:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.give_up)

    def give_up(self) -> None:
        """On the loop's thread: nobody waits any longer."""
        if not self.done.done():
            self.done.set_result(None)


def _replier(query: zenoh.Query) -> Reply:
    def reply(content: bytes) -> None:
        query.reply(query.key_expr, content)
        query.drop()  # type: ignore[no-untyped-call]

    return reply


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
            "timeout_ms": 0,
            "exit_on_failure": False,
            "retry": retry,
        },
        "scouting": {"multicast": {"enabled": False}, "gossip": {"enabled": False}},
        "access_control": _access(peers),
    }
    transport: dict[str, object] = {
        "unicast": {"open_timeout": 5000, "accept_timeout": 5000},
        "link": {"tx": {"lease": int(1000 * peers.lease), "keep_alive": 4}},
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
    rules, subjects, policies = [], [], []
    for host in peers.others:
        incoming, outgoing = f"{network}/{me}/{host}", f"{network}/{host}/{me}"
        rules += [
            _rule(f"{host} asks", ["query"], ["ingress"], [incoming]),
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
    if not rules:
        return {"enabled": False}
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
