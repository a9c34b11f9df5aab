"""When agents join: each at its own first event, however its rows are cut into batches.

Where everybody is a neighbour of everybody, an agent that joined with the first row of its batch
would be told of rows from before its time, and what the others predict would depend on the cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mtcool.types import Integers, Label


class FixedAgents(NamedTuple):
    """Events between which nobody joins, and who joins before them.

    Attributes
    ----------
    joining
        Agents whose first event this is.
    rows
        The rows that the events are about, ascending.
    events
        As for `Model.play`, with places in `rows` as rows.
    """

    joining: list[Label]
    rows: Integers
    events: Integers


def stretches(
    names: Sequence[Label], events: Integers, known: Collection[Label]
) -> Iterator[FixedAgents]:
    """Cut events where an agent that is not known yet has its first.

    Agents that come before anything was learned from join together: they know nothing, and nobody
    knows anything to tell them.

    Examples
    --------
    >>> events = np.array([0, 1, ~0, ~1, 2, ~2])
    >>> for stretch in stretches(["rome", "milan", "turin"], events, ()):
    ...     print(stretch.joining, stretch.rows, stretch.events)
    ['rome', 'milan'] [0 1] [ 0  1 -1 -2]
    ['turin'] [2] [ 0 -1]
    """
    about = np.where(events < 0, ~events, events)
    strange = np.array([name not in known for name in names], dtype=bool)
    first: dict[Label, int] = {}
    for place in np.flatnonzero(strange[about]).tolist():
        first.setdefault(names[about[place]], place)
    learning = np.flatnonzero(events < 0)
    blank = int(learning[0]) if learning.size else events.size
    joins: dict[int, list[Label]] = {0: []}
    for name, place in first.items():
        joins.setdefault(0 if not known and place < blank else place, []).append(name)
    for begin, end in zip(joins, [*list(joins)[1:], events.size], strict=True):
        rows, places = np.unique(about[begin:end], return_inverse=True)
        learns = events[begin:end] < 0
        yield FixedAgents(joins[begin], rows, np.where(learns, ~places, places))
