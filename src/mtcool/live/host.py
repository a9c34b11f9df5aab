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

import functools
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import msgspec

from mtcool.agents.messages import Message, encode
from mtcool.graphs.labels import plain_name
from mtcool.live.addressing import Behind, addressed, question_of, row_for
from mtcool.live.agents import Driver, Feedback, Prediction, packed_feedback
from mtcool.live.history import chained
from mtcool.live.host_view import Share
from mtcool.live.journal import (
    Begun,
    Changed,
    Learned,
    Lives,
    Predicted,
    Rejected,
    Rewound,
    Started,
    Taken,
    Used,
    entry_bytes,
    rejected,
)
from mtcool.live.mailbox import Mailbox
from mtcool.live.offset import Offset
from mtcool.live.refusals import Differs, Stopped
from mtcool.live.replies import check_reply, rows_in
from mtcool.live.residents import Residents, learned_in, offset_in
from mtcool.live.rounds import OpenRound, OpenRounds
from mtcool.live.transactions import (
    Acknowledged,
    Checkpoint,
    Durable,
    Effect,
    Replied,
    Token,
    Transaction,
)
from mtcool.live.wire import (
    Ask,
    Deliver,
    DurablePosition,
    Question,
    Refused,
    Reply,
    RowReplies,
    in_slices,
    to_bytes,
)
from mtcool.streams import Loss
from mtcool.streams.kinds import KINDS
from mtcool.types import Floats, Label, Name


class HostLimits(NamedTuple):
    """What a host keeps at most."""

    outbox: int = 100_000
    """Messages that wait for one other host; beyond it, agents with neighbours there must stop."""
    message: int = 1 << 20
    """Bytes of one question or reply."""
    rounds: int = 64
    """Rounds of one agent that were predicted and not learned from; older ones are forgotten."""


LIMITS = HostLimits()
NO_NEIGHBOURS = "host must have neighbours of agents here"


class BegunRound(NamedTuple):
    """A round has begun: what to ask other hosts, in bytes."""

    number: int
    questions: dict[str, bytes]


P = ParamSpec("P")
R = TypeVar("R")


def _in_turn(method: Callable[Concatenate[Host, P], R]) -> Callable[Concatenate[Host, P], R]:
    """Let nobody answer for the host meanwhile."""

    @functools.wraps(method)
    def alone(host: Host, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with host.turn:
            return method(host, *args, **kwargs)

    return alone


class Host:
    """Some agents of a network, what they owe to other hosts, and what has come from those.

    One thread drives it. Others may call `answer`, and nothing else: it does nothing while an event
    happens, so that it is as if it had been called before or after.
    """

    def __init__(
        self,
        share: Share,
        drivers: Mapping[Label, Driver],
        kept: Checkpoint | None = None,
        left: Mapping[Label, Driver] | None = None,
        *,
        limits: HostLimits = LIMITS,
        journal: bool = False,
    ) -> None:
        self.limits = limits
        self._residents = there = Residents(share, drivers, left or {})
        # What others read of its parts, without a call: much of it is in every round.
        self.drivers, self.left = there.drivers, there.left
        self._mail = mail = Mailbox(share.host, share.others)
        self.links, self.trouble = mail.links, mail.trouble
        self.refused, self.denied = mail.refused, mail.denied
        self.version, self.durable, self.rounds = 0, 0, 0
        """Changes that the agents and links have seen, and that are durable; rounds begun."""
        self._journal = journal
        self._entries: list[bytes] = []
        self._open = OpenRounds()
        self._effects: list[Replied | Durable | Acknowledged] = []
        self.turn = threading.RLock()
        """Whoever has it may change agents, or look at them."""
        if kept is not None:
            self._go_on(kept)
        else:
            self._start()
        self.learned = Counter(there.learned)
        """Rounds that each agent has ever learned from, of which all is durable."""
        self.offsets = dict(there.offsets)
        """How far the rows of a stream were fed to each agent, as far as that is durable."""

    def _start(self) -> None:
        """Nothing may be said of the agents before it is durable how they were in the beginning."""
        self.durable = -1
        self._residents.start()
        if self._journal:
            agents = [(plain_name(name, "kept"), one.keep()) for name, one in self.drivers.items()]
            started = Started(self.share.host, self.share.network, self.lives(), agents)
            self._entries.append(entry_bytes(started))

    def _go_on(self, kept: Checkpoint) -> None:
        self.version, self.durable, self.rounds = kept.version, kept.version, kept.rounds
        self._residents.go_on(kept)
        for host, numbers in kept.links.items():
            self._mail.remember(host, numbers)
        for host, number, to, content in kept.outbox:
            self.links[host].outbox.append((number, to, content))

    @property
    def share(self) -> Share:
        """Which host it is, and where everybody lives."""
        return self._residents.share

    @property
    def neighbours(self) -> frozenset[str]:
        """The other hosts on which our agents have neighbours now."""
        return self._residents.neighbours

    def named(self, name: Name) -> Label:
        """The agent of this name, to the letter; refuses one that does not live here."""
        return self._residents.named(name).name

    def lives(self) -> Lives:
        """Who lives here, as it is kept."""
        return self._residents.lives()

    def kept(self, agent: Label) -> bytes:
        """An agent that lives here, or has left, as it is kept."""
        return self._residents.kept(agent)

    # --- an agent of this host --------------------------------------------------------------------

    @_in_turn
    def begin(self, agent: Label, features: Floats | None = None) -> BegunRound:
        """Steps 1 and 2: a round begins; returns what to ask which host."""
        driver, share = self._residents.driver(agent), self.share
        agent = driver.name  # it may be called by an equal name, such as 1.0 for 1
        begun = OpenRound(self.rounds + 1, agent, driver.begin(features))
        number = self.rounds = begun.number
        items: dict[str, list[tuple[Name, bytes]]] = {}
        for neighbour, request in begun.round.requests.items():
            host = share.home[neighbour]
            if host != share.host:
                begun.asked.setdefault(host, []).append(neighbour)
                item = plain_name(neighbour, "sent"), encode(request)
                items.setdefault(host, []).append(item)
        self._open.add(begun)
        self._residents.changed.add(agent)
        if self._journal:
            given = None if features is None else features.tolist()
            self._entries.append(entry_bytes(Begun(plain_name(agent, "kept"), number, given)))
        questions = {host: self._question(host, begun, them) for host, them in items.items()}
        return BegunRound(number, questions)

    def _question(self, host: str, begun: OpenRound, items: list[tuple[Name, bytes]]) -> bytes:
        """A question for rows; messages that wait for the same host travel with it."""
        network, revision = self.share.network, self.share.revision
        first, told, after = self._mail.riding(host, items, self.limits.message)
        if not told:
            return to_bytes(Ask(network, revision, items))
        begun.riding.add(host)
        return to_bytes(Ask(network, revision, items, first, told, after))

    @_in_turn
    def prepare(self, number: int) -> None:
        """Do what a round needs no replies for, while they are waited for; if it is still open."""
        if number in self._open:
            self._open[number].round.prepare()

    @_in_turn
    def predict(self, number: int, replies: Mapping[str, bytes]) -> Prediction:
        """Step 3: predict with what other hosts have replied; some may be missing."""
        begun = self._open[number]
        self._arrive(begun, replies)
        answers: dict[Label, Message] = {}
        used: list[Used] = []
        for host, content in replies.items():
            version, rows = rows_in(host, content, begun, self._mail, self.limits.message)
            for neighbour, (answer, item) in rows.items():
                answers[neighbour] = answer
                if self._journal:
                    used.append(Used(plain_name(neighbour, "kept"), host, version, item))
        for neighbour, request in begun.round.requests.items():
            driver = self.drivers.get(neighbour)
            if driver is not None and begun.agent in driver.neighbours:  # it may be one no more
                told = driver.receive(request)
                if told is not None:
                    answers[neighbour] = told
        said = begun.round.predict(answers)
        self._open.predicted(begun)
        for old in self._open.beyond(begun.agent, self.limits.rounds):
            self.forget(old)
        self._residents.changed.add(begun.agent)
        if self._journal:
            value = list(said.value) if isinstance(said.value, tuple) else [said.value]
            self._entries.append(entry_bytes(Predicted(number, used, value)))
        return said

    def _arrive(self, begun: OpenRound, replies: Mapping[str, bytes]) -> None:
        """Note how far the messages came that travelled with the questions of a round."""
        for host in begun.riding & self.links.keys():
            self._mail.arrived(host, replies.get(host))
        begun.riding.clear()

    @_in_turn
    def learn(
        self,
        number: int,
        feedback: Feedback,
        token: Token,
        draws: Sequence[float] = (),
        offset: Offset | None = None,
    ) -> None:
        """Step 5: learn from the round; `Durable(token)` follows when this survives a crash.

        Neighbours on this host learn at once, and messages to others wait for the commit. Noise is
        drawn anew, unless `draws` of a journal are given. If it is a row of a stream, its offset is
        kept in the same transaction, and one that is not beyond the last is refused.
        """
        begun = self._open[number]
        if not begun.predicted:
            raise ValueError(f"round must have been predicted, got round {number}")
        self.check_may_learn(begun.agent, offset)
        packed = _packed(feedback) if self._journal else []  # before anything changes
        told = begun.round.learn(feedback, draws)
        self._open.pop(number)
        self.version += 1
        self._residents.learned[begun.agent] += 1
        if offset is not None:
            self._residents.offsets[begun.agent] = offset
        self._residents.changed.add(begun.agent)
        for neighbour, message in told.items():
            host = self.share.home.get(neighbour)
            if neighbour in self.drivers:
                self._tell(self.drivers[neighbour], message)
            elif host in self.links:  # its host, or itself, may have left since the round began
                self._mail.put(host, neighbour, encode(message))
        if self._journal:
            learned = Learned(number, packed, begun.round.drawn, offset)
            self._entries.append(entry_bytes(learned))
        self._effects.append(Durable(token))

    def _tell(self, driver: Driver, message: Message) -> None:
        """Tell an agent of this host what to learn from; the sender has learned, whatever comes."""
        try:
            driver.receive(message)
        except ValueError as error:
            self._mail.refuse(self.share.host, error)
        else:
            self._residents.changed.add(driver.name)

    def check_may_learn(self, agent: Label, offset: Offset | None = None) -> None:
        """Refuse an agent that does not live here, or that would lose what it learned.

        And one that has learned from this row of a stream, or from one after it.
        """
        host = self.stopped_by(agent)
        if host is not None:
            raise self._mail.stopped(host)
        if self.share.private:
            self._mail.check_memory(self.neighbours)
        self._mail.check_room(self._homes(agent), self.limits.outbox)
        if offset is not None:
            self._residents.check_offset(agent, offset)

    def stopped_by(self, agent: Label) -> str | None:
        """The host that an agent cannot learn because of, until its memory or ours is back."""
        if not self.trouble:
            return None
        return self._mail.stops(self._homes(agent), self.neighbours)

    def _homes(self, agent: Label) -> set[str]:
        """The other hosts on which an agent that lives here has neighbours."""
        home, neighbours = self.share.home, self._residents.driver(agent).neighbours
        return {home[other] for other in neighbours} - {self.share.host}

    @_in_turn
    def rewind(self) -> None:
        """Let rows of streams be fed to all agents from the first on again."""
        if self._residents.rewind() and self._journal:
            self._entries.append(entry_bytes(Rewound()))

    def is_open(self, number: int) -> bool:
        """Whether a round can still be learned from."""
        return number in self._open

    @_in_turn
    def forget(self, number: int) -> None:
        """Give up a round: it will not be learned from."""
        begun = self._open.pop(number)
        if begun is not None:
            self._arrive(begun, {})

    # --- other hosts ------------------------------------------------------------------------------

    def batch(self, host: str) -> bytes | None:
        """What may be delivered to a host now; None if nothing is, or a batch is under way."""
        near, largest = host in self.neighbours, self.limits.message
        return self._mail.batch(host, self.share, near=near, largest=largest)

    def heartbeat(self, host: str) -> bytes | None:
        """A question that a host answers if it is there; None if it is being asked something."""
        return self._mail.heartbeat(host, self.share, near=host in self.neighbours)

    def delivered(self, host: str, content: bytes | None) -> bool:
        """The reply to a batch or a heartbeat, or None if none came; whether both agree."""
        return self._mail.delivered(host, content, self._drawn())

    def dropped(self, host: str) -> int:
        """Up to which number messages to a host were given up."""
        return self._mail.dropped(host)

    def refuse(self, host: str, reason: str, count: int = 1) -> None:
        """Count what was refused without a look at it."""
        self._mail.refuse(host, ValueError(reason), count)

    def receive(self, host: str, content: bytes, token: Token) -> None:
        """Take the question of another host, known by its certificate; its reply is an effect."""
        for _ in self.receive_in_slices(host, content, token, len(content)):
            pass

    def receive_in_slices(
        self, host: str, content: bytes, token: Token, most: int
    ) -> Iterator[int]:
        """The same, of at most so many messages at a time; yields how many there were.

        Other events may happen in between: it is as if the host had sent as many questions.
        """
        question = self._understood(host, content, token)
        for part, last in () if question is None else in_slices(question, most):
            if not self._receive(host, part, token, last):
                break
            yield part.count

    @_in_turn
    def _understood(self, host: str, content: bytes, token: Token) -> Question | None:
        """The question in these bytes; None if it is refused."""
        try:
            if host not in self.links:
                raise ValueError(NO_NEIGHBOURS)
            return question_of(self.share, host, content, self.limits.message)
        except ValueError as error:
            self._refuse(host, token, error)
            return None

    @_in_turn
    def _receive(self, host: str, question: Question, token: Token, last: bool) -> bool:
        """Take a question, or a slice of one, of which the last is replied to; False if refused."""
        stopped = self._mail.distrusts(host)  # which was counted when it was found
        try:
            if host not in self.links:  # any more
                raise ValueError(NO_NEIGHBOURS)
            self._mail.check_newer(host)
            if isinstance(question, Deliver):
                self._skip(host, question)
                self._take(host, question.first, question.items, question.after, question.ahead)
                if last:
                    self._effects.append(Acknowledged(token, host))
            else:
                if question.told:
                    self._take(host, question.first, question.told, question.after)
                if self._mail.distrusts(host):
                    raise self._mail.stopped(host)
                self._answer(host, question, token)
        except ValueError as error:
            self._refuse(host, token, error, counted=stopped and isinstance(error, Stopped))
            return False
        return True

    def _refuse(self, host: str, token: Token, error: ValueError, *, counted: bool = False) -> None:
        if not isinstance(error, Behind) and not counted:
            self._mail.refuse(host, error)
        self._effects.append(_refusal(token, error))

    def answer(self, host: str, content: bytes) -> bytes | None:
        """The reply to a question for rows, if it can be given at once; on any thread.

        It can if all that the agents know is durable, and no event happens at this moment. None
        leaves everything else to `receive`: what must be written, refused or counted.
        """
        if not self.turn.acquire(blocking=False):
            return None
        try:
            if self.urgent or host not in self.links or self._mail.distrusts(host):
                return None
            question = question_of(self.share, host, content, self.limits.message)
            if not isinstance(question, Ask) or question.told:
                return None
            items = [row_for(self._residents, host, to, request) for to, request in question.items]
            reply = to_bytes(self._rows(items))
            check_reply(reply, self.limits.message)
            return reply
        except ValueError:
            return None
        finally:
            self.turn.release()

    def _answer(self, host: str, question: Ask, token: Token) -> None:
        items: list[bytes | None] = []
        for to, request in question.items:
            try:
                items.append(row_for(self._residents, host, to, request))
            except ValueError as error:
                if not isinstance(error, Behind):
                    self._mail.refuse(host, error)
                items.append(None)
        rows = self._rows(items)
        content = to_bytes(rows)
        check_reply(content, self.limits.message)  # else nobody would say why it is not taken
        if question.told:
            self._effects.append(Acknowledged(token, host, rows))
        else:
            self._effects.append(Replied(token, content))

    def _rows(self, items: list[bytes | None]) -> RowReplies:
        return RowReplies(self.version, items, drawn=self._drawn() if self.share.private else 0)

    def _drawn(self) -> int:
        """How often agents have learned here: so often, private ones have drawn noise."""
        return self._residents.learned.total()

    def _skip(self, host: str, question: Deliver) -> None:
        """Go on after messages that were given up while this host was out of the network."""
        if self._mail.skip(host, question):
            self.version += 1
            if self._journal:
                self._entries.append(entry_bytes(Taken(host, question.dropped + 1, [])))

    def _take(
        self, host: str, first: int, items: list[tuple[Name, bytes]], after: int, ahead: int = 0
    ) -> None:
        link = self.links[host]
        if first > link.taken + 1:
            raise self._mail.distrust(host, f"message {first - 1} of their link", link.taken)
        self._mail.compare(host, first, items, after, ahead)
        new = items[link.taken + 1 - first :]
        told = [(self._learn_from(host, *item), item) for item in new]
        for learned, run in itertools.groupby(told, lambda one: one[0] is None):
            reasons, taken = zip(*run, strict=True)
            begins, history = link.taken + 1, chained(link.history, taken)
            if learned:
                self.move_on(Taken(host, begins, list(taken)), history)
            else:
                self.move_on(rejected(host, begins, taken, reasons, history), history)

    def _learn_from(self, host: str, to: Name, content: bytes) -> str | None:
        """Tell an agent here what it learns from; returns why that changes nothing, if it does not.

        Without words, if there is no reason to complain.
        """
        try:
            driver, message = addressed(self._residents, host, to, content)
            if driver.receive(message) is not None:
                raise ValueError("message must be one to learn from, got a request")
        except Behind:  # who could not know yet
            return ""
        except ValueError as error:
            self._mail.refuse(host, error)
            return str(error)
        self._residents.changed.add(driver.name)
        return None

    @_in_turn
    def move_on(self, entry: Taken | Rejected, history: int) -> None:
        """Messages of a host have had their turn, and its history ends with them."""
        link = self.links[entry.host]
        link.taken, link.history = entry.first + entry.count - 1, history
        self.version += 1
        self._mail.moved.add(entry.host)
        if self._journal:
            self._entries.append(entry_bytes(entry))

    # --- the graph changes ------------------------------------------------------------------------

    @_in_turn
    def change(self, change: Changed, joining: Mapping[Label, Driver]) -> None:
        """Let agents have other neighbours, come and leave, as a newer description says.

        What waits for a host that is in the description no more is given up: that it is gone was
        decided there.
        """
        for name in self._residents.change(change, joining):
            for number in self._open.of(name):
                self.forget(number)
        for host in self.links.keys() - set(change.hosts):
            self._mail.give_up(host)
        for host in self.share.others:
            self._mail.welcome(host)
        self.version += 1
        if self._journal:
            self._entries.append(entry_bytes(change))

    # --- what is durable --------------------------------------------------------------------------

    @property
    def urgent(self) -> bool:
        """Whether nothing may be said before the next commit.

        Agents have learned since the last one, or have read rows that rest on noise of another
        host: it must be remembered how much that was, before anybody sees what follows from it.
        """
        return self.version > self.durable or self._mail.heard_more

    @_in_turn
    def ready(self) -> list[Effect]:
        """What may be said now, because it rests on nothing but what is durable."""
        if self.urgent:
            return []
        effects, self._effects = self._effects, []
        return self._said(effects)

    @_in_turn
    def changes(self) -> Transaction:
        """All that has happened since the last call, to be written in one transaction."""
        agents, lives = self._residents.take()
        mail = self._mail.changes()
        entries, self._entries = self._entries, []
        effects, self._effects = self._effects, []
        return Transaction(
            self.version,
            self.rounds,
            agents,
            mail.links,
            mail.outbox,
            mail.delivered,
            entries,
            lives,
            effects,
            drawn=self._drawn() if self.share.private else 0,
        )

    @_in_turn
    def committed(self, changes: Transaction) -> list[Effect]:
        """The changes are durable: returns what may be said now."""
        for host, numbers in changes.links.items():
            self._mail.committed(host, numbers)
        self.durable = changes.version
        for name, state in changes.agents.items():
            self.learned[name], self.offsets[name] = learned_in(state), offset_in(state)
        return self._said(changes.effects)

    def _said(self, effects: Iterable[Replied | Durable | Acknowledged]) -> list[Effect]:
        said: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Acknowledged):
                said.append(Replied(effect.token, to_bytes(self._acknowledgement(effect))))
            else:
                said.append(effect)
        return said

    def _acknowledgement(self, effect: Acknowledged) -> Reply:
        """The reply to a host whose messages were taken, and which may have left since."""
        link, rows = self.links.get(effect.host), effect.rows
        if link is None:
            return Refused(NO_NEIGHBOURS)
        if rows is None:
            return DurablePosition(link.taken_durable, link.heard, link.acknowledged)
        return msgspec.structs.replace(rows, last=link.taken_durable)


def _refusal(token: Token, error: ValueError) -> Replied:
    """The reply to what is refused; who is refused for good hears that, too."""
    refused = Refused(str(error), isinstance(error, Stopped), isinstance(error, Differs))
    return Replied(token, to_bytes(refused))


def _packed(feedback: Feedback) -> list[object]:
    """What is learned from, for a journal; refuses what no replay could make again from it."""
    if isinstance(feedback, Loss) and type(feedback.kind) not in KINDS.values():
        raise ValueError(
            f"loss must be one of {', '.join(KINDS)} where a journal is written, because a replay "
            f"knows no others, got {feedback.kind!r}: give its gradient instead"
        )
    return packed_feedback(feedback)
