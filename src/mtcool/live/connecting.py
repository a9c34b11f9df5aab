"""The transport of a node: opened as the description says, and opened again when that changes."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING

from mtcool.live.counts import Counts
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport
from mtcool.live.transport.transport import Answer, Transport

if TYPE_CHECKING:
    from mtcool.live.config import Description
    from mtcool.live.node import Node
    from mtcool.live.transport.zenoh import Peers

PAUSE = 1.0
"""Seconds until an address that was taken is tried again."""


class Connection:
    """How a node reaches others.

    Who may come in is fixed when zenoh opens, and two sessions cannot listen at one address. So for
    a moment in a reload there is none: neighbours do not answer then, and their last rows are used.

    Parameters
    ----------
    node
        Whose it is.
    given
        A transport to use instead of zenoh.
    counts
        Where messages are counted.
    """

    def __init__(self, node: Node, given: Transport | None, counts: Counts) -> None:
        self._node, self._given, self._counts = node, given, counts
        self.silent: set[str] = set()
        """Hosts that were asked, and have not answered for as long as a delivery waits."""
        self.slow: set[str] = set()
        """Hosts that answer, but later than predictions wait for."""
        self._heard: dict[str, float] = {}
        """When each host answered last, on the clock of the loop."""
        self.cut: set[str] = set()
        """Hosts that it does not talk to and does not hear, to try out what happens then."""
        self._peers: Peers | None = None
        self._nobody = MemoryTransport(node.name, MemoryExchange())
        self.transport: Transport = self._nobody
        self._changing: asyncio.Task[None] | None = None
        self._trying: asyncio.Task[None] | None = None

    async def open(self, answer: Answer) -> None:
        """Begin; questions of others go to `answer`."""
        self._answer = answer
        if self._given is not None:
            await self._given.open(answer)
            self.transport = self._given
        else:
            await self._open(self.wanted(self._node.network, self._node.host.links))

    async def _open(self, peers: Peers | None) -> None:
        """A host without links has no business with others, and opens no port."""
        self._peers = peers
        if peers is not None:
            from mtcool.live.transport.zenoh import ZenohTransport

            transport = ZenohTransport(peers)
            await transport.open(self._answer)
            self.transport = transport

    async def ask(
        self, questions: Mapping[str, bytes], wait: float, again: int = 0
    ) -> dict[str, bytes]:
        """Ask other hosts; those that are cut off are left out.

        So many bytes of each question were sent before.
        """
        reached = {host: asked for host, asked in questions.items() if host not in self.cut}
        kinds = {
            host: self._counts.leaves(host, content, again=again)
            for host, content in reached.items()
        }
        loop = asyncio.get_running_loop()
        began = loop.time()
        replies = await self.transport.ask(reached, wait) if reached else {}
        now, timing = loop.time(), self._node.network.file.timing
        in_time = now - began <= timing.rows
        for host in questions:
            if host in replies:
                self._counts.comes(replies[host], kinds[host])
                self._heard[host] = now
                self.silent.discard(host)
                if in_time:
                    self.slow.discard(host)
                elif len(reached) == 1:  # else it was perhaps another one that all waited for
                    self.slow.add(host)
            elif wait >= timing.rows:  # else it need not be slow
                gone = host in self.cut or self.unheard_for(host) >= timing.delivery
                self.silent.discard(host)
                self.slow.discard(host)
                (self.silent if gone else self.slow).add(host)
        return replies

    def unheard_for(self, host: str) -> float:
        """Seconds since a host has answered."""
        now = asyncio.get_running_loop().time()
        return now - self._heard.get(host, -math.inf)

    def forget_all_but(self, hosts: Set[str]) -> None:
        """Others are not asked any more, so they are not silent either."""
        self.silent &= hosts
        self.slow &= hosts

    @property
    def changing(self) -> bool:
        """Whether it is being opened again."""
        return self._changing is not None and not self._changing.done()

    async def change(self, peers: Peers | None) -> None:
        """Open again if the description says something else now, which `wanted` has returned.

        An OSError says that this is not possible yet; it is tried until it is. Whoever calls this
        may be cancelled: it goes on, because the description is in force already.
        """
        if self._given is None:
            self._changing = asyncio.create_task(self._change(peers))
            await asyncio.shield(self._changing)

    async def _change(self, peers: Peers | None) -> None:
        if peers == self._peers and self.transport is not self._nobody:
            return
        await self._close()
        try:
            await self._open(peers)
        except Exception as error:  # whatever zenoh raises
            self._trying = asyncio.create_task(self._try(peers))
            raise OSError(f"{error}; it is tried again every second") from None

    async def _try(self, peers: Peers | None) -> None:
        while True:
            await asyncio.sleep(PAUSE)
            try:
                await self._open(peers)
            except Exception as error:
                self._node.report.tell("listen", reason=str(error), level=logging.ERROR)
            else:
                return

    async def close(self) -> None:
        """Reach nobody any more."""
        if self._changing is not None:
            await asyncio.gather(self._changing, return_exceptions=True)
        if self._given is not None:
            await self._given.close()
        await self._close()

    async def _close(self) -> None:
        if self._trying is not None:
            self._trying.cancel()
            await asyncio.gather(self._trying, return_exceptions=True)
            self._trying = None
        transport, self.transport = self.transport, self._nobody
        if transport is not self._given:
            await transport.close()

    def wanted(self, network: Description, hosts: Iterable[str]) -> Peers | None:
        """How these hosts are reached, as a description says; None if there is nobody to talk to.

        What is missing is refused.
        """
        node, file, places = self._node, network.file, network.places
        others = {other: places[other].address for other in hosts if other in places}
        if self._given is not None or not others:
            return None
        from mtcool.live.certificates import check_certificate
        from mtcool.live.transport.zenoh import Credentials, Peers

        credentials = None
        if file.security.tls:
            folder = network.path(file.security.certificates)
            credentials = Credentials(
                folder / "authority.pem", folder / f"{node.name}.pem", folder / f"{node.name}.key"
            )
            for path in credentials:
                if not path.exists():
                    raise ValueError(
                        f"certificates must be made by `mtcool certs` in one place and copied to "
                        f"all hosts, got no {path}"
                    )
            check_certificate(credentials.authority)
            check_certificate(credentials.certificate, node.name)
        return Peers(
            network.number,
            node.name,
            places[node.name].listen,
            others,
            file.timing.lease,
            credentials,
            network.largest,
        )
