"""A host: some agents of a network in one process, without input or output of its own.

Events come in (an agent predicts or learns, another host asks, delivers or acknowledges), and
effects go out after what they rest on is durable. Whoever drives a host does three things in turn:

1. it lets events happen;
2. it takes `changes`, and writes them in one transaction;
3. it tells the host that they are `committed`, and carries out the effects that this returns.

So nothing leaves a host that a crash could undo: neither a gradient, nor an acknowledgement, nor a
row. `docs/live.md` has the rules, and why each gradient is learned from once and in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mtcool.agents.messages import (
    FieldGradient,
    Gradient,
    Lesson,
    LossShared,
    Message,
    Sums,
    decode,
    encode,
    sender_of,
)
from mtcool.graphs.labels import label_of, plain_name
from mtcool.live.driving import Driver, Feedback, Near, Prediction, Round, packed_feedback
from mtcool.live.journal import (
    Begun,
    Changed,
    Learned,
    Lives,
    Predicted,
    Started,
    Taken,
    Used,
    entry_bytes,
)
from mtcool.live.link import Link
from mtcool.live.share import Share
from mtcool.live.transactions import Acknowledged, Changes, Durable, Effect, Kept, Replied, Token
from mtcool.live.wire import (
    Ask,
    Deliver,
    Position,
    Refused,
    Rows,
    question_in,
    reply_in,
    to_bytes,
)
from mtcool.types import Floats, Label, Name

TO_LEARN_FROM = (Gradient, Sums, LossShared, Lesson, FieldGradient)
"""Messages that an agent takes from those that were its neighbours, too: they may be late."""
MOST_ITEMS = 4096  # in one question
COUNT = 8  # bytes of the number of rounds, before the state of an agent
LONGEST_REASON, MOST_REASONS = 300, 1000
EVERYTHING = 2**62
"""A number above those of all messages."""
LARGEST_BATCH = 1 << 18
"""Bytes of one batch of messages, but at least one of them."""


class Limits(NamedTuple):
    """What a host keeps at most."""

    outbox: int = 100_000
    """Messages that wait for one other host; beyond it, agents with neighbours there must stop."""
    rounds: int = 64
    """Rounds of one agent that were predicted and not learned from; older ones are forgotten."""


LIMITS = Limits()


class Asked(NamedTuple):
    """A round has begun: what to ask other hosts, in bytes."""

    number: int
    questions: dict[str, bytes]


@dataclass
class _Open:
    """A round that has begun."""

    agent: Label
    round: Round
    asked: dict[str, list[Label]] = field(default_factory=dict)
    """Neighbours that other hosts were asked about, in the order of the questions."""
    riding: set[str] = field(default_factory=set)
    """Hosts to which messages travel with the questions."""
    predicted: bool = False


class Refusal(ValueError):
    """What an application asked for is not possible now, for a reason that may pass."""


class _Behind(ValueError):
    """Two hosts have not read the same description yet: no reason to complain."""


class Host:
    """Some agents of a network, what they owe to other hosts, and what has come from those."""

    def __init__(
        self,
        share: Share,
        drivers: Mapping[Label, Driver],
        kept: Kept | None = None,
        left: Mapping[Label, Driver] | None = None,
        *,
        limits: Limits = LIMITS,
        journal: bool = False,
    ) -> None:
        self.share, self.drivers, self.limits = share, dict(drivers), limits
        self.links = {host: Link() for host in share.others}
        self.version, self.durable, self.rounds = 0, 0, 0
        """Changes that the agents have seen; those of them that are durable; rounds begun."""
        self.refused: Counter[tuple[str, str]] = Counter()
        """Messages that were refused, by host and reason."""
        self.denied: Counter[tuple[str, str]] = Counter()
        """Questions of ours that were refused, by host and reason."""
        self.trouble: dict[str, str] = {}
        """Hosts whose memory contradicts ours, and what is wrong."""
        self.learned: Counter[Label] = Counter()
        """Rounds that each agent has ever learned from; kept with its state."""
        self.left = dict(left or {})
        """Agents that were here, and have left: they may join again, and go on counting."""
        self._journal = journal
        self._share_changed = False
        self._neighbours: frozenset[str] | None = None
        self._open: dict[int, _Open] = {}
        self._changed: set[Label] = set()
        self._moved: set[str] = set()
        self._outbox: list[tuple[str, int, Name, bytes]] = []
        self._delivered: dict[str, int] = {}
        self._entries: list[bytes] = []
        self._effects: list[Replied | Durable | Acknowledged] = []
        if kept is not None:
            self._go_on(kept)
        else:
            self._start()

    def _start(self) -> None:
        """Nothing may be said of the agents before it is durable how they were in the beginning."""
        self.durable = -1
        self._share_changed = True
        self._changed.update(self.drivers)
        if self._journal:
            agents = [(plain_name(name, "kept"), one.keep()) for name, one in self.drivers.items()]
            started = Started(self.share.host, self.share.network, self.lives(), agents)
            self._entries.append(entry_bytes(started))

    def _go_on(self, kept: Kept) -> None:
        self.version, self.durable, self.rounds = kept.version, kept.version, kept.rounds
        known = self.drivers | self.left
        for name, content in kept.agents.items():
            self.learned[name] = int.from_bytes(content[:COUNT])
            known[name].restore(content[COUNT:])
        for host, (sent, taken) in kept.links.items():
            link = self.links.setdefault(host, Link())
            link.sent = link.durable = sent
            link.taken = link.taken_durable = taken
        for host, number, to, content in kept.outbox:
            self.links[host].outbox.append((number, to, content))

    @property
    def neighbours(self) -> frozenset[str]:
        """The other hosts on which our agents have neighbours now."""
        if self._neighbours is None:
            others = (name for driver in self.drivers.values() for name in driver.neighbours)
            hosts = {self.share.home[name] for name in others}
            self._neighbours = frozenset(hosts - {self.share.host})
        return self._neighbours

    # --- an agent of this host --------------------------------------------------------------------

    def begin(self, agent: Label, features: Floats | None = None) -> Asked:
        """Steps 1 and 2: a round begins; returns what to ask which host."""
        driver = self._driver(agent)
        begun = _Open(agent, driver.begin(features))
        number = self.rounds = self.rounds + 1
        items: dict[str, list[tuple[Name, bytes]]] = {}
        for neighbour, request in begun.round.requests.items():
            host = self.share.home[neighbour]
            if host != self.share.host:
                begun.asked.setdefault(host, []).append(neighbour)
                item = plain_name(neighbour, "sent"), encode(request)
                items.setdefault(host, []).append(item)
        self._open[number] = begun
        self._changed.add(agent)
        self._forget_old_rounds(agent)
        if self._journal:
            given = None if features is None else features.tolist()
            self._entries.append(entry_bytes(Begun(plain_name(agent, "kept"), number, given)))
        questions = {host: self._question(host, begun, them) for host, them in items.items()}
        return Asked(number, questions)

    def _question(self, host: str, begun: _Open, items: list[tuple[Name, bytes]]) -> bytes:
        """A question for rows; messages that wait for the same host travel with it."""
        network, revision, link = self.share.network, self.share.revision, self.links[host]
        first, told = 0, list[tuple[Name, bytes]]()
        if link.outbox and not link.waiting and host not in self.trouble:
            first, told = link.batch(MOST_ITEMS - len(items), LARGEST_BATCH)
        if not told:
            return to_bytes(Ask(network, revision, items))
        link.waiting = True
        begun.riding.add(host)
        return to_bytes(Ask(network, revision, items, first, told))

    def predict(self, number: int, replies: Mapping[str, bytes]) -> Prediction:
        """Step 3: predict with what other hosts have replied; some may be missing."""
        begun = self._round(number)
        self._arrive(begun, replies)
        answers: dict[Label, Message] = {}
        used: list[Used] = []
        for host, content in replies.items():
            self._read_rows(host, content, begun, answers, used)
        for neighbour, request in begun.round.requests.items():
            driver = self.drivers.get(neighbour)
            if driver is not None and begun.agent in driver.neighbours:  # it may be one no more
                answer = driver.receive(request)
                if answer is not None:
                    answers[neighbour] = answer
        said = begun.round.predict(answers)
        begun.predicted = True
        self._changed.add(begun.agent)
        if self._journal:
            value = list(said.value) if isinstance(said.value, tuple) else [said.value]
            self._entries.append(entry_bytes(Predicted(number, used, value)))
        return said

    def _arrive(self, begun: _Open, replies: Mapping[str, bytes]) -> None:
        """Note how far the messages came that travelled with the questions of a round."""
        for host in begun.riding & self.links.keys():
            self.links[host].waiting = False
            try:
                reply = reply_in(replies[host]) if host in replies else None
                if isinstance(reply, Rows) and reply.last >= 0:
                    self._acknowledge(host, reply.last)
            except ValueError as error:
                self._refuse(host, error)
        begun.riding.clear()

    def _read_rows(
        self,
        host: str,
        content: bytes,
        begun: _Open,
        answers: dict[Label, Message],
        used: list[Used],
    ) -> None:
        """Take the rows of one reply; what is wrong is refused, and its row is missing."""
        asked = begun.asked.get(host, [])
        try:
            reply = reply_in(content)
            if isinstance(reply, Refused):
                self.denied[host, reply.reason] += 1
                return
            if not isinstance(reply, Rows) or len(reply.items) != len(asked):
                raise ValueError(f"reply must have {len(asked)} rows, got {type(reply).__name__}")
        except ValueError as error:
            self._refuse(host, error)
            return
        for neighbour, item in zip(asked, reply.items, strict=True):
            if item is None:
                continue
            try:
                answer = decode(item)
                if sender_of(answer) != neighbour:
                    raise ValueError(f"answer must be that of {neighbour!r}, got another's")
                begun.round.check(neighbour, answer)
            except ValueError as error:
                self._refuse(host, error)
                continue
            answers[neighbour] = answer
            used.append(Used(plain_name(neighbour, "kept"), host, reply.version, item))

    def learn(
        self, number: int, feedback: Feedback, token: Token, draws: Sequence[float] = ()
    ) -> None:
        """Step 5: learn from the round; `Durable(token)` follows when this survives a crash.

        Neighbours on this host learn at once, and messages to others wait for the commit. Noise is
        drawn anew, unless `draws` of a journal are given.
        """
        begun = self._round(number)
        if not begun.predicted:
            raise ValueError(f"round must have been predicted, got round {number}")
        self._check_room(begun.agent)
        told = begun.round.learn(feedback, draws)
        del self._open[number]
        self.version += 1
        self.learned[begun.agent] += 1
        self._changed.add(begun.agent)
        for neighbour, message in told.items():
            host = self.share.home[neighbour]
            if host == self.share.host:
                if neighbour in self.drivers:  # it may have left
                    self.drivers[neighbour].receive(message)
                    self._changed.add(neighbour)
            else:
                self._put(host, neighbour, encode(message))
        if self._journal:
            packed = packed_feedback(feedback)
            self._entries.append(entry_bytes(Learned(number, packed, begun.round.drawn)))
        self._effects.append(Durable(token))

    def _put(self, host: str, to: Label, content: bytes) -> None:
        link, name = self.links[host], plain_name(to, "sent")
        link.sent += 1
        link.outbox.append((link.sent, name, content))
        self._outbox.append((host, link.sent, name, content))
        self._moved.add(host)

    def _check_room(self, agent: Label) -> None:
        hosts = {self.share.home[other] for other in self.drivers[agent].neighbours}
        for host in sorted(hosts - {self.share.host}):
            waiting = len(self.links[host].outbox)
            if waiting >= self.limits.outbox:
                raise Refusal(
                    f"outbox for host {host!r} must have room, got {waiting} messages that wait: "
                    "it has not answered for long"
                )
            if self.share.private and not self.links[host].greeted:
                raise Refusal(
                    f"host {host!r} must say what it knows of us before private agents go on, "
                    "because a database restored from a copy would draw noise twice; it has not "
                    "answered yet"
                )
        if self.share.private and self.trouble:
            raise Refusal("; ".join(self.trouble.values()))

    def _driver(self, agent: Label) -> Driver:
        driver = self.drivers.get(agent)
        if driver is None:
            raise ValueError(f"agent must live on host {self.share.host!r}, got {agent!r}")
        return driver

    def _round(self, number: int) -> _Open:
        begun = self._open.get(number)
        if begun is None:
            raise ValueError(f"round must be open, got {number!r}")
        return begun

    def is_open(self, number: int) -> bool:
        """Whether a round can still be learned from."""
        return number in self._open

    def forget(self, number: int) -> None:
        """Give up a round: it will not be learned from."""
        begun = self._open.pop(number, None)
        if begun is not None:
            self._arrive(begun, {})

    def _forget_old_rounds(self, agent: Label) -> None:
        mine = [number for number, begun in self._open.items() if begun.agent == agent]
        for number in mine[: max(0, len(mine) - self.limits.rounds)]:
            self.forget(number)

    # --- other hosts ------------------------------------------------------------------------------

    def receive(self, host: str, content: bytes, token: Token) -> None:
        """Take the question of another host, known by its certificate; its reply is an effect."""
        try:
            if host not in self.links:
                raise ValueError("host must have neighbours of agents here")
            question = question_in(content)
            if question.network != self.share.network:
                raise ValueError(f"network must be {self.share.network}, got {question.network}")
            if question.revision > self.share.revision:
                raise _Behind(
                    f"description must be read again: host {host!r} has revision "
                    f"{question.revision}, and we have {self.share.revision}"
                )
            count = len(question.items) + (len(question.told) if isinstance(question, Ask) else 0)
            if count > MOST_ITEMS:
                raise ValueError(f"items must be at most {MOST_ITEMS}, got {count}")
            if isinstance(question, Deliver):
                self._take(host, question.first, question.items)
                self._effects.append(Acknowledged(token, host))
            else:
                if question.told:
                    self._take(host, question.first, question.told)
                self._answer(host, question, token)
        except ValueError as error:
            if not isinstance(error, _Behind):
                self._refuse(host, error)
            self._effects.append(Replied(token, to_bytes(Refused(str(error)))))

    def _answer(self, host: str, question: Ask, token: Token) -> None:
        items: list[bytes | None] = []
        for to, request in question.items:
            try:
                answer = self._neighbour_says(host, to, request)
                items.append(None if answer is None else encode(answer))
            except ValueError as error:
                if not isinstance(error, _Behind):
                    self._refuse(host, error)
                items.append(None)
        rows = Rows(self.version, items)
        if question.told:
            self._effects.append(Acknowledged(token, host, rows))
        else:
            self._effects.append(Replied(token, to_bytes(rows)))

    def _take(self, host: str, first: int, items: list[tuple[Name, bytes]]) -> None:
        link = self.links[host]
        if first > link.taken + 1:
            raise ValueError(self._distrust(host, first - 1, link.taken))
        new = items[link.taken + 1 - first :]
        if new:
            begins = link.taken + 1
            for to, content in new:
                try:
                    if self._neighbour_says(host, to, content) is not None:
                        raise ValueError("message must be one to learn from, got a request")
                    self._changed.add(label_of(to))
                except ValueError as error:
                    if not isinstance(error, _Behind):  # who could not know yet
                        self._refuse(host, error)
            link.taken += len(new)
            self.version += 1
            self._moved.add(host)
            if self._journal:
                self._entries.append(entry_bytes(Taken(host, begins, new)))

    def _neighbour_says(self, host: str, to: Name, content: bytes) -> Message | None:
        """Let an agent take a message, whose sender must live on the host that sent it."""
        receiver = label_of(plain_name(to, "sent"))
        if receiver in self.left:
            raise _Behind(f"{receiver!r} has left")
        driver = self._driver(receiver)
        message = decode(content)
        sender = sender_of(message)
        if self.share.home.get(sender) != host or sender not in driver.senders:
            raise ValueError(
                f"sender must be a neighbour of {driver.name!r} on host {host!r}, got {sender!r}"
            )
        if sender not in driver.neighbours and not isinstance(message, TO_LEARN_FROM):
            raise _Behind(f"{sender!r} is a neighbour of {driver.name!r} no more")
        return driver.receive(message)

    def batch(self, host: str) -> bytes | None:
        """What may be delivered to a host now; None if nothing is, or a batch is under way."""
        link = self.links[host]
        if link.waiting or host in self.trouble:
            return None
        if not link.outbox and host not in self.neighbours:
            return None  # once our agents had neighbours there
        first, items = link.batch(MOST_ITEMS, LARGEST_BATCH)
        if link.greeted and not items:
            return None
        link.waiting = True
        return to_bytes(Deliver(self.share.network, self.share.revision, first, items))

    def delivered(self, host: str, content: bytes | None) -> bool:
        """The reply to a batch has come, or None: it has not. Returns whether it was understood."""
        link = self.links[host]
        link.waiting = False
        if content is None:
            return False
        try:
            reply = reply_in(content)
            if isinstance(reply, Refused):
                self.denied[host, reply.reason] += 1
                return False
            if not isinstance(reply, Position):
                raise ValueError(f"reply must be a position, got {type(reply).__name__}")
            self._acknowledge(host, reply.last)
        except ValueError as error:
            self._refuse(host, error)
            return False
        return True

    def _acknowledge(self, host: str, last: int) -> None:
        """Everything up to this number is durable at the other host."""
        link = self.links[host]
        if last > link.durable:
            raise ValueError(self._distrust(host, last, link.durable))
        link.greeted = True
        if link.acknowledge(last):
            self._delivered[host] = last

    def _distrust(self, host: str, theirs: int, ours: int) -> str:
        """Remember that a host knows of messages that we do not; returns what is wrong."""
        reason = (
            f"host {host!r} knows of message {theirs} between us, and the last one known here is "
            f"{ours}: the database of host {self.share.host!r} is older than what it has said, as "
            "if it was restored from a copy"
        )
        self.trouble[host] = reason
        return reason

    def refuse(self, host: str, reason: str) -> Refused:
        """Count a question that is not looked at; returns the reply."""
        self._refuse(host, ValueError(reason))
        return Refused(reason)

    def _refuse(self, host: str, error: ValueError) -> None:
        reason = str(error)[:LONGEST_REASON]
        if (host, reason) not in self.refused and len(self.refused) >= MOST_REASONS:
            reason = "other reasons"  # whoever lies in many ways takes no memory
        self.refused[host, reason] += 1

    # --- the graph changes ------------------------------------------------------------------------

    def change(self, change: Changed, joining: Mapping[Label, Driver]) -> None:
        """Let agents have other neighbours, come and leave, as a newer description says.

        What waits for a host that is in the description no more is given up: that it is gone was
        decided there.
        """
        if change.revision <= self.share.revision:
            raise ValueError(f"revision must be above {self.share.revision}, got {change.revision}")
        near = near_in(change)
        known = self.drivers | self.left
        drivers = {name: known[name] if name in known else joining[name] for name in near}
        for name in drivers.keys() & self.drivers.keys():
            drivers[name].check_meeting(near[name])
        for name in self.drivers.keys() - drivers.keys():
            self.left[name] = self.drivers[name]
            self.left[name].meet([])
            self._changed.add(name)
            for number in [k for k, begun in self._open.items() if begun.agent == name]:
                self.forget(number)
        for name, driver in drivers.items():
            driver.meet(near[name])
        for name in drivers:
            self.left.pop(name, None)
        self.drivers, self._neighbours = drivers, None
        home = {label_of(name): host for name, host in change.home}
        there = {name: host for name, host in self.share.home.items() if host in change.hosts}
        self.share = self.share._replace(revision=change.revision, home=there | home)
        for host in self.links.keys() - set(change.hosts):
            self._give_up(host)
        for host in self.share.others:
            self.links.setdefault(host, Link())
        self.version += 1
        self._share_changed = True
        self._changed.update(self.drivers)
        if self._journal:
            self._entries.append(entry_bytes(change))

    def _give_up(self, host: str) -> None:
        """Forget a host that is gone, and what waits for it."""
        del self.links[host]
        self._moved.discard(host)
        self._outbox = [one for one in self._outbox if one[0] != host]
        self._delivered[host] = EVERYTHING
        self.trouble.pop(host, None)

    # --- what is durable --------------------------------------------------------------------------

    @property
    def urgent(self) -> bool:
        """Whether agents have learned since the last commit: nothing may be said before one."""
        return self.version > self.durable

    def ready(self) -> list[Effect]:
        """What may be said now, because it rests on nothing but what is durable."""
        if self.urgent:
            return []
        effects, self._effects = self._effects, []
        return self._said(effects)

    def changes(self) -> Changes:
        """All that has happened since the last call, to be written in one transaction."""
        links = {host: (self.links[host].sent, self.links[host].taken) for host in self._moved}
        taken = Changes(
            self.version,
            self.rounds,
            {name: self._kept(name) for name in self._changed},
            links,
            self._outbox,
            self._delivered,
            self._entries,
            self.lives() if self._share_changed else None,
            self._effects,
        )
        self._share_changed = False
        self._changed, self._moved = set(), set()
        self._outbox, self._delivered, self._entries, self._effects = [], {}, [], []
        return taken

    def _kept(self, name: Label) -> bytes:
        driver = self.drivers[name] if name in self.drivers else self.left[name]
        return self.learned[name].to_bytes(COUNT) + driver.keep()

    def lives(self) -> Lives:
        """Who lives here, as it is kept."""
        home = [(plain_name(name, "kept"), host) for name, host in self.share.home.items()]
        here = [plain_name(name, "kept") for name in self.drivers]
        left = [plain_name(name, "kept") for name in self.left]
        return Lives(self.share.revision, here, home, left)

    def committed(self, changes: Changes) -> list[Effect]:
        """The changes are durable: returns what may be said now."""
        for host, (sent, taken) in changes.links.items():
            if host not in self.links:  # it was given up meanwhile
                continue
            link = self.links[host]
            link.durable, link.taken_durable = sent, taken
        self.durable = changes.version
        return self._said(changes.effects)

    def _said(self, effects: Iterable[Replied | Durable | Acknowledged]) -> list[Effect]:
        said: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Acknowledged):
                if effect.host not in self.links:
                    continue
                last = self.links[effect.host].taken_durable
                rows = effect.rows
                reply = Position(last) if rows is None else Rows(rows.version, rows.items, last)
                said.append(Replied(effect.token, to_bytes(reply)))
            else:
                said.append(effect)
        return said


def near_in(change: Changed) -> dict[Label, list[Near]]:
    """The neighbours of each agent that lives on a host."""
    return {
        label_of(name): [Near(label_of(other), *rest) for other, *rest in others]
        for name, others in change.near
    }
