"""What a host owes to others and has taken from them: numbers, outboxes, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

from mtcool.graphs.labels import plain_name
from mtcool.live.history import NOTHING, chained
from mtcool.live.host_view import Share
from mtcool.live.link import HostLink, Numbers
from mtcool.live.refusals import LONGEST_REASON, STRANGER, Differs, Refusal, Refusals, Stopped
from mtcool.live.wire import (
    HEAD,
    Ask,
    Deliver,
    DurablePosition,
    Refused,
    RowReplies,
    item_bytes,
    reply_in,
    to_bytes,
)
from mtcool.types import Label, Name

MOST_ITEMS = 4096
"""In one question, unless it asks more agents than that."""
LARGEST_BATCH = 1 << 18
"""Bytes of one batch of messages, where the limit for questions allows so many."""


class Moved(NamedTuple):
    """What has changed since the last transaction, and must be written in the next one."""

    links: dict[str, Numbers]
    outbox: list[tuple[str, int, Name, bytes]]
    """New messages: for which host, number, receiver and content."""
    delivered: dict[str, int]
    """Messages up to this number may be forgotten."""


class Mailbox:
    """The links of a host. Every message is delivered once and in order, as `docs/live.md` says.

    Parameters
    ----------
    name
        Whose it is.
    others
        The hosts that it talks to.
    """

    def __init__(self, name: str, others: Iterable[str]) -> None:
        self._name = name
        self.links = {host: HostLink() for host in others}
        self.refused = Refusals()
        """Messages that were refused, by host and reason."""
        self.denied = Refusals()
        """Questions of ours that were refused, by host and reason."""
        self.trouble: dict[str, str] = {}
        """Hosts with which the link has stopped, and why: memories contradict each other."""
        self._told: set[str] = set()
        """Those of them that have told us so, and may be mended: we ask now and then."""
        self._either: set[str] = set()
        """Those of them of which it is not known who has forgotten, we or they."""
        self.moved: set[str] = set()
        """Hosts with which the numbers are others than in the last transaction."""
        self.heard_more = False
        """Whether a host has drawn noise that the last transaction does not know of."""
        self._gone: dict[str, HostLink] = {}
        """Hosts that were in the network once: who comes back goes on counting."""
        self._outbox: list[tuple[str, int, Name, bytes]] = []
        self._delivered: dict[str, int] = {}

    # --- messages to others -----------------------------------------------------------------------

    def stops(self, hosts: Set[str], near: Set[str]) -> str | None:
        """The host because of which an agent must not learn, if a link has stopped.

        What it learns could not be said to its own neighbours, which live on `hosts`. And where
        this host has forgotten something that a neighbour of any of its agents knows, or may have,
        all would be lost when the newest database is back. `near` are the hosts of these.
        """
        for host in sorted(self.trouble.keys() & near):
            if host in hosts or self.distrusts(host) or host in self._either:
                return host
        return None

    def check_room(self, hosts: Iterable[str], most: int) -> None:
        """Refuse to learn while so many messages wait for a host of an agent's neighbours."""
        for host in sorted(hosts):
            waiting = len(self.links[host].outbox)
            if waiting >= most:
                raise Refusal(
                    f"outbox for host {host!r} must have room, got {waiting} messages that wait: "
                    "it has not answered for long"
                )

    def check_memory(self, hosts: Iterable[str]) -> None:
        """Refuse to draw noise that may have been drawn before, in what this host has forgotten.

        All hosts with neighbours are asked, not those of one agent: its noise is in the rows of its
        neighbours on this host, too, and leaves with them.
        """
        for host in sorted(hosts):
            if not self.links[host].greeted and host not in self.trouble:
                raise Refusal(
                    f"host {host!r} must say what it knows of us before private agents go on, "
                    "because a database restored from a copy would draw noise twice; it has not "
                    "answered yet"
                )

    def put(self, host: str, to: Label, content: bytes) -> None:
        """Let a message wait for a host; it may leave when it is durable."""
        link, name = self.links[host], plain_name(to, "sent")
        link.sent += 1
        link.outbox.append((link.sent, name, content))
        self._outbox.append((host, link.sent, name, content))
        self.moved.add(host)

    def riding(
        self, host: str, asked: list[tuple[Name, bytes]], largest: int
    ) -> tuple[int, list[tuple[Name, bytes]], int]:
        """Messages that may travel with a question, as many as fit into it.

        `asked` is what it asks for, `largest` are its bytes at most. Returns the number of the
        first, the messages, and the digest of all before them.
        """
        link = self.links[host]
        if not link.outbox or link.waiting or link.silent or host in self.trouble:
            return 0, [], NOTHING
        room = largest - HEAD - sum(item_bytes(*item) for item in asked)
        most = max(0, MOST_ITEMS - len(asked))
        first, told = link.batch(most, min(LARGEST_BATCH, room), least=0)
        if not told:
            return 0, [], NOTHING
        link.waiting, link.left = True, max(link.left, first - 1 + len(told))
        after, _ = link.claim(first, len(told))
        return first, told, after

    def batch(self, host: str, share: Share, *, near: bool, largest: int) -> bytes | None:
        """What may be delivered to a host now; None if nothing is, or a batch is under way.

        `near` says whether our agents have neighbours there, and `largest` how many bytes it takes
        at most.
        """
        link = self.links[host]
        if link.waiting or self.distrusts(host):
            return None
        if not link.outbox and not near:
            return None  # once our agents had neighbours there
        # A message that is too long by itself is sent all the same: who refuses it says why.
        first, items = link.batch(MOST_ITEMS, min(LARGEST_BATCH, largest - HEAD), least=1)
        if link.greeted and not items:
            return None
        return self._delivery(link, share, first, items)

    def heartbeat(self, host: str, share: Share, *, near: bool) -> bytes | None:
        """Asks a host, for which nothing waits, how it is; None if it is being asked something.

        It compares what it remembers, as with every batch. Of a host that we distrust nothing is
        wanted but that it answers.
        """
        link = self.links[host]
        if link.waiting or not near:
            return None
        if self.distrusts(host):
            link.waiting, link.again = True, 0
            return to_bytes(Ask(share.network, share.revision, []))
        first = link.outbox[0][0] if link.outbox else link.sent + 1
        return self._delivery(link, share, first, [])

    def _delivery(
        self, link: HostLink, share: Share, first: int, items: list[tuple[Name, bytes]]
    ) -> bytes:
        link.waiting = True
        said = link.dropped, *link.claim(first, len(items))
        batch = to_bytes(Deliver(share.network, share.revision, first, items, *said))
        link.leave(first, items, batch)
        return batch

    def delivered(self, host: str, content: bytes | None, drawn: int = 0) -> bool:
        """The reply to a batch has come, or None: it has not. Returns whether both agree.

        `drawn` says how often noise was drawn here.
        """
        link = self.links[host]
        link.waiting, link.silent = False, content is None
        if content is None:
            link.position = 0
            return False
        try:
            reply = reply_in(content)
            if isinstance(reply, Refused):
                self.deny(host, reply)
                return False
            if isinstance(reply, RowReplies) and self.distrusts(
                host
            ):  # it was asked for nothing else
                return True
            if not isinstance(reply, DurablePosition):
                raise ValueError(f"reply must be a position, got {type(reply).__name__}")
            if reply.heard > drawn:
                raise self.distrust(host, f"round {reply.heard} of private agents", drawn)
            if reply.known > link.taken:
                raise self.distrust(host, f"message {reply.known} of their link", link.taken)
            self.acknowledge(host, reply.last)
        except ValueError as error:
            self.refuse(host, error)
            return False
        return link.greeted

    def arrived(self, host: str, content: bytes | None) -> None:
        """The reply to a question with which messages travelled has come, or None: it has not."""
        link = self.links[host]
        link.waiting, link.silent = False, content is None
        try:
            reply = None if content is None else reply_in(content)
            if isinstance(reply, RowReplies) and reply.last >= 0:
                self.acknowledge(host, reply.last)
        except ValueError as error:
            self.refuse(host, error)

    def hear(self, host: str, drawn: int) -> None:
        """Remember how often a host has drawn noise, of what it lets us know."""
        link = self.links.get(host)
        if link is not None and drawn > link.heard:
            link.heard = drawn
            self.moved.add(host)
            self.heard_more = True

    def acknowledge(self, host: str, last: int) -> None:
        """Everything up to `last` is durable at the other host.

        That is believed if it could compare our history with its own up to there, as it can with
        every batch that it takes. Otherwise it is asked to.
        """
        link = self.links[host]
        if last > link.durable:
            raise self.distrust(host, f"message {last} of their link", link.durable)
        link.position, link.greeted = last, last == link.asked
        if not link.greeted:
            return
        if host in self._told:  # it was in trouble, and has its memory back
            self._forgive(host)
        if link.acknowledge(last):
            self._delivered[host] = last
            self.moved.add(host)

    def deny(self, host: str, reply: Refused) -> None:
        """A question of ours was refused; a host that says that it has stopped is believed."""
        self.denied.note(host, reply.reason)
        if reply.stopped and host in self.links and not self.distrusts(host):
            letters = reply.reason[:LONGEST_REASON]
            reason = "".join(one if one.isprintable() else "?" for one in letters)
            self.trouble[host] = f"host {host!r} has stopped, and says: {reason}"
            self._told.add(host)
            self._either.discard(host)
            if reply.either:
                self._either.add(host)
            link = self.links[host]
            link.greeted, link.position = False, 0  # nothing but the question whether it has passed

    def distrusts(self, host: str) -> bool:
        """Whether we have found ourselves that a host remembers more than we do, or otherwise."""
        return host in self.trouble and host not in self._told

    def stopped(self, host: str) -> Stopped:
        """What is said to a host that we distrust."""
        return (Differs if host in self._either else Stopped)(self.trouble[host])

    def check_newer(self, host: str) -> None:
        """Refuse what a host asks that remembers more than we do: nothing it says can mend that."""
        if self.distrusts(host) and host not in self._either:
            raise self.stopped(host)

    def distrust(self, host: str, theirs: str, ours: int) -> Stopped:
        """Remember that a host knows of something that we do not; returns what is wrong."""
        reason = (
            f"host {host!r} knows of {theirs}, and host {self._name!r} of none after {ours}: the "
            f"database of host {self._name!r} is older than what it has said, as if it was "
            "restored from a copy"
        )
        self.trouble[host] = reason
        self._told.discard(host)
        self._either.discard(host)
        return Stopped(reason)

    def differ(self, host: str) -> Stopped:
        """Remember that a host has another history than we know of; returns what is wrong."""
        link = self.links[host]
        self.trouble[host] = (
            f"hosts {host!r} and {self._name!r} remember different messages from the one to the "
            f"other, among the first {link.taken}: the database of one of them is older than what "
            "it has said or heard, as if it was restored from a copy"
        )
        self._told.discard(host)
        self._either.add(host)
        link.greeted = False
        return self.stopped(host)

    def _forgive(self, host: str) -> None:
        """What was wrong has passed."""
        del self.trouble[host]
        self._told.discard(host)
        self._either.discard(host)

    def refuse(self, host: str, error: ValueError, count: int = 1) -> None:
        """Count what was refused."""
        known = host in self.links or host == self._name
        self.refused.note(host if known else STRANGER, str(error), count)

    # --- messages from others ---------------------------------------------------------------------

    def skip(self, host: str, question: Deliver) -> bool:
        """Go on after messages that were given up while this host was out of the network.

        Returns whether there were any. Those that came after them must all be here still.
        """
        link, first, dropped = self.links[host], question.first, question.dropped
        if not 0 <= dropped < first:
            raise ValueError(f"dropped must be below {first}, got {dropped}")
        if dropped <= link.taken or dropped < first - 1 or question.ahead:
            return False
        link.taken, link.history = dropped, question.after
        self.moved.add(host)
        return True

    def compare(
        self, host: str, first: int, items: list[tuple[Name, bytes]], after: int, ahead: int
    ) -> None:
        """Refuse a batch of a host that does not remember what we have taken from it.

        A batch that ends before that, and a question that reaches beyond it, cannot be compared;
        but nothing of them is new either.
        """
        link = self.links[host]
        if items and ahead:
            raise ValueError(f"ahead must be 0 before items, got {ahead}")
        known = link.taken + 1 - first - ahead
        if 0 <= known <= len(items):
            if chained(after, items[:known]) != link.history:
                raise self.differ(host)
            if host in self._either and self.distrusts(host):
                self._forgive(host)

    # --- hosts that come and go -------------------------------------------------------------------

    def remember(self, host: str, numbers: Numbers) -> None:
        """As it was kept; the host may be out of the network now."""
        link = self.links.get(host) or self._gone.setdefault(host, HostLink())
        link.go_on(numbers)

    def welcome(self, host: str) -> None:
        """A host is new, or has come back."""
        if host not in self.links:
            self.links[host] = self._gone.pop(host, HostLink())

    def give_up(self, host: str) -> None:
        """A host is gone: forget what waits for it, but not how far both have counted."""
        link = self._gone[host] = self.links.pop(host)
        link.give_up()
        self.moved.add(host)
        self._outbox = [one for one in self._outbox if one[0] != host]
        self._delivered[host] = link.dropped
        self.trouble.pop(host, None)
        self._told.discard(host)
        self._either.discard(host)

    def dropped(self, host: str) -> int:
        """Up to which number messages to a host were given up."""
        return self._link(host).dropped

    # --- what is durable --------------------------------------------------------------------------

    def changes(self) -> Moved:
        """All that has changed since the last call."""
        links = {host: self._link(host).numbers for host in self.moved}
        taken = Moved(links, self._outbox, self._delivered)
        self.moved, self._outbox, self._delivered = set(), [], {}
        self.heard_more = False
        return taken

    def committed(self, host: str, numbers: Numbers) -> None:
        """What was kept of a link is durable."""
        link = self._link(host)
        link.durable, link.taken_durable = numbers.sent, numbers.taken

    def _link(self, host: str) -> HostLink:
        return self.links[host] if host in self.links else self._gone[host]
