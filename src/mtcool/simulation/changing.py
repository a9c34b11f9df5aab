"""A network that changes while a stream is played."""

from __future__ import annotations

import numpy as np

from mtcool.changes import Schedule
from mtcool.changes.events import JOIN, LEAVE, Events
from mtcool.network.network import Network
from mtcool.peers.exchange import Names
from mtcool.peers.field.directory import Directory
from mtcool.peers.field.events import DONE
from mtcool.simulation.loop import play_on
from mtcool.types import Given, Integers

NEVER = 2**62


class PlayedChanges:
    """The changes of a schedule on a network, as far as they have happened.

    Agents that will join are among its `names` from the beginning, so that arrays have a place for
    them. The network knows them from `register` on, when nothing can be refused any more.
    """

    def __init__(self, network: Network, schedule: Schedule) -> None:
        if not isinstance(schedule, Schedule):
            raise ValueError(f"changes must be an mtcool.changes.Schedule, got {schedule!r}")
        network.check_changeable()
        graph, field = network.graph, network.exchange.in_the_field()
        known = Directory(graph) if field is None else field.names
        # refuses what does not fit the graph
        events, agents = schedule.played(graph, () if field is None else field.gone())
        # Most networks have been as they are from the beginning: then nobody need be looked up.
        same = graph.size if graph.labels == known.start.labels else 0
        self._new = [name for name in agents[same:] if not known.knows(name)]
        self.names = Directory(known.start, (*known.joined, *self._new))
        others = [self.names.index(name) for name in agents[same:]]
        self.events = _in_places(
            events, np.concatenate((np.arange(same), np.array(others, np.int64)))
        )
        self._cursor = np.zeros(2, np.int64)
        self._network = network

    def register(self) -> None:
        """Make all agents known to the network that will join, and room for all that changes."""
        exchange = self._exchange = self._network.in_the_field(self.names.size)
        exchange.register(self._new)
        exchange.reserve(self.events)

    def until(self, now: int) -> int:
        """How far rounds may be played from `now` on; what must happen before them has happened.

        Where messages take time a queue must have room for them, and who has which neighbours must
        stay as it is: then the next change ends the rounds. Else changes may come between them.
        """
        exchange = self._exchange
        if not exchange.peers.rules.late:
            return NEVER
        if self._following() <= now:
            exchange.expect(self.events, self._cursor)
            while self._following() <= now:
                exchange.go_on(self.events, self._cursor)
            exchange.changed()
        return self._following()

    def play(self, first: int, last: int, given: Given, totals: Given) -> int:
        """Play rounds with their changes as `play` does; returns the next round."""
        exchange, missing = self._exchange, NEVER
        exchange.expect(self.events, self._cursor)
        while missing != DONE:
            coming = self.events, self._cursor, exchange.slow
            first, missing = play_on(exchange.peers, first, last, *coming, *given, *totals)
            if missing != DONE:
                exchange.make_room_for(self.events, self._cursor, missing)
        exchange.changed()
        return first

    def _following(self) -> int:
        k = int(self._cursor[0])
        return int(self.events.time[k]) if k < len(self.events.time) else NEVER


def check_present(
    network: Network, names: Names, changes: PlayedChanges | None, agents: Integers
) -> None:
    """Refuse a stream with an agent that is active while it is not in the network."""
    field = network.exchange.in_the_field()
    if field is None and changes is None:
        return
    present, known = np.zeros(names.size, np.bool_), network.names.size
    present[:known] = True if field is None else field.peers.state.agents["present"][:known]
    comings = [] if changes is None else _comings(changes.events)
    begun = 0
    for time, agent, joins in (*comings, (len(agents), 0, True)):
        absent = ~present[agents[begun:time]]
        if absent.any():
            t = begun + int(absent.argmax())
            name = names.labels[agents[t]]
            raise ValueError(
                f"stream must have agents that are in the network only, got {name!r} in round {t}, "
                "when it is not there"
            )
        begun = max(begun, time)
        if begun >= len(agents):
            return
        present[agent] = joins


def check_places(network: Network) -> None:
    """Refuse a stream without labels if its numbers could be places in two lists.

    `network.graph` has those who are there; the network counts those who have left as well.
    """
    field = network.exchange.in_the_field()
    gone = None if field is None else field.first_gone()
    if gone is not None:
        raise ValueError(
            f"stream must be labelled after {gone!r} has left, because a number could be a place "
            "in network.graph or among all that were ever known, got no labels"
        )


def _comings(events: Events) -> list[tuple[int, int, bool]]:
    """Times and agents of all who join or leave, and which of the two it is."""
    moves = np.flatnonzero((events.kind == JOIN) | (events.kind == LEAVE))
    joins = (events.kind[moves] == JOIN).tolist()
    return list(zip(events.time[moves].tolist(), events.first[moves].tolist(), joins, strict=True))


def _in_places(events: Events, places: Integers) -> Events:
    """The events with the places that a network has for the agents.

    The neighbours of a join ascend, as everywhere.
    """
    others = places[events.others].astype(np.int32)
    for first, last in zip(events.start[:-1].tolist(), events.start[1:].tolist(), strict=True):
        others[first:last].sort()
    second = np.where(events.second < 0, -1, places[events.second])
    return events._replace(first=places[events.first], second=second, others=others)
