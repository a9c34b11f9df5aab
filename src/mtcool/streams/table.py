"""A panel of rows with the graph of its agents: what a learner of real streams plays on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mtcool.graphs import Graph, as_graph
from mtcool.streams.order import check_arrivals
from mtcool.types import Floats, Given, Integers
from mtcool.validation import matrix, numbers, vector


@final
@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Table:
    """Rows of many agents in the order of time, and the graph between the agents.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> agent, features, target = [0, 1], [[0.5], [2.0]], [1.0, 3.0]
    >>> Table("small", ring(3), agent, ("x",), features, target, time=[0, 0], arrives=[1, 2])
    Table('small', 2 rows, 3 agents, 1 feature)

    Attributes
    ----------
    name
        What the stream is called.
    graph
        The network; its labels are the agents' names.
    agent
        Whose each row is: an index into the graph's labels.
    names
        Names of the features.
    features
        One row for each row, one column for each feature.
    target
        What is to be predicted.
    time
        When a row is predicted; ascending, equal for rows that are predicted together.
    arrives
        When the target of a row is known; not before `time`.
    meaning
        What the target is, in words.
    places
        Longitude and latitude of each agent in degrees, in the order of the graph; None if agents
        are nowhere.
    clock
        Seconds since 1970 (UTC) at time 0, and seconds in a unit of time; None if times are no
        dates.
    """

    name: str
    graph: Graph
    agent: Integers
    names: tuple[str, ...]
    features: Floats
    target: Floats
    time: Floats
    arrives: Floats
    meaning: str = "target"
    places: Floats | None = None
    clock: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        target = numbers("target", self.target)
        if target.ndim != 1:
            raise ValueError(f"target must be a vector, got shape {target.shape}")
        time, arrives = (vector(n, getattr(self, n), target.size) for n in ("time", "arrives"))
        backwards = np.flatnonzero(np.diff(time) < 0)
        if backwards.size:
            row = int(backwards[0]) + 1
            raise ValueError(f"time must ascend, got {time[row]} after {time[row - 1]}")
        check_arrivals(time, arrives)
        graph = as_graph(self.graph)
        put = object.__setattr__  # The class is frozen: this is the one place that sets its fields.
        put(self, "agent", _indices(self.agent, target.size, graph))
        put(self, "graph", graph)
        put(self, "names", tuple(self.names))
        put(self, "features", matrix("features", self.features, (target.size, len(self.names))))
        put(self, "target", target)
        put(self, "time", time)
        put(self, "arrives", arrives)
        if self.places is not None:
            put(self, "places", matrix("places", self.places, (graph.size, 2)))

    def __len__(self) -> int:
        return self.target.size

    def __repr__(self) -> str:
        features = f"{len(self.names)} feature{'s' if len(self.names) != 1 else ''}"
        return f"Table({self.name!r}, {len(self):,} rows, {self.graph.size} agents, {features})"


def _indices(agent: Given, rows: int, graph: Graph) -> Integers:
    array = vector("agent", agent, rows)
    wrong = (array != np.floor(array)) | (array < 0) | (array >= graph.size)
    if wrong.any():
        found = array[wrong.argmax()]
        raise ValueError(f"agent must be an index below {graph.size}, got {found:g}")
    return array.astype(np.int64)
