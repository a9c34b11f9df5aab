"""Changes as arrays of numbers, for compiled code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.changes.change import EVENTS, Change
from mtcool.types import Integers

CONNECT, DISCONNECT, JOIN, LEAVE = range(len(EVENTS))
"""The numbers of the events in `kind`."""


class Events(NamedTuple):
    """The changes of a schedule, one entry for each; agents are indices.

    Examples
    --------
    >>> from mtcool.changes import Schedule, join
    >>> from mtcool.graphs import ring
    >>> events = Schedule([join(2.5, "new", [3, 1])]).compile(ring(4))
    >>> events.time, events.kind, events.first, events.others
    (array([3]), array([2], dtype=uint8), array([4]), array([1, 3], dtype=int32))

    Attributes
    ----------
    time
        The number of the round, counted from 0, before which the change happens; ascending.
    kind
        CONNECT, DISCONNECT, JOIN or LEAVE.
    first
        The agent that joins or leaves, or an end of the edge.
    second
        The other end of the edge; -1 if none is meant.
    start
        Where the neighbours of each change start in `others`, and where the last ones end.
    others
        The neighbours of the agents that join; ascending for each of them.
    """

    time: Integers
    kind: NDArray[np.uint8]
    first: Integers
    second: Integers
    start: Integers
    others: NDArray[np.int32]


def events_of(changes: Sequence[Change], agents: Sequence[Sequence[int]]) -> Events:
    """The changes as arrays; `agents` has the indices of the agents of each."""
    codes = {event: code for code, event in enumerate(EVENTS)}
    kind = np.array([codes[change.event] for change in changes], np.uint8)
    joins = (kind == JOIN).tolist()
    edge = (kind == CONNECT) | (kind == DISCONNECT)
    others = [who[1:] if joining else [] for joining, who in zip(joins, agents, strict=True)]
    return Events(
        time=np.array([math.ceil(change.time) for change in changes], np.int64),
        kind=kind,
        first=np.array([who[0] for who in agents], np.int64),
        second=np.where(edge, np.array([who[-1] for who in agents], np.int64), -1),
        start=np.cumsum([0, *map(len, others)], dtype=np.int64),
        others=np.array([other for listed in others for other in listed], np.int32),
    )
