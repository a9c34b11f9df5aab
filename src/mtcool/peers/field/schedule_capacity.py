"""What a schedule will need room for: all of it is made at once, before the first change."""

from typing import NamedTuple

import numpy as np

from mtcool.changes.events import CONNECT, DISCONNECT, JOIN, Events
from mtcool.peers.field.records import FieldState
from mtcool.types import Integers


class Coming(NamedTuple):
    """What all changes of a schedule take, at most."""

    entries: int
    rows: int
    slots: dict[int, int]
    """Numbers of slots with which cliques begin, or to which they double, and how often."""


def coming(state: FieldState, events: Events) -> Coming:
    """What the changes will take, if nobody meets again who met before the schedule began."""
    who, met = _new_neighbours(events)
    agents, cliques = state.agents[who], state.cliques[who]
    room, ever = agents["room"].astype(np.int64), agents["ever"].astype(np.int64)
    slots, used = cliques["slots"].copy(), cliques["used"].copy()
    new = room == 0
    joining, neighbours = _first_joins(events)
    first = neighbours[np.searchsorted(joining, who[new])]
    room[new], ever[new], slots[new], used[new] = first + 2, 1, first + 1, 1
    entries, taken = int(room[new].sum()), [slots[new]]
    while (short := ever + met > room).any():
        room[short] = 2 * room[short] + 2
        entries += int(room[short].sum())
    while (short := used + met > slots).any():
        slots[short] *= 2
        taken.append(slots[short])
    sizes, times = np.unique(np.concatenate(taken), return_counts=True)
    listed = dict(zip(sizes.tolist(), times.tolist(), strict=True))
    return Coming(entries, int(sizes @ times), listed)


def _new_neighbours(events: Events) -> tuple[Integers, Integers]:
    """All who join or gain an edge, ascending, and how many neighbours they meet."""
    edge = (events.kind == CONNECT) | (events.kind == DISCONNECT)
    numbers = np.arange(len(events.kind))
    number = np.concatenate((numbers[edge], np.repeat(numbers, np.diff(events.start))))
    one, two = events.first[number], np.concatenate((events.second[edge], events.others))
    order = np.argsort(number, kind="stable")
    pairs = (np.minimum(one, two) << 32) + np.maximum(one, two)
    _, place = np.unique(pairs[order], return_index=True)
    place = order[place]
    # An edge that vanishes first was there before.
    place = place[events.kind[number[place]] != DISCONNECT]
    joins = events.first[events.kind == JOIN]
    who, times = np.unique(np.concatenate((joins, one[place], two[place])), return_counts=True)
    times -= np.bincount(np.searchsorted(who, joins), minlength=len(who))
    return who, times


def _first_joins(events: Events) -> tuple[Integers, Integers]:
    """All who join, ascending, and with how many neighbours at first."""
    joins = np.flatnonzero(events.kind == JOIN)
    who, place = np.unique(events.first[joins], return_index=True)
    return who, np.diff(events.start)[joins[place]]
