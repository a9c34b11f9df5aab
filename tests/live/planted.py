"""Mistakes that are easily made, planted one by one: each must be found."""

from __future__ import annotations

import dataclasses

from live.networks import Small
from live.world import Disk, World
from mtcool.agents.messages import Sums, decode, encode
from mtcool.live.host import Host
from mtcool.live.link import Link
from mtcool.live.transactions import Acknowledged, Changes, Effect, Replied
from mtcool.live.wire import Position, to_bytes


class AcknowledgesBeforeCommit(Host):
    """A batch is acknowledged as soon as it is taken."""

    def ready(self) -> list[Effect]:
        early = [one for one in self._effects if isinstance(one, Acknowledged)]
        self._effects = [one for one in self._effects if not isinstance(one, Acknowledged)]
        replies: list[Effect] = [
            Replied(one.token, to_bytes(Position(self.links[one.host].taken))) for one in early
        ]
        return replies + super().ready()

    @property
    def urgent(self) -> bool:
        if any(isinstance(one, Acknowledged) for one in self._effects):
            return False
        return super().urgent


class SendsBeforeCommit(Host):
    """Gradients leave before the transaction that holds them."""

    def batch(self, host: str) -> bytes | None:
        self.links[host].durable = self.links[host].sent
        return super().batch(host)


class AcknowledgesBeyondTheSnapshot(Host):
    """What came while a transaction was written is acknowledged with it."""

    def committed(self, changes: Changes) -> list[Effect]:
        now = {host: (sent, self.links[host].taken) for host, (sent, _) in changes.links.items()}
        return super().committed(changes._replace(links=now))


class DoesNotResend(Host):
    """After a restart only new messages are sent."""

    def _go_on(self, kept):
        super()._go_on(kept)
        for link in self.links.values():
            link.outbox.clear()


class ForgetsItsNumbers(Host):
    """The number of the last message is not kept."""

    def changes(self) -> Changes:
        changes = super().changes()
        return changes._replace(
            links={host: (0, taken) for host, (_, taken) in changes.links.items()}
        )


class ForgetsPositions(Host):
    """What was taken last is not kept."""

    def changes(self) -> Changes:
        changes = super().changes()
        return changes._replace(
            links={host: (sent, 0) for host, (sent, _) in changes.links.items()}
        )


class TakesTwice(Host):
    """A batch that was taken before is taken again."""

    def _take(self, host: str, first: int, items) -> None:
        if items and first <= self.links[host].taken:
            self.links[host].taken = first - 1
        super()._take(host, first, items)


class AcceptsAGap(Host):
    """A batch that begins too late is taken, from a sender that forgets one message too many."""

    def _take(self, host: str, first: int, items) -> None:
        self.links[host].taken = max(self.links[host].taken, first - 1)
        super()._take(host, first, items)

    def delivered(self, host: str, content: bytes | None) -> bool:
        link = self.links[host]
        if content is not None and link.outbox and link.outbox[-1][0] <= link.durable:
            link.outbox.popleft()
        return super().delivered(host, content)


class ForgetsWhatItSends(Host):
    """A message leaves the outbox when it is sent, not when it is acknowledged."""

    def batch(self, host: str) -> bytes | None:
        content = super().batch(host)
        link = self.links[host]
        if content is not None and link.greeted and link.outbox:
            link.acknowledge(link.durable)
        return content


class SaysRowsBeforeCommit(Host):
    """Rows are read from a state that a crash may undo."""

    def ready(self) -> list[Effect]:
        early: list[Effect] = [one for one in self._effects if isinstance(one, Replied)]
        self._effects = [one for one in self._effects if not isinstance(one, Replied)]
        return early + super().ready()

    @property
    def urgent(self) -> bool:
        if any(isinstance(one, Replied) for one in self._effects):
            return False
        return super().urgent


class SendsTheNewestFirst(Host):
    """Messages leave in another order than the agents have said them."""

    def changes(self) -> Changes:
        changes = super().changes()
        for host in changes.links:
            link: Link = self.links[host]
            if len(link.outbox) > 1:
                (m, *last), (n, *newest) = link.outbox[-2], link.outbox[-1]
                link.outbox[-2], link.outbox[-1] = (m, *newest), (n, *last)
        return changes


class RedrawsNoise(Host):
    """After a restart, sums that wait are published with other noise."""

    def _go_on(self, kept):
        super()._go_on(kept)
        for link in self.links.values():
            for k, (number, to, content) in enumerate(link.outbox):
                sums = decode(content)
                again = Sums(sums.sender, sums.number, sums.total + 1.0, sums.products)
                link.outbox[k] = number, to, encode(again)


@dataclasses.dataclass
class TwoTransactions(Disk):
    """State and positions are written one after the other, and a crash may come between."""

    links_later: dict = dataclasses.field(default_factory=dict)

    def write(self, changes: Changes) -> None:
        late, self.links_later = self.links_later, dict(changes.links)
        super().write(changes._replace(links=late))


@dataclasses.dataclass
class LosesCommits(Disk):
    """Some transactions return and are not there."""

    count: int = 0

    def write(self, changes: Changes) -> None:
        self.count += 1
        if self.count % 7:
            super().write(changes)


HOSTS = (
    AcknowledgesBeforeCommit,
    SendsBeforeCommit,
    AcknowledgesBeyondTheSnapshot,
    DoesNotResend,
    ForgetsItsNumbers,
    ForgetsPositions,
    TakesTwice,
    AcceptsAGap,
    ForgetsWhatItSends,
    SaysRowsBeforeCommit,
    SendsTheNewestFirst,
)
DISKS = (TwoTransactions, LosesCommits)


def world_with(bug: type, seed: int, small: Small) -> World:
    """A world in which every host has this mistake, or every disk."""
    if issubclass(bug, Host):
        return World(seed, small, host_class=bug)
    return World(seed, small, disk_class=bug)
