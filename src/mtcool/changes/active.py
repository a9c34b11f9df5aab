"""Who is active when agents come and go."""

from __future__ import annotations

import numpy as np

from mtcool import memory
from mtcool.changes.events import JOIN, LEAVE, Events
from mtcool.changes.schedule import Schedule
from mtcool.graphs import GraphLike, as_graph
from mtcool.seeds import Seed, generator
from mtcool.types import Integers
from mtcool.validation import count


def activations(graph: GraphLike, schedule: Schedule, rounds: int, *, seed: Seed) -> Integers:
    """Independent activations: in each round every agent that is present is equally likely.

    Without changes these are the agents of `mtcool.streams.stochastic`.

    Parameters
    ----------
    graph
        The network before the first change.
    schedule
        Its changes.
    rounds
        Length of the sequence; changes after the last round do not matter.
    seed
        A whole number, or a generator that the caller shares.

    Returns
    -------
    array of int64
        The agent of each round: its position in `schedule.agents(graph)`.

    Examples
    --------
    >>> from mtcool.changes import join, leave
    >>> from mtcool.graphs import Graph
    >>> pair = Graph.from_edges([("rome", "milan")])
    >>> schedule = Schedule([leave(3, "rome"), join(6, "oslo", ["milan"]), leave(6, "milan")])
    >>> activations(pair, schedule, 9, seed=0)
    array([1, 1, 1, 1, 1, 1, 2, 2, 2])
    """
    start = as_graph(graph)
    if not isinstance(schedule, Schedule):
        raise ValueError(f"schedule must be a Schedule, got {schedule!r}")
    rounds = count("rounds", rounds)
    memory.require("rounds", rounds, 8 * rounds)
    return _draw(start.size, schedule.compile(start), rounds, generator(seed))


def _draw(size: int, events: Events, rounds: int, rng: np.random.Generator) -> Integers:
    known = max(size, int(events.first.max(initial=-1)) + 1)
    # The first `size` members are those present, in any order; `place` says where everybody is.
    members, place = np.arange(known), np.arange(known)
    agents = np.empty(rounds, np.int64)
    drawn = 0
    for k in np.flatnonzero((events.kind == JOIN) | (events.kind == LEAVE)).tolist():
        time, agent = int(events.time[k]), int(events.first[k])
        if time >= rounds:
            break
        if time > drawn:
            agents[drawn:time] = members[rng.integers(size, size=time - drawn)]
            drawn = time
        joins = events.kind[k] == JOIN
        # Who joins takes the place after the last, who leaves gives its own to the last.
        spot = size if joins else size - 1
        other, mine = members[spot], place[agent]
        members[spot], members[mine] = agent, other
        place[agent], place[other] = spot, mine
        size += 1 if joins else -1
    agents[drawn:] = members[rng.integers(size, size=rounds - drawn)]
    return agents
