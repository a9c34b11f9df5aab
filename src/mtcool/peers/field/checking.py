"""Whether a change that a caller asks for can happen; nothing happens here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, final

import numpy as np

from mtcool.changes.events import CONNECT, JOIN, LEAVE
from mtcool.graphs import Graph
from mtcool.peers.field.directory import Directory
from mtcool.types import Given, Label


class Now(Protocol):
    """Who is there, and between whom there are edges."""

    @property
    def names(self) -> Directory:
        """All agents that ever were."""

    @property
    def crowd(self) -> int:
        """How many agents are there."""

    def is_there(self, agent: int) -> bool:
        """Whether an agent that is known is in the network."""

    def are_connected(self, one: int, two: int) -> bool:
        """Whether there is an edge between two agents that are in the network."""


@final
class UnchangedGraph:
    """A graph that did not change so far."""

    def __init__(self, graph: Graph) -> None:
        self.names = Directory(graph)
        self.crowd = graph.size

    def is_there(self, agent: int) -> bool:
        """Everybody is."""
        return True

    def are_connected(self, one: int, two: int) -> bool:
        """Whether the graph has this edge."""
        near = self.names.start.neighbours(one)
        place = int(np.searchsorted(near, two))
        return place < len(near) and int(near[place]) == two


def checked(now: Now, event: int, agent: Label, others: Sequence[Label]) -> tuple[int, list[int]]:
    """The place of the agent, the next one if it is new, and those of the others.

    A change that cannot happen is refused.

    Examples
    --------
    >>> import mtcool
    >>> checked(UnchangedGraph(mtcool.graphs.star(3)), CONNECT, 1, [2])
    (1, [2])
    """
    if event == JOIN:
        return _checked_join(now, agent, others)
    i = _present(now, agent)
    if event == LEAVE:
        if now.crowd == 1:
            raise ValueError(f"agent must not be the last one to leave, got {agent!r}")
        return i, []
    j = _present(now, others[0])
    if i == j:
        raise ValueError(f"agents must be different, got {agent!r} twice")
    there = now.are_connected(i, j)
    if there == (event == CONNECT):
        what = "not be connected yet" if there else "be connected"
        raise ValueError(f"agents must {what}, got {agent!r} and {others[0]!r}")
    return i, [j]


def check_uniform(uniform: bool) -> None:
    """Refuse changes where nobody could say what the weight of a new edge is."""
    if not uniform:
        raise ValueError(
            "weights must be uniform in a network whose graph changes, got weights of one's own"
        )


def check_present(now: Now, agent: int) -> None:
    """Refuse an agent that has left."""
    if not now.is_there(agent):
        name = now.names.labels[agent]
        raise ValueError(f"agent must be in the network, got {name!r}, which is not there now")


def _checked_join(now: Now, agent: Label, others: Sequence[Label]) -> tuple[int, list[int]]:
    known = now.names.knows(agent)
    if known and now.is_there(now.names.index(agent)):
        raise ValueError(f"agent must not be in the network yet, got {agent!r}")
    if not is_name(agent):
        raise ValueError(f"agent must have a name that can be a key, got {agent!r}")
    neighbours = [_present(now, other) for other in others]
    if len(set(neighbours)) < len(neighbours):
        raise ValueError(f"neighbours must be different, got {list(others)!r}")
    return now.names.index(agent) if known else now.names.size, sorted(neighbours)


def _present(now: Now, agent: Label) -> int:
    i = now.names.index(agent)
    check_present(now, i)
    return i


def is_name(agent: Given) -> bool:
    """Whether this can be the name of an agent: a key that equals itself.

    Examples
    --------
    >>> is_name("rome"), is_name(["rome"]), is_name(float("nan"))
    (True, False, False)
    """
    try:
        hash(agent)
    except TypeError:
        return False
    return bool(agent == agent)
