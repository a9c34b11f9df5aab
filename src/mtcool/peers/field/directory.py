"""Who is who: names of all agents that ever were, in the order in which they became known."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from mtcool.graphs import Graph
from mtcool.graphs.labels import continued


class Directory:
    """Names of agents and their places in all arrays.

    Examples
    --------
    >>> import mtcool
    >>> directory = Directory(mtcool.graphs.ring(3))
    >>> directory.add(["new"])
    >>> directory.index("new"), directory.labels
    (3, (0, 1, 2, 'new'))
    """

    def __init__(self, graph: Graph, joined: Iterable[Hashable] = ()) -> None:
        self.start = graph
        self.joined: list[Hashable] = []
        self._places: dict[Hashable, int] = {}
        self.add(joined)

    @property
    def size(self) -> int:
        """How many agents are known."""
        return self.start.size + len(self.joined)

    @property
    def labels(self) -> Sequence[Hashable]:
        """All names, in order."""
        return continued(self.start.labels, self.joined)

    def knows(self, label: Hashable) -> bool:
        """Whether there is, or was, an agent of this name."""
        try:
            self.index(label)
        except ValueError:
            return False
        return True

    def index(self, label: Hashable) -> int:
        """The place of an agent."""
        try:
            found = self._places.get(label, self.size)
        except TypeError:  # of what cannot be hashed
            found = self.size
        # An interrupt may have left a place that the name was never added at.
        if found < self.size and self.joined[found - self.start.size] == label:
            return found
        return self.start.index(label)

    def add(self, labels: Iterable[Hashable]) -> None:
        """Add agents that nobody knew."""
        for label in labels:
            if self.knows(label):
                raise ValueError(f"agent must be new, got {label!r}, which is known")
            hash(label)
            self._places[label] = self.size
            self.joined.append(label)
