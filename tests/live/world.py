"""A network of hosts on a simulated network and disk, which a scheduler with a seed torments.

Messages are lost, repeated, delayed and reordered, links are cut and healed, hosts crash before,
during and after commits and begin again from their disks, and disks fill up. When the scheduler has
had enough, faults stop and everything must arrive. `check` then plays the journals again.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import msgspec
import numpy as np

from live.networks import Small, feedback
from mtcool.live.agents import packed_feedback
from mtcool.live.host import Host, HostLimits
from mtcool.live.journal import Learned, Lives, entry_bytes, entry_in
from mtcool.live.refusals import Refusal, Stopped
from mtcool.live.replay import replay
from mtcool.live.residents import learned_in
from mtcool.live.resuming import resume
from mtcool.live.rollback import check_newest
from mtcool.live.snapshots import snapshot_of
from mtcool.live.transactions import Checkpoint, Durable, Replied, Transaction

MAX_STEPS = 200_000


class DiskFull(OSError):
    """A disk that takes nothing now."""


@dataclass
class Disk:
    """What survives a crash: transactions, whole or not at all."""

    version: int = 0
    rounds: int = 0
    agents: dict = field(default_factory=dict)
    links: dict = field(default_factory=dict)
    outbox: dict = field(default_factory=dict)
    journal: list = field(default_factory=list)
    lives: Lives | None = None
    full: bool = False
    pruned: list = field(default_factory=list)
    """Entries of the journal that a snapshot stands for."""
    counter: int = 0
    """How often noise was drawn: in a file beside all of this."""

    def prune(self, host: str, network: int) -> None:
        """Put a snapshot in place of the journal."""
        kept = self.read()
        if kept is not None and self.journal:
            self.pruned += self.journal
            self.journal = [entry_bytes(snapshot_of(kept, host, network))]

    def write(self, changes: Transaction) -> None:
        if self.full:
            raise DiskFull("no room")
        self.version, self.rounds = changes.version, changes.rounds
        for name, state in changes.agents.items():  # on a disk 1 and 1.0 are two names
            self.agents[msgspec.msgpack.encode(name)] = state
        self.links.update(changes.links)
        for host, number, to, content in changes.outbox:
            self.outbox[host, number] = to, content
        for host, last in changes.delivered.items():
            for key in [key for key in self.outbox if key[0] == host and key[1] <= last]:
                del self.outbox[key]
        self.journal += changes.journal
        self.lives = changes.share or self.lives
        self.counter = changes.drawn

    def read(self) -> Checkpoint | None:
        drawn = sum(map(learned_in, self.agents.values()))
        check_newest("disk", drawn, self.counter)
        self.counter = drawn if self.counter else 0
        if self.lives is None:
            return None
        waiting = [(*key, *self.outbox[key]) for key in sorted(self.outbox)]
        agents = {msgspec.msgpack.decode(key): state for key, state in self.agents.items()}
        return Checkpoint(self.version, self.rounds, agents, dict(self.links), waiting, self.lives)


@dataclass
class Letter:
    """A question or a reply under way."""

    sender: str
    to: str
    content: bytes
    question: int
    """Number of the question that this is, or replies to."""
    reply: bool


class Process:
    """One host as a process: memory that a crash takes, and what it waits for."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.disk = world.disk_class()
        self.up = True
        self.revision = 0
        self.begin()

    def begin(self) -> None:
        share, change = self.world.small.descriptions[self.revision](self.name)
        if self.world.prunes:
            self.disk.prune(self.name, share.network)
        kept, limits = self.disk.read(), HostLimits(outbox=30)
        self.host: Host = resume(
            share,
            change,
            self.world.small.make,
            kept,
            limits=limits,
            journal=True,
            kind=self.world.host_class,
        )
        self.commit: Transaction | None = None
        """A transaction that has begun and is not done."""
        self.waiting: dict[int, tuple[str, int]] = {}
        """Questions under way: to whom, and for which round; round 0 for deliveries."""
        self.late: dict[int, str] = {}
        """Deliveries that were given up: a position that comes late is true all the same."""
        self.rounds: dict[int, dict] = {}
        """Rounds that wait for rows."""
        self.ready: list[int] = []
        """Rounds that were predicted."""

    def reload(self) -> None:
        """Read a newer description."""
        if self.revision + 1 < len(self.world.small.descriptions) and self.disk.lives is not None:
            self.revision += 1
            if self.up:
                _, change = self.world.small.descriptions[self.revision](self.name)
                new = [name for name, _ in change.near if name not in self.host.drivers]
                self.host.change(change, {name: self.world.small.make(name) for name in new})
                gone = {k for k in self.ready if not self.host.is_open(k)}
                self.ready = [k for k in self.ready if k not in gone]
                self.rounds = {k: one for k, one in self.rounds.items() if self.host.is_open(k)}

    def crash(self) -> None:
        self.up = False
        del self.host
        self.world.restarts += 1


class World:
    """Hosts, letters under way, and a scheduler that has faults to choose from."""

    def __init__(
        self,
        seed: int,
        small: Small,
        activations: int = 12,
        host_class: type[Host] = Host,
        disk_class: type[Disk] = Disk,
    ) -> None:
        self.seed, self.small = seed, small
        self.prunes = seed % 3 == 2
        """Whether journals are pruned when their hosts begin again."""
        self.host_class, self.disk_class = host_class, disk_class
        self.chance = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.restarts = 0
        self.letters: list[Letter] = []
        self.cut: set[frozenset[str]] = set()
        self.questions = 0
        self.told: set[tuple[str, int, str]] = set()
        """Host, round and feedback of what applications were told to be durable."""
        self.processes = {name: Process(self, name) for name in small.hosts}
        self.left = activations * len(small.hosts)
        self.faults = True

    # --- one step --------------------------------------------------------------------------------

    def run(self) -> None:
        steps = 0
        while self.left > 0:
            self.step()
            steps += 1
            assert steps < MAX_STEPS, f"seed {self.seed}: no end"
        self.calm()

    def step(self) -> None:
        draw = self.chance.random()
        process = self.chance.choice(list(self.processes.values()))
        if draw < 0.10:
            self.activate(process)
        elif draw < 0.24:
            self.learn(process)
        elif draw < 0.60:
            self.move_letter()
        elif draw < 0.72:
            self.begin_commit(process)
        elif draw < 0.79:
            self.end_commit(process)
        elif draw < 0.90:
            self.send_batches(process)
        elif draw < 0.96:
            self.time_out(process)
        elif self.faults:
            self.harm(process)

    def harm(self, process: Process) -> None:
        what = self.chance.randrange(6)
        if what == 0 and process.up:
            process.crash()
        elif what == 1 and not process.up:
            process.up = True
            process.begin()
        elif what == 2:
            pair = frozenset(self.chance.sample(sorted(self.processes), 2))
            self.cut ^= {pair}
        elif what == 3:
            process.disk.full = self.chance.random() < 0.3
        elif what == 4 and not process.up:
            process.up = True
            process.begin()
        elif what == 5:
            process.reload()

    def calm(self) -> None:
        """No more faults: everything must arrive."""
        self.faults, self.cut = False, set()
        for process in self.processes.values():
            process.disk.full = False
            if not process.up:
                process.up = True
                process.begin()
            self.begin_commit(process)
            self.end_commit(process)
            for _ in self.small.descriptions:
                process.reload()
        for _ in range(2000):
            for process in self.processes.values():
                self.send_batches(process)
                self.begin_commit(process)
                self.end_commit(process)
            while self.letters:
                self.deliver(self.letters.pop(0))
                for process in self.processes.values():
                    self.begin_commit(process)
                    self.end_commit(process)
            for process in self.processes.values():
                self.time_out(process, all_of_them=True)
            if self.quiet():
                break
        for process in self.processes.values():  # what nobody waits for is written in the end
            changes = process.host.changes()
            process.disk.write(changes)
            process.host.committed(changes)

    def quiet(self) -> bool:
        return not any(
            link.outbox or (name in process.host.neighbours and not link.greeted)
            for process in self.processes.values()
            for name, link in process.host.links.items()
        )

    # --- what processes do -----------------------------------------------------------------------

    def activate(self, process: Process) -> None:
        if not process.up or len(process.rounds) > 3:
            return
        agent = self.chance.choice(sorted(process.host.drivers))
        row = self.numbers.normal(size=1) if self.small.features else None
        called = agent if self.left % 2 else float(agent)  # in Python they are equal
        asked = process.host.begin(called, row)
        self.left -= 1
        if not asked.questions:
            self.predict(process, asked.number, {})
            return
        if asked.number % 2:  # a replay prepares nothing, and must come to the same
            process.host.prepare(asked.number)
        process.rounds[asked.number] = {"missing": set(asked.questions), "replies": {}}
        for to, content in asked.questions.items():
            self.ask(process, to, content, asked.number)

    def ask(self, process: Process, to: str, content: bytes, number: int) -> None:
        self.questions += 1
        process.waiting[self.questions] = to, number
        self.post(Letter(process.name, to, content, self.questions, reply=False))

    def predict(self, process: Process, number: int, replies: dict[str, bytes]) -> None:
        said = process.host.predict(number, replies)
        assert np.isfinite(said.value).all()
        process.ready.append(number)

    def learn(self, process: Process) -> None:
        if not process.up or not process.ready:
            return
        number = process.ready.pop(0)
        given = feedback(self.small, self.numbers)
        token = number, repr(packed_feedback(given))
        try:
            process.host.learn(number, given, token)
        except (Refusal, Stopped):
            process.ready.append(number)

    def send_batches(self, process: Process) -> None:
        if process.up:
            for to in process.host.links:
                content = process.host.batch(to)
                if content is None and self.questions % 8 == 0:  # it has not heard for a while
                    content = process.host.heartbeat(to)
                if content is not None:
                    self.ask(process, to, content, 0)

    def time_out(self, process: Process, all_of_them: bool = False) -> None:
        """Questions that were under way for long are given up."""
        if not process.up:
            return
        for question, (to, number) in list(process.waiting.items()):
            if all_of_them or self.chance.random() < 0.5:
                del process.waiting[question]
                if number == 0:
                    process.host.delivered(to, None)
                    process.late[question] = to
                else:
                    self.replied(process, number, to, None)

    def replied(self, process: Process, number: int, to: str, content: bytes | None) -> None:
        known = process.rounds.get(number)
        if known is None:
            return
        known["missing"].discard(to)
        if content is not None:
            known["replies"][to] = content
        if not known["missing"]:
            del process.rounds[number]
            self.predict(process, number, known["replies"])

    def begin_commit(self, process: Process) -> None:
        if not process.up or process.commit is not None:
            return
        if process.host.urgent or self.chance.random() < 0.1:
            process.commit = process.host.changes()
        else:
            self.say(process, process.host.ready())

    def end_commit(self, process: Process) -> None:
        if not process.up or process.commit is None:
            return
        changes, process.commit = process.commit, None
        counted = process.disk.counter
        try:
            process.disk.write(changes)
        except DiskFull:
            process.begin()
            return
        if self.faults and self.chance.random() < 0.02:
            process.crash()  # it is durable, and nobody hears of it; nor is it counted, perhaps
            process.disk.counter = self.chance.choice([counted, process.disk.counter])
            return
        self.say(process, process.host.committed(changes))
        if self.faults and self.chance.random() < 0.04:
            process.crash()  # with all that has happened since the transaction began

    def say(self, process: Process, effects: list) -> None:
        for effect in effects:
            match effect:
                case Replied((question, to), content):
                    self.post(Letter(process.name, to, content, question, reply=True))
                case Durable((number, given)):
                    self.told.add((process.name, number, given))

    # --- letters ---------------------------------------------------------------------------------

    def post(self, letter: Letter) -> None:
        self.letters.append(letter)
        if self.faults and self.chance.random() < 0.1:
            self.letters.append(letter)

    def move_letter(self) -> None:
        if not self.letters:
            return
        k = self.chance.randrange(len(self.letters)) if self.faults else 0
        letter = self.letters.pop(k)
        if self.faults and self.chance.random() < 0.08:
            return
        self.deliver(letter)

    def deliver(self, letter: Letter) -> None:
        process = self.processes[letter.to]
        if not process.up or frozenset((letter.sender, letter.to)) in self.cut:
            return
        if not letter.reply:
            process.host.receive(letter.sender, letter.content, (letter.question, letter.sender))
            return
        if letter.question in process.late:
            process.host.delivered(process.late[letter.question], letter.content)
            return
        known = process.waiting.pop(letter.question, None)
        if known is None:
            return
        to, number = known
        if number == 0:
            process.host.delivered(to, letter.content)
        else:
            self.replied(process, number, to, letter.content)

    # --- what must hold --------------------------------------------------------------------------

    def check(self) -> None:
        wrong = self.findings()
        assert not wrong, f"seed {self.seed}: {wrong}"

    def findings(self) -> dict[str, object]:
        """What is wrong in the end, by its kind."""
        journals = {
            name: [entry_in(entry) for entry in process.disk.journal]
            for name, process in self.processes.items()
        }
        agents = {
            name: {msgspec.msgpack.decode(key): state for key, state in process.disk.agents.items()}
            for name, process in self.processes.items()
        }
        again = replay(journals.values(), self.small.make, agents=agents)
        kept = {
            (name, entry.number, repr(entry.feedback))
            for name, process in self.processes.items()
            for entry in map(entry_in, [*process.disk.pruned, *process.disk.journal])
            if isinstance(entry, Learned)
        }
        hosts = {name: process.host for name, process in self.processes.items()}
        found = {
            "waiting": not self.quiet(),
            "trouble": {name: host.trouble for name, host in hosts.items() if host.trouble},
            "refused": again.refused + sum(host.refused.total() for host in hosts.values()),
            "lost": again.lost,
            "taken twice": again.twice,
            "forgotten": self.told - kept,
            "another state": [
                agent
                for name, host in hosts.items()
                for agent, driver in host.drivers.items()
                if again.hosts[name].drivers[agent].keep() != driver.keep()
            ],
        }
        for sentence in again.differences:
            found.setdefault(_kind(sentence), []).append(sentence)
        return {kind: what for kind, what in found.items() if what}


def _kind(difference: str) -> str:
    """What kind of difference a replay has found."""
    kinds = {
        "the row of": "another row",
        "rows of versions": "another row",
        "the prediction of": "another prediction",
        "cannot be played again": "unplayable",
        "begin with": "other messages",
        "has not taken": "other messages",
        "is not what is kept": "another state",
    }
    return next(kind for words, kind in kinds.items() if words in difference)
