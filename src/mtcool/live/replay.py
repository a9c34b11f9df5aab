"""Play a run again from the journals of its hosts, and compare it with what happened."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec
import numpy as np

from mtcool.agents.messages import decode, encode
from mtcool.graphs.labels import label_of
from mtcool.live.agents import Driver, feedback_in
from mtcool.live.history import chained
from mtcool.live.host import BegunRound, Host, HostLimits
from mtcool.live.host_view import Share
from mtcool.live.journal import (
    Begun,
    Changed,
    Entry,
    Learned,
    Predicted,
    Rejected,
    Rewound,
    Snapshot,
    Started,
    Taken,
)
from mtcool.live.offset import Repeated
from mtcool.live.residents import DAMAGE, near_in
from mtcool.live.snapshots import kept_in
from mtcool.live.wire import Ask, Deliver, RowReplies, question_in, to_bytes
from mtcool.types import Label, Name


@dataclass
class Replayed:
    """What came of playing a run again."""

    predictions: int = 0
    same: int = 0
    """Predictions that came out as they are written, bit for bit."""
    learned: int = 0
    messages: int = 0
    """Messages between hosts that were taken."""
    lost: int = 0
    """Messages that a sender has said, its receiver has not taken, and nobody keeps."""
    waiting: int = 0
    """Messages that wait in the outbox of their sender."""
    kept: Counter[str] = field(default_factory=Counter)
    """How many of those each sender keeps."""
    twice: int = 0
    """Messages that were taken again, and rows of a stream that an agent has learned from again."""
    refused: int = 0
    elsewhere: Counter[str] = field(default_factory=Counter)
    """Messages that wait for each host whose journal was not given."""
    pruned: dict[str, int] = field(default_factory=dict)
    """Rounds of each host before the snapshot that its journal begins with: none of it is here."""
    differences: list[str] = field(default_factory=list)
    """What did not come out as it is written in the journals."""
    hosts: dict[str, Host] = field(default_factory=dict)
    """The hosts as they are in the end."""


Make: TypeAlias = Callable[[Label], Driver]


class _Player:
    """Plays the journal of one host again."""

    def __init__(self, journal: Sequence[Entry], make: Make, result: Replayed) -> None:
        started = journal[0] if journal else None
        if not isinstance(started, Started | Snapshot):
            raise ValueError("journal must begin with how the agents were, got one that does not")
        kept = self.before = kept_in(started)
        if isinstance(started, Snapshot):
            result.pruned[started.host] = started.rounds
        # A host forgets old rounds, and those that failed, which no journal tells; here a round is
        # kept as long as it is learned from later.
        self._later = {entry.number for entry in journal if isinstance(entry, Learned)}
        self._make, self.result = make, result
        home = {label_of(name): host for name, host in started.lives.home}
        share = Share(started.host, started.network, home, started.lives.revision)
        drivers = {name: make(name) for name in map(label_of, started.lives.here)}
        left = {name: make(name) for name in map(label_of, started.lives.left)}
        if kept.agents.keys() != drivers.keys() | left.keys():
            raise ValueError(f"journal must begin with all of its agents, got {list(kept.agents)}")
        most = sys.maxsize
        limits = HostLimits(outbox=most, message=most, rounds=most)
        self.host = Host(share, drivers, kept, left, limits=limits)
        self.said: dict[str, dict[int, tuple[Name, bytes]]] = {}
        """All messages to each other host, by number."""
        self.taken: dict[str, dict[int, tuple[Name, bytes]]] = {}
        """All messages from each other host that changed something, by number."""
        self.rejected: dict[str, list[tuple[int, int, int, int]]] = {}
        """Those that did not: the first, how many, and the histories before and after them."""
        self.rows: list[tuple[str, int, Name, bytes, bytes]] = []
        """Rows that were used: host, version, who was asked, request and answer."""
        self._asked: dict[int, BegunRound] = {}

    def sent_before(self, host: str) -> int:
        """How many messages it had sent to a host before its journal begins."""
        return self.before.links[host].sent if host in self.before.links else 0

    def taken_before(self, host: str) -> int:
        """How many messages of a host it had taken before its journal begins."""
        return self.before.links[host].taken if host in self.before.links else 0

    def play(self, entry: Entry) -> None:
        match entry:
            case Changed():
                self._change(entry)
            case Started() | Snapshot():
                pass  # this is what it began with
            case Begun(agent, number, features):
                self.host.rounds = number - 1
                row = None if features is None else np.array(features)
                self._asked[number] = self.host.begin(label_of(agent), row)
            case Predicted():
                self._predict(entry)
            case Learned(number, feedback, drawn, offset):
                try:
                    self.host.learn(number, feedback_in(feedback), None, drawn, offset)
                except Repeated:
                    self.result.twice += 1
                    raise
                self.result.learned += 1
                self._pass_on()
            case Rewound():
                self.host.rewind()
                self.host.committed(self.host.changes())
            case Taken():
                self._take(entry)
            case Rejected():
                self._reject(entry)

    def _change(self, change: Changed) -> None:
        joining = {name: self._make(name) for name in near_in(change)}
        self.host.change(change, joining)
        self.host.committed(self.host.changes())

    def _predict(self, entry: Predicted) -> None:
        used = {label_of(one.neighbour): one for one in entry.used}
        replies: dict[str, bytes] = {}
        for host, content in self._asked.pop(entry.number).questions.items():
            question = question_in(content)
            assert isinstance(question, Ask)  # ours: nothing else is asked in a round
            found = [used.get(label_of(to)) for to, _ in question.items]
            for (to, request), one in zip(question.items, found, strict=True):
                if one is not None:
                    self.rows.append((host, one.version, to, request, one.content))
            if any(one is not None for one in found):
                items = [None if one is None else one.content for one in found]
                replies[host] = to_bytes(RowReplies(0, items))
        said = self.host.predict(entry.number, replies)
        value = list(said.value) if isinstance(said.value, tuple) else [said.value]
        self.result.predictions += 1
        if entry.number not in self._later:
            self.host.forget(entry.number)
        if np.array(value).tobytes() == np.array(entry.value).tobytes():
            self.result.same += 1
        else:
            self._differ(f"the prediction of round {entry.number} is {value}, was {entry.value}")

    def _take(self, entry: Taken) -> None:
        host, items, share = entry.host, entry.items, self.host.share
        link = self.host.links[host]
        last, after = link.taken, link.history
        first = self._begin_of(entry)
        dropped = first - 1 if first > last + 1 else 0
        content = to_bytes(Deliver(share.network, share.revision, first, items, dropped, after))
        self.host.receive(host, content, None)
        self.taken.setdefault(host, {}).update(enumerate(items, first))
        self.host.committed(self.host.changes())

    def _reject(self, entry: Rejected) -> None:
        """What changed nothing changes nothing again, but for the numbers."""
        host, count = entry.host, entry.count
        before, first = self.host.links[host].history, self._begin_of(entry)
        self.host.move_on(msgspec.structs.replace(entry, first=first), entry.history)
        if entry.refused:
            self.host.refuse(host, entry.reason, entry.refused)
        self.rejected.setdefault(host, []).append((first, count, before, entry.history))
        self.host.committed(self.host.changes())

    def _begin_of(self, entry: Taken | Rejected) -> int:
        """The number of the first of these messages; one that was taken before is a difference."""
        self.result.messages += entry.count
        last = self.host.links[entry.host].taken
        if entry.first <= last:
            self.result.twice += min(entry.count, last + 1 - entry.first)
            self._differ(f"messages of {entry.host} begin with {entry.first}, {last} was the last")
        # Those in between were given up by their sender, or are lost: its journal will tell.
        return max(entry.first, last + 1)

    def _pass_on(self) -> None:
        changes = self.host.changes()
        for host, number, to, content in changes.outbox:
            self.said.setdefault(host, {})[number] = to, content
            self.host.links[host].outbox.clear()
        self.host.committed(changes)

    def _differ(self, what: str) -> None:
        self.result.differences.append(f"{self.host.share.host}: {what}")


def replay(
    journals: Iterable[Iterable[Entry]],
    make: Make,
    *,
    outboxes: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
    acknowledged: Mapping[str, Mapping[str, int]] | None = None,
    agents: Mapping[str, Mapping[Label, bytes]] | None = None,
    running: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Replayed:
    """Play all journals again.

    Parameters
    ----------
    journals
        What happened to each host, in order.
    make
        Makes a fresh agent by its name.
    outboxes
        Numbers of the messages that each host still keeps for each other one.
    acknowledged
        Up to which message of each host each other one had acknowledged when reading began; later
        ones may be under way, and are not lost. If None, nobody went on meanwhile.
    agents
        What each host keeps of its agents; written with the last entry of its journal, or with the
        one after which they did not change any more.
    running
        Whether hosts went on while their journals were read, one after the other: what one has
        taken and another has not yet said is no difference then.
    tell
        Is told now and then how far it is.
    """
    result, players = Replayed(), dict[str, _Player]()
    all_of_them, entries = [list(journal) for journal in journals], dict[str, list[Entry]]()
    progress = _Progress(2 * sum(map(len, all_of_them)), tell)
    for journal in all_of_them:
        player = _Player(journal, make, result)
        host = player.host.share.host
        players[host], entries[host] = player, journal
        for k, entry in enumerate(journal):
            try:
                player.play(entry)
            except DAMAGE as error:
                result.differences.append(f"{host}: entry {k + 1} cannot be played again: {error}")
                del journal[k:]
                break
            progress.step()
        else:
            _compare_agents(player.host, (agents or {}).get(host), result)
        result.refused += sum(player.host.refused.values())
        result.hosts[host] = player.host
    _compare_messages(players, outboxes or {}, acknowledged or {}, running, result)
    _compare_rows(players, entries, make, running, result, progress)
    return result


class _Progress:
    """Says how far a replay is, every two seconds."""

    def __init__(self, total: int, tell: Callable[[str], None] | None) -> None:
        self._total, self._tell, self._done = total, tell, 0
        self._last = time.monotonic()

    def step(self) -> None:
        self._done += 1
        if self._tell is not None and time.monotonic() > self._last + 2.0:
            self._last = time.monotonic()
            self._tell(f"{self._done / self._total:.0%} of the journals are played again")


def _compare_agents(host: Host, kept: Mapping[Label, bytes] | None, result: Replayed) -> None:
    """What agents have become must be what is kept of them."""
    if kept is None:
        return
    here = host.drivers.keys() | host.left.keys()
    for name in sorted(here | kept.keys(), key=str):
        if name not in here or name not in kept:
            what = (
                "is kept, and does not live there"
                if name in kept
                else "lives there, and is not kept"
            )
            result.differences.append(f"{host.share.host}: agent {name!r} {what}")
        elif host.kept(name) != kept[name]:
            result.differences.append(
                f"{host.share.host}: what agent {name!r} has become is not what is kept of it"
            )


def _compare_messages(
    players: Mapping[str, _Player],
    outboxes: Mapping[str, Mapping[str, Sequence[int]]],
    acknowledged: Mapping[str, Mapping[str, int]],
    running: bool,
    result: Replayed,
) -> None:
    for name, player in players.items():
        keeps = outboxes.get(name, {})
        for other in dict.fromkeys((*player.said, *filter(player.sent_before, keeps))):
            said, kept = player.said.get(other, {}), set(keeps.get(other, ()))
            if other not in players and other not in outboxes:
                result.elsewhere[other] += len(kept)
                continue
            # A host that was killed before its first transaction has an outbox, and took nothing.
            taken = players[other].taken.get(name, {}) if other in players else {}
            dropped = player.host.dropped(other)
            rejected = players[other].rejected.get(name, ()) if other in players else ()
            # Of what was said and taken before a snapshot, no more is known than how much it was.
            unknown = player.sent_before(other)
            had = players[other].taken_before(name) if other in players else 0
            last = max(said, default=unknown)
            numbers, others = _rejected_of(said, rejected, last)
            told = said.keys() | {number for number in kept if number <= unknown}
            untaken = {number for number in told - taken.keys() - numbers if number > had}
            result.waiting += len(untaken & kept)
            result.kept[name] += len(untaken & kept)
            # What was acknowledged later may not be in a journal that was read before.
            until = acknowledged[name].get(other, 0) if name in acknowledged else last
            result.lost += sum(dropped < number <= until for number in untaken - kept)
            more = {number for number in taken.keys() - said.keys() if number > unknown} or any(
                first + count - 1 > last for first, count, *_ in rejected
            )
            others |= any(taken[number] != said[number] for number in taken.keys() & said.keys())
            if others or (more and not running):
                result.differences.append(f"{other} has not taken what {name} has said")


def _rejected_of(
    said: Mapping[int, tuple[Name, bytes]], rejected: Iterable[tuple[int, int, int, int]], last: int
) -> tuple[set[int], bool]:
    """Which messages have changed nothing at their receiver; whether it had others than these.

    `last` is the number of the last that was said.
    """
    numbers, others = set[int](), False
    for first, count, before, after in rejected:
        there = range(first, min(first + count, last + 1))
        numbers.update(there)
        if len(there) == count and said.keys() >= set(there):
            others |= chained(before, [said[number] for number in there]) != after
    return numbers, others


def _compare_rows(
    players: Mapping[str, _Player],
    entries: Mapping[str, list[Entry]],
    make: Make,
    running: bool,
    result: Replayed,
    progress: _Progress,
) -> None:
    """Rows must be those of the state that they were read from: play once more, and look."""
    wanted: dict[str, dict[int, list[tuple[Name, bytes, bytes]]]] = {}
    for player in players.values():
        for host, version, *row in player.rows:
            wanted.setdefault(host, {}).setdefault(version, []).append(tuple(row))  # type: ignore[arg-type]
    for host, versions in wanted.items():
        if host not in players:
            continue
        again = _Player(entries[host], make, Replayed())
        pruned = range(again.before.version)
        versions = {k: rows for k, rows in versions.items() if k not in pruned}
        for entry in entries[host]:
            before = again.host.version
            again.play(entry)
            progress.step()
            if again.host.version > before or isinstance(entry, Started | Snapshot):
                _compare_at(again, versions.pop(again.host.version, ()), result)
        if versions and not running:
            result.differences.append(
                f"{host}: rows of versions {sorted(versions)[:3]} were used, and it has had no such"
            )


def _compare_at(
    player: _Player, rows: Iterable[tuple[Name, bytes, bytes]], result: Replayed
) -> None:
    for to, request, content in rows:
        driver = player.host.drivers.get(label_of(to))
        answer = None if driver is None else driver.receive(decode(request))
        if answer is None or encode(answer) != content:
            result.differences.append(
                f"{player.host.share.host}: the row of {to} at version {player.host.version} "
                "is another one than was said"
            )
