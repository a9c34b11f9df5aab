"""How the network of a replicate starts, and what happens to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mtcool import changes
from mtcool.changes import CONNECT, Schedule
from mtcool.changes.edges import edges_of
from mtcool.experiments.files import spec
from mtcool.graphs import Graph
from mtcool.seeds import Seed


class Course(NamedTuple):
    """A network and its changes."""

    start: Graph
    schedule: Schedule | None
    """What happens, or None if the graph cannot change."""
    union: Graph
    """All agents that ever are, with all edges that ever are: for these there are tasks."""

    @property
    def comes_and_goes(self) -> bool:
        """Whether agents join or leave."""
        return self.schedule is not None and any(
            change.event in ("join", "leave") for change in self.schedule
        )


def build_course(
    network: spec.Network | None,
    graph: Graph,
    rounds: int,
    seed: Seed,
    listed: Schedule | None = None,
) -> Course:
    """The course that a table describes, from this graph on; `listed` are the changes of its file.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> churn = spec.Churn(departures=0.01, neighbours=2)
    >>> build_course(churn, ring(4), rounds=100, seed=0).union
    Graph(7 agents, 10 edges)
    """
    match network:
        case spec.Blinking(vanish, appear):
            schedule = changes.blinking_edges(graph, rounds, vanish, appear, seed)
        case spec.Moving(radius, speed, pause, every):
            graph, schedule = changes.moving_agents(
                graph.size, rounds, radius, speed, pause, every, seed
            )
        case spec.Churn(departures, neighbours, arrivals):
            coming = departures * graph.size if arrivals is None else arrivals
            schedule = changes.churn(graph, rounds, coming, departures, neighbours, seed)
        case spec.ChangesFile(path):
            if listed is None:
                raise ValueError(f"path must be read before it is used, got {path!r}")
            schedule = listed
        case _:
            return Course(graph, None, graph)
    return Course(graph, schedule, union(graph, schedule))


def union(start: Graph, schedule: Schedule) -> Graph:
    """All agents and all edges that are there at some time.

    Examples
    --------
    >>> from mtcool.changes import disconnect, join
    >>> from mtcool.graphs import ring
    >>> union(ring(4), Schedule([disconnect(3, 0, 1), join(5, 4, [0])]))
    Graph(5 agents, 5 edges)
    """
    events, names = schedule.compile(start), schedule.agents(start)
    connected = events.kind == CONNECT
    pairs = (
        edges_of(start),
        np.stack((events.first[connected], events.second[connected]), axis=1),
        np.stack((np.repeat(events.first, np.diff(events.start)), events.others), axis=1),
    )
    graph = Graph.from_edges(np.concatenate(pairs), size=len(names))
    return Graph(graph.ptr, graph.idx, names)
