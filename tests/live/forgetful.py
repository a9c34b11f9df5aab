"""A world in which hosts begin again from older disks, or empty ones, while nobody reaches them.

Nothing brings back what such a host has forgotten. But of every two neighbours, either each has
taken what the other one has said, or both say that they have stopped: there is no third. And where
the database alone is older, and not the counter beside it, no private agent draws other noise for a
round that it has had.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
import re
from collections import Counter

from live.world import Disk, Process, World
from mtcool.live.journal import Begun, Learned, entry_in
from mtcool.live.replay import replay

ROWS = re.compile("the row of|rows of versions")
"""What a replay says of rows: those that a host has forgotten are others now, and no gradients."""
MOST = 2
"""How often hosts forget something."""
LONGEST = 25
"""Rounds after a new beginning in which nobody is reached."""


class Forgetful(World):
    """Copies of disks are made now and then, and put back later."""

    def __init__(self, *args, **more) -> None:
        super().__init__(*args, **more)
        self.copies: dict[str, list[Disk]] = {name: [] for name in self.processes}
        self.half, self.forgotten, self.rolled_back = self.left / 2, 0, 0
        self.drawn: dict[str, dict[tuple[object, int], list[float]]] = {}
        """The noise of each host, by agent and round of it, as far as anybody may have seen it."""
        self.twice: list[object] = []
        """Rounds for which other noise was drawn."""
        self.acquainted = False
        """Whether everything has arrived once: before, there is little to forget."""

    def step(self) -> None:
        if not self.acquainted and self.left < self.half:
            World.calm(self)
            self.faults = self.acquainted = True
        super().step()

    def harm(self, process: Process) -> None:
        what = self.chance.randrange(4)
        if what == 0:
            self.copies[process.name].append(copy.deepcopy(process.disk))
        elif what == 1 and self.acquainted and self.forgotten < MOST:
            self.forget(process)
        elif what == 2 and self.acquainted and self.rolled_back < MOST and process.up:
            if process.host.share.private:
                self.roll_back(process)
        else:
            super().harm(process)

    def forget(self, process: Process) -> None:
        """Begin again from a copy, or from nothing, and learn for a while without the others."""
        self.cut_off(process)
        process.disk, process.up = self.older(process), True
        process.begin()
        self.drawn.pop(process.name, None)
        self.learn_alone(process)
        self.forgotten += 1

    def roll_back(self, process: Process) -> None:
        """Learn for a while without the others, and begin again from an older database alone."""
        World.calm(self)
        self.faults, before = True, copy.deepcopy(process.disk)
        self.cut_off(process)
        self.learn_alone(process)
        self.look(process)
        newest, older = process.disk, self.chance.choice([before, self.older(process)])
        older.counter, process.disk, process.up = newest.counter, older, True
        try:
            process.begin()
        except ValueError:
            process.disk = newest
            process.begin()
        self.rolled_back += 1
        World.calm(self)
        self.faults = True
        self.learn_alone(process)

    def cut_off(self, process: Process) -> None:
        self.cut |= {frozenset((process.name, other)) for other in self.processes} - {
            frozenset((process.name,))
        }

    def older(self, process: Process) -> Disk:
        found = self.chance.choice([self.disk_class(), *self.copies[process.name]])
        return dataclasses.replace(copy.deepcopy(found), full=False)

    def learn_alone(self, process: Process) -> None:
        left = self.left
        for _ in range(self.chance.randrange(LONGEST)):
            if process.up:
                self.activate(process)
                self.time_out(process, all_of_them=True)
                self.learn(process)
                self.begin_commit(process)
                self.end_commit(process)
        self.left = left

    def look(self, process: Process) -> None:
        """Compare the noise of rounds that are done with what was drawn for them before."""
        known, agents = self.drawn.setdefault(process.name, {}), {}
        rounds: Counter[object] = Counter()
        for entry in map(entry_in, [*process.disk.pruned, *process.disk.journal]):
            if isinstance(entry, Begun):
                agents[entry.number] = entry.agent
            elif isinstance(entry, Learned) and entry.drawn:
                agent = agents[entry.number]
                rounds[agent] += 1
                if (process.name, entry.number, repr(entry.feedback)) not in self.told:
                    continue  # nobody has seen it
                if known.setdefault((agent, rounds[agent]), entry.drawn) != entry.drawn:
                    self.twice.append((agent, rounds[agent]))

    def learn(self, process: Process) -> None:
        with contextlib.suppress(ValueError):  # who has stopped refuses for good
            super().learn(process)

    def quiet(self) -> bool:
        """Nobody waits for a link that has stopped."""
        return not any(
            link.outbox or (name in process.host.neighbours and not link.greeted)
            for process in self.processes.values()
            for name, link in process.host.links.items()
            if name not in process.host.trouble
        )

    def calm(self) -> None:
        super().calm()
        self.everybody_asks()
        super().calm()

    def everybody_asks(self) -> None:
        """Who has stopped says so when it is asked."""
        for process in self.processes.values():
            for agent in sorted(process.host.drivers):
                row = self.numbers.normal(size=1) if self.small.features else None
                asked = process.host.begin(agent, row)
                process.rounds[asked.number] = {"missing": set(asked.questions), "replies": {}}
                for to, content in asked.questions.items():
                    self.ask(process, to, content, asked.number)

    def findings(self) -> dict[str, object]:
        """Pairs of hosts of which one does not say what is wrong; states that are not replayed."""
        for process in self.processes.values():
            self.look(process)
        found: dict[str, list[object]] = {"silence": [], "another state": []}
        found["noise twice"] = self.twice
        for pair in itertools.combinations(self.processes.values(), 2):
            one, other = pair
            if other.name not in one.host.neighbours:
                continue
            again = self._again(pair)
            wrong = again.lost + again.twice + again.waiting + again.refused
            wrong += sum(ROWS.search(what) is None for what in again.differences)
            said = (other.name in one.host.trouble) + (one.name in other.host.trouble)
            if said == 1 or (wrong and said == 0):
                found["silence"].append((one.name, other.name, wrong, said))
            for process in pair:
                drivers = again.hosts[process.name].drivers
                for agent, driver in process.host.drivers.items():
                    if drivers[agent].keep() != driver.keep():
                        found["another state"].append(agent)
        return {kind: what for kind, what in found.items() if what}

    def _again(self, pair: tuple[Process, Process]):
        """Play the journals of two hosts again."""
        journals = [[entry_in(entry) for entry in one.disk.journal] for one in pair]
        outboxes = {
            one.name: {
                other.name: [number for host, number in one.disk.outbox if host == other.name]
                for other in pair
            }
            for one in pair
        }
        return replay(journals, self.small.make, outboxes=outboxes)
