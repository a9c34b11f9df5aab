"""A schedule: the changes of a network in the order of time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import final, overload

from mtcool.changes.change import Change
from mtcool.changes.events import Events, events_of
from mtcool.changes.present import Present
from mtcool.graphs import Graph, GraphLike, as_graph
from mtcool.types import Label
from mtcool.validation import non_negative


@final
@dataclass(frozen=True, init=False, repr=False, slots=True)
class Schedule:
    """The changes of a network, an immutable sequence in the order of time.

    A change at time t happens before the round whose number, counted from 0, is the first that is
    not below t; changes at the same time happen in the order of the list. A schedule knows no
    graph: it can be played from any that its changes fit.

    A text that is not the name of an agent stands for the agent whose whole number it is, as
    names in files are text; if all names of the graph are whole numbers, so is the name of an
    agent that joins as "7".

    Parameters
    ----------
    changes
        Made by `connect`, `disconnect`, `join` and `leave`; times must not go backwards.

    Examples
    --------
    >>> from mtcool.changes import connect, join, leave
    >>> from mtcool.graphs import Graph
    >>> trio = Graph.from_edges([("rome", "milan"), ("milan", "turin")])
    >>> edge, newcomer = connect(5, "rome", "turin"), join(8, "oslo", ["rome"])
    >>> schedule = Schedule([edge, newcomer, leave(8, "milan")])
    >>> schedule
    Schedule(3 changes, time 5 to 8)
    >>> schedule.agents(trio)
    ('rome', 'milan', 'turin', 'oslo')
    >>> schedule.graph_at(trio, 8).to_networkx().edges
    EdgeView([('rome', 'turin'), ('rome', 'oslo')])

    Attributes
    ----------
    changes
        The changes, as a tuple.
    """

    changes: tuple[Change, ...]

    def __init__(self, changes: Iterable[Change]) -> None:
        given = tuple(changes) if isinstance(changes, Iterable) else (changes,)
        before: float = 0
        for number, change in enumerate(given):
            if not isinstance(change, Change):
                raise ValueError(
                    "changes must be made by connect, disconnect, join or leave, "
                    f"got {change!r} at position {number}"
                )
            if change.time < before:
                place = _place(change, number)
                raise ValueError(
                    f"{place} must not go back in time, got {change.time} after {before}"
                )
            before = change.time
        # The class is frozen: this is the one place that sets its field.
        object.__setattr__(self, "changes", given)

    def check(self, graph: GraphLike) -> None:
        """Refuse a start graph that the changes do not fit, with a sentence about the first misfit.

        Parameters
        ----------
        graph
            The network before the first change.

        Examples
        --------
        >>> from mtcool.changes import connect
        >>> from mtcool.graphs import ring
        >>> Schedule([connect(5, 0, 1)]).check(ring(4))
        Traceback (most recent call last):
        ValueError: schedule[0] must connect agents that have no edge, got 0 and 1
        """
        self._play(as_graph(graph), len(self))

    def agents(self, graph: GraphLike) -> Sequence[Label]:
        """All names: those of the graph, then those that join, in the order of first joining.

        The position of an agent among them is its index, in `compile` and in `activations`.

        Parameters
        ----------
        graph
            The network before the first change.

        Examples
        --------
        >>> from mtcool.changes import join
        >>> from mtcool.graphs import ring
        >>> Schedule([join(5, "new", [0, 1])]).agents(ring(3))
        (0, 1, 2, 'new')
        """
        return self._play(as_graph(graph), len(self))[0].names.labels()

    def graph_at(self, graph: GraphLike, time: float) -> Graph:
        """The network at a time: that of the round with this number, its changes included.

        Parameters
        ----------
        graph
            The network before the first change.
        time
            In rounds from 0 on.

        Examples
        --------
        >>> from mtcool.changes import leave
        >>> from mtcool.graphs import ring
        >>> schedule = Schedule([leave(5, 0)])
        >>> schedule.graph_at(ring(4), 4), schedule.graph_at(ring(4), 5)
        (Graph(4 agents, 4 edges), Graph(3 agents, 2 edges))
        """
        number = non_negative("time", time)
        count = bisect_right(self.changes, number, key=attrgetter("time"))
        return self._play(as_graph(graph), count)[0].graph()

    def compile(self, graph: GraphLike) -> Events:
        """The changes as arrays, with indices for agents.

        Parameters
        ----------
        graph
            The network before the first change.

        Examples
        --------
        >>> from mtcool.changes import connect
        >>> from mtcool.graphs import ring
        >>> Schedule([connect(5, 0, 2)]).compile(ring(4)).second
        array([2])
        """
        return self.played(as_graph(graph))[0]

    def played(self, graph: Graph, left: Iterable[Label] = ()) -> tuple[Events, Sequence[Label]]:
        """What `compile` and `agents` say, in one go; messages know who left before."""
        present, agents = self._play(graph, len(self), left)
        return events_of(self.changes, agents), present.names.labels()

    def __len__(self) -> int:
        return len(self.changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    @overload
    def __getitem__(self, position: int) -> Change: ...
    @overload
    def __getitem__(self, position: slice) -> Schedule: ...
    def __getitem__(self, position: int | slice) -> Change | Schedule:
        found = self.changes[position]
        return found if isinstance(found, Change) else Schedule(found)

    def __repr__(self) -> str:
        if not self.changes:
            return "Schedule(no changes)"
        first, last = self.changes[0].time, self.changes[-1].time
        return f"Schedule({len(self)} change{'s' * (len(self) > 1)}, time {first} to {last})"

    def _play(
        self, graph: Graph, count: int, left: Iterable[Label] = ()
    ) -> tuple[Present, list[list[int]]]:
        """The network after the first changes, and the indices of the agents of each of them."""
        present, agents = Present(graph, left), []
        for number, change in enumerate(self.changes[:count]):
            try:
                agents.append(present.play(change))
            except ValueError as error:
                raise ValueError(f"{_place(change, number)} must {error}") from None
        return present, agents


def _place(change: Change, number: int) -> str:
    return change.source or f"schedule[{number}]"
