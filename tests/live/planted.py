"""Mistakes that are easily made, planted one by one: each must be found, by what it does."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from live.forgetful import Forgetful
from live.networks import Small
from live.world import Disk, World
from mtcool.agents.messages import Sums, decode, encode
from mtcool.live.history import NOTHING
from mtcool.live.host import Host
from mtcool.live.link import HostLink
from mtcool.live.transactions import Acknowledged, Durable, Effect, Replied, Transaction
from mtcool.live.wire import DurablePosition, RowReplies, to_bytes


class _SaysBeforeCommit(Host):
    """Some effects do not wait for the transaction that they rest on."""

    early: type

    def ready(self) -> list[Effect]:
        early = [self._now(one) for one in self._effects if isinstance(one, self.early)]
        self._effects = [one for one in self._effects if not isinstance(one, self.early)]
        return early + super().ready()

    def _now(self, effect: Replied | Durable | Acknowledged) -> Effect:
        if not isinstance(effect, Acknowledged):
            return effect
        last, rows = self.links[effect.host].taken, effect.rows
        reply = (
            DurablePosition(last) if rows is None else RowReplies(rows.version, rows.items, last)
        )
        return Replied(effect.token, to_bytes(reply))

    @property
    def urgent(self) -> bool:
        if any(isinstance(one, self.early) for one in self._effects):
            return False
        return super().urgent


class AcknowledgesBeforeCommit(_SaysBeforeCommit):
    """A batch is acknowledged as soon as it is taken."""

    early, found_by = Acknowledged, "trouble"


class SaysRowsBeforeCommit(_SaysBeforeCommit):
    """Rows are read from a state that a crash may undo."""

    early, found_by = Replied, "another row"


class PromisesBeforeCommit(_SaysBeforeCommit):
    """An application is told that its round is durable before it is."""

    early, found_by = Durable, "forgotten"


class SendsBeforeCommit(Host):
    """Gradients leave before the transaction that holds them."""

    found_by = "other messages"

    def batch(self, host: str) -> bytes | None:
        self.links[host].durable = self.links[host].sent
        return super().batch(host)


class AcknowledgesBeyondTheSnapshot(Host):
    """What came while a transaction was written is acknowledged with it."""

    found_by = "trouble"

    def committed(self, changes: Transaction) -> list[Effect]:
        now = {
            host: numbers._replace(taken=self.links[host].taken)
            for host, numbers in changes.links.items()
            if host in self.links
        }
        return super().committed(changes._replace(links=now))


class DoesNotResend(Host):
    """After a restart only new messages are sent."""

    found_by = "lost"

    def _go_on(self, kept):
        super()._go_on(kept)
        for link in self.links.values():
            link.outbox.clear()


class ForgetsItsNumbers(Host):
    """The number of the last message is not kept."""

    found_by = "waiting"

    def changes(self) -> Transaction:
        changes = super().changes()
        return changes._replace(
            links={host: numbers._replace(sent=0) for host, numbers in changes.links.items()}
        )


class ForgetsPositions(Host):
    """What was taken last is not kept."""

    found_by = "taken twice"

    def changes(self) -> Transaction:
        changes = super().changes()
        return changes._replace(
            links={
                host: numbers._replace(taken=0, history=NOTHING)
                for host, numbers in changes.links.items()
            }
        )


class TakesTwice(Host):
    """A batch that was taken before is taken again."""

    found_by = "taken twice"

    def _take(self, host: str, first: int, items, after: int, ahead: int = 0) -> None:
        link = self.links[host]
        if items and first <= link.taken:
            link.taken, link.history = first - 1, after
        super()._take(host, first, items, after, ahead)


class AcceptsAGap(Host):
    """A batch that begins too late is taken, from a sender that forgets one message too many."""

    found_by = "lost"

    def _take(self, host: str, first: int, items, after: int, ahead: int = 0) -> None:
        link = self.links[host]
        if first > link.taken + 1:
            link.taken, link.history = first - 1, after
        super()._take(host, first, items, after, ahead)

    def delivered(self, host: str, content: bytes | None) -> bool:
        link = self.links[host]
        if content is not None and link.outbox and link.outbox[-1][0] <= link.durable:
            link.acknowledge(link.outbox[0][0])
        return super().delivered(host, content)


class ForgetsWhatItSends(Host):
    """A message leaves the outbox when it is sent, not when it is acknowledged."""

    found_by = "lost"

    def batch(self, host: str) -> bytes | None:
        content = super().batch(host)
        link = self.links[host]
        if content is not None and link.greeted and link.outbox:
            link.acknowledge(link.durable)
        return content


class SendsTheNewestFirst(Host):
    """Messages leave in another order than the agents have said them."""

    found_by = "other messages"

    def changes(self) -> Transaction:
        changes = super().changes()
        for host in changes.links:
            link: HostLink = self.links[host]
            if len(link.outbox) > 1:
                (m, *last), (n, *newest) = link.outbox[-2], link.outbox[-1]
                link.outbox[-2], link.outbox[-1] = (m, *newest), (n, *last)
        return changes


class KeepsAnEqualName(Host):
    """The state of an agent is kept under the name that it was called by."""

    found_by = "another state"

    def begin(self, agent, features=None):
        asked = super().begin(agent, features)
        self._residents.changed.discard(agent)
        self._residents.changed.add(agent)
        return asked


class RedrawsNoise(Host):
    """After a restart, sums that wait are published with other noise."""

    found_by = "other messages"

    def _go_on(self, kept):
        super()._go_on(kept)
        for link in self.links.values():
            for k, (number, to, content) in enumerate(link.outbox):
                sums = decode(content)
                again = Sums(sums.sender, sums.number, sums.total + 1.0, sums.products)
                link.outbox[k] = number, to, encode(again)


class ComparesNumbersAlone(Host):
    """Whether another host remembers the same messages is not looked at."""

    found_by = "silence"

    def __init__(self, *args, **more) -> None:
        super().__init__(*args, **more)
        self._mail.compare = lambda *_: None


class CountsNoNoise(Host):
    """Nobody but a neighbour could know how often noise was drawn."""

    found_by = "noise twice"

    def changes(self) -> Transaction:
        return super().changes()._replace(drawn=0)


@dataclasses.dataclass
class CountsLater(Disk):
    """Noise is counted with the next transaction, when what rests on it was seen."""

    found_by: ClassVar[str] = "noise twice"

    before: int = 0

    def write(self, changes: Transaction) -> None:
        super().write(changes)
        self.counter, self.before = self.before, changes.drawn


@dataclasses.dataclass
class TwoTransactions(Disk):
    """State and positions are written one after the other, and a crash may come between."""

    found_by: ClassVar[str] = "taken twice"

    links_later: dict = dataclasses.field(default_factory=dict)

    def write(self, changes: Transaction) -> None:
        late, self.links_later = self.links_later, dict(changes.links)
        super().write(changes._replace(links=late))


@dataclasses.dataclass
class LosesCommits(Disk):
    """Some transactions return and are not there."""

    found_by: ClassVar[str] = "forgotten"

    count: int = 0

    def write(self, changes: Transaction) -> None:
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
    PromisesBeforeCommit,
    SendsTheNewestFirst,
    KeepsAnEqualName,
)
DISKS = (TwoTransactions, LosesCommits)
FORGETFUL = (ComparesNumbersAlone,)
"""Found where hosts forget."""
PRIVATE = (RedrawsNoise, CountsNoNoise, CountsLater)
"""Found where agents are private."""


def world_with(bug: type, seed: int, small: Small) -> World:
    """A world in which every host has this mistake, or every disk."""
    if bug in (*FORGETFUL, CountsNoNoise):
        return Forgetful(seed, small, host_class=bug)
    if bug is CountsLater:
        return Forgetful(seed, small, disk_class=bug)
    if issubclass(bug, Host):
        return World(seed, small, host_class=bug)
    return World(seed, small, disk_class=bug)
