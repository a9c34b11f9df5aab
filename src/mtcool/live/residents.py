"""The agents of a host: who lives there, who has left, and what of them must be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from mtcool.agents.received import MOST
from mtcool.graphs.labels import label_of, plain_name
from mtcool.live.agents import Driver, Near
from mtcool.live.host_view import Share
from mtcool.live.journal import Changed, Lives
from mtcool.live.offset import START, Offset, Repeated
from mtcool.live.transactions import Checkpoint
from mtcool.types import Label, Name

DAMAGE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What comes of reading a state that is none."""
COUNT = 8  # bytes of a number before the state of an agent
HEAD = 3 * COUNT
"""Bytes of all of them: how many rounds it has learned from, and its offset."""


class Residents:
    """The agents of a host, and where their neighbours live.

    Parameters
    ----------
    share
        Which host it is, and where everybody lives.
    drivers, left
        The agents that live here, and those that were here once.
    """

    def __init__(
        self, share: Share, drivers: Mapping[Label, Driver], left: Mapping[Label, Driver]
    ) -> None:
        self.share, self.drivers = share, dict(drivers)
        self.left = dict(left)
        """Agents that were here, and have left: they may join again, and go on counting."""
        self.gone: dict[Label, str] = {}
        """Where past neighbours were whose host is in the network no more."""
        self.learned: Counter[Label] = Counter()
        """Rounds that each agent has ever learned from; kept with its state."""
        self.offsets: dict[Label, Offset] = {}
        """How far the rows of a stream were fed to each agent; kept with its state."""
        self.changed: set[Label] = set()
        """Those that are others than in the last transaction."""
        self._moved = False
        """Whether somebody has come, left, or met others since the last transaction."""
        self._neighbours: frozenset[str] | None = None

    def start(self) -> None:
        """Nothing of them is kept anywhere: all of it must be written."""
        self._moved = True
        self.changed.update(self.drivers)

    def go_on(self, kept: Checkpoint) -> None:
        """Let them go on from what was kept."""
        self.gone = {label_of(name): host for name, host in kept.lives.gone}
        known, home = self.drivers | self.left, self.share.home
        for name, content in kept.agents.items():
            try:
                self.learned[name], self.offsets[name] = learned_in(content), offset_in(content)
                known[name].restore(content[HEAD:])
                near = set(known[name].neighbours)
                here = name in self.left or home.get(name) == self.share.host
                if not here or not near <= home.keys():
                    raise ValueError("it lives elsewhere, or a neighbour lives nowhere")
            except DAMAGE as error:
                raise ValueError(
                    f"database must be whole, got {kept.file!r}, in which the state of agent "
                    f"{name!r} cannot be read: {error}"
                ) from error

    def take(self) -> tuple[dict[Label, bytes], Lives | None]:
        """What must be written of agents that changed; who lives here, if that has changed."""
        states = {name: self.kept(name) for name in self.changed}
        lives = self.lives() if self._moved else None
        self.changed, self._moved = set(), False
        return states, lives

    def kept(self, name: Label) -> bytes:
        """What must be written of an agent: how often it has learned, its offset, its state."""
        driver = self.drivers[name] if name in self.drivers else self.left[name]
        numbers = self.learned[name], *self.offsets.get(name, START)
        return b"".join(number.to_bytes(COUNT) for number in numbers) + driver.keep()

    def check_offset(self, name: Label, offset: Offset) -> None:
        """Refuse a row that an agent has learned from before."""
        last = self.offsets.get(name, START).row
        if offset.row <= last:
            raise Repeated(
                f"offset must be beyond row {last}, from which agent {name!r} has learned, got "
                f"row {offset.row}"
            )

    def rewind(self) -> bool:
        """Let streams be fed from their beginning again; False if they have not begun."""
        begun = {name for name, offset in self.offsets.items() if offset != START}
        self.offsets.clear()
        self.changed |= begun
        return bool(begun)

    def lives(self) -> Lives:
        """Who lives here, as it is kept."""
        home = [(plain_name(name, "kept"), host) for name, host in self.share.home.items()]
        here = [plain_name(name, "kept") for name in self.drivers]
        left = [plain_name(name, "kept") for name in self.left]
        gone = [(plain_name(name, "kept"), host) for name, host in self.gone.items()]
        return Lives(self.share.revision, here, home, left, gone)

    @property
    def neighbours(self) -> frozenset[str]:
        """The other hosts on which agents of this one have neighbours now."""
        if self._neighbours is None:
            others = (name for driver in self.drivers.values() for name in driver.neighbours)
            hosts = {self.share.home[name] for name in others}
            self._neighbours = frozenset(hosts - {self.share.host})
        return self._neighbours

    def driver(self, agent: Label) -> Driver:
        """An agent that lives here; refuses others."""
        driver = self.drivers.get(agent)
        if driver is None:
            raise ValueError(f"agent must live on host {self.share.host!r}, got {agent!r}")
        return driver

    def named(self, name: Name) -> Driver:
        """The agent of this name in a message or a request, to the letter.

        In Python 1, 1.0 and True are equal, but an agent is kept under one of them.
        """
        driver = self.driver(label_of(name))
        kind = type(name)
        if kind is type(driver.name) and (kind is str or kind is int):
            return driver  # nearly always
        if _letters(name) != _letters(plain_name(driver.name, "sent")):
            raise ValueError(f"agent must be called {driver.name!r}, got {name!r}")
        return driver

    def change(self, change: Changed, joining: Mapping[Label, Driver]) -> list[Label]:
        """Let agents come, leave and meet others; returns those whose open rounds are over.

        What is refused changes nothing.
        """
        if change.revision <= self.share.revision:
            raise ValueError(f"revision must be above {self.share.revision}, got {change.revision}")
        remembered = {**self.gone, **self.share.home}
        check_homes(remembered, change)
        near, skipped = near_in(change), change.revision > self.share.revision + 1
        known = self.drivers | self.left
        met = (known[name] if name in known else joining[name] for name in near)
        drivers = {driver.name: driver for driver in met}
        for name in drivers.keys() & self.drivers.keys():
            drivers[name].check_meeting(near[name])
        for name in drivers.keys() ^ self.drivers.keys():  # outside the network it has nobody
            (self.drivers | drivers)[name].check_meeting([])
        over = [name for name in self.drivers if name not in drivers]
        for name in over:
            self.left[name] = self.drivers[name]
            self.left[name].meet([])
        self.changed.update(over)
        for name, driver in drivers.items():
            before = set(driver.neighbours)
            driver.meet(near[name], skipped)
            if before != set(driver.neighbours):  # weights of its rounds would be others now
                over.append(name)
            self.left.pop(name, None)
        self.drivers.clear()
        self.drivers.update(drivers)
        self.changed.update(drivers)
        home = {label_of(name): host for name, host in change.home}
        there = {name: host for name, host in self.share.home.items() if host in change.hosts}
        self.share = self.share._replace(revision=change.revision, home=there | home)
        self.gone = {name: host for name, host in remembered.items() if name not in self.share.home}
        self._moved, self._neighbours = True, None
        return over


def check_homes(known: Mapping[Label, str], change: Changed) -> None:
    """Refuse agents that are elsewhere than before.

    There they would count from one again, and what they say would be taken for what was said.
    """
    for name, host in change.home:
        before = known.get(label_of(name), host)
        if before != host:
            raise ValueError(
                f"agent {label_of(name)!r} must stay on {before!r}, where it was before, got "
                f"{host!r}: give it another name there"
            )


_letters = msgspec.msgpack.Encoder().encode


def learned_in(kept: bytes) -> int:
    """How many rounds an agent had learned from when this was kept of it."""
    return _number_in(kept, 0)


def offset_in(kept: bytes) -> Offset:
    """How far rows were fed to an agent when this was kept of it."""
    return Offset(_number_in(kept, 1), _number_in(kept, 2))


def _number_in(kept: bytes, place: int) -> int:
    number = int.from_bytes(kept[COUNT * place : COUNT * (place + 1)])
    if number > MOST:
        raise ValueError(f"counts must be at most {MOST}, got {number}")
    return number


def near_in(change: Changed) -> dict[Label, list[Near]]:
    """The neighbours of each agent that lives on a host."""
    return {
        label_of(name): [Near(label_of(other), *rest) for other, *rest in others]
        for name, others in change.near
    }
