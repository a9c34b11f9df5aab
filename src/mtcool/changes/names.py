"""Who is meant by a name, and the index of every agent, in the order of becoming known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import final

import numpy as np

from mtcool.graphs import Graph
from mtcool.graphs.labels import continued
from mtcool.types import Label

# As `str` writes whole numbers of 64 bits: 07 and +7 are other names.
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")


@final
class KnownNames:
    """The agents that have been known so far: those of a graph, and those that joined.

    Names in files are text, and those of a graph may be whole numbers. A text that names nobody
    stands for the agent whose number it is. If all names of the graph are whole numbers, so are
    the names of agents that join.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._joined: dict[Label, int] = {}
        self._numbers = isinstance(graph.labels, range) or all(
            isinstance(label, int | np.integer) for label in graph.labels
        )

    def __len__(self) -> int:
        return self._graph.size + len(self._joined)

    def find(self, name: Label) -> int | None:
        """The index of an agent, or None if nobody has had that name."""
        index = self._index(name)
        number = whole(name) if index is None else None
        return index if number is None else self._index(number)

    def add(self, name: Label) -> int:
        """The index of somebody new."""
        number = whole(name) if self._numbers else None
        return self._joined.setdefault(name if number is None else number, len(self))

    def labels(self) -> Sequence[Label]:
        """All names, in the order of the indices."""
        return continued(self._graph.labels, tuple(self._joined))

    def _index(self, name: Label) -> int | None:
        try:
            return self._graph.index(name)
        except ValueError:
            return self._joined.get(name)


def whole(name: Label) -> int | None:
    """The whole number that a text is, or None.

    Examples
    --------
    >>> whole("12"), whole("012"), whole("a12")
    (12, None, None)
    """
    return int(name) if isinstance(name, str) and _WHOLE.fullmatch(name) else None
