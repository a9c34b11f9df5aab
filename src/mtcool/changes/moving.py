"""Agents that move about, with edges to those within reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from mtcool.changes.change import Change
from mtcool.changes.schedule import Schedule
from mtcool.changes.snapshots import GraphSnapshot, changes_between, edge_numbers
from mtcool.graphs import Graph
from mtcool.graphs.edges import check_size
from mtcool.seeds import Seed, generator
from mtcool.types import Floats, Integers
from mtcool.validation import count, non_negative, positive

MEAN_DISTANCE = (2 + math.sqrt(2) + 5 * math.asinh(1)) / 15
"""Of two random points of the unit square."""


def moving_agents(
    agents: int, rounds: int, radius: float, speed: float, pause: float, every: int, seed: Seed
) -> tuple[Graph, Schedule]:
    """Random waypoints in the unit square: walk straight to a random point, rest, walk on.

    Two agents have an edge if they are no farther from each other than `radius`. The walks are in
    their steady state from the start, as if they had gone on for ever.

    Parameters
    ----------
    agents
        Their number; they are called 0, 1, 2, ...
    rounds
        Number of rounds.
    radius
        How far an agent reaches; the side of the square is 1.
    speed
        The way that an agent goes in a round, at most 1.
    pause
        Rounds of rest at each point.
    every
        Rounds from one look at the distances to the next.
    seed
        A whole number, or a generator that the caller shares.

    Returns
    -------
    Graph, Schedule
        The network of the first round, and its changes.

    Examples
    --------
    >>> graph, schedule = moving_agents(
    ...     50, rounds=1000, radius=0.2, speed=0.001, pause=100, every=10, seed=1
    ... )
    >>> graph, schedule.graph_at(graph, 999)
    (Graph(50 agents, 144 edges), Graph(50 agents, 184 edges))
    """
    agents, rounds = count("agents", agents), count("rounds", rounds)
    radius, speed = positive("radius", radius), positive("speed", speed)
    if speed > 1:
        raise ValueError(f"speed must be at most 1, the side of the square, got {speed!r}")
    pause, times = non_negative("pause", pause), range(0, rounds, count("every", every))
    check_size("agents", agents, agents, math.comb(agents, 2), _share_within(radius))
    places = walks(agents, times, speed, pause, generator(seed))
    edges = pairs_within(next(places), radius)
    start, changes = Graph.from_edges(edges, size=agents), list[Change]()
    before = GraphSnapshot(np.arange(agents), edge_numbers(edges))
    for time, now in zip(times[1:], places, strict=True):
        after = before._replace(edges=edge_numbers(pairs_within(now, radius)))
        changes += changes_between(before, after, range(agents), time)
        before = after
    return start, Schedule(changes)


def walks(
    agents: int, times: Iterable[float], speed: float, pause: float, rng: np.random.Generator
) -> Iterator[Floats]:
    """Where the agents are at each of these times, which ascend from 0 on, in a new array.

    The steady state is that of Navidi and Camp (2004): an agent rests with the probability of its
    share of the time, at any point alike; it walks any leg with a probability in proportion to its
    length, and has come to any point of it alike.
    """
    resting = rng.random(agents) * (pause + MEAN_DISTANCE / speed) < pause
    origin, goal = _legs(agents, rng)
    origin[resting] = goal[resting] = rng.random((int(resting.sum()), 2))
    length = np.hypot(*(goal - origin).T)
    left = np.zeros(agents)  # when it left its origin
    ahead = rng.random(agents) * length  # how far it had come by then
    ready = np.where(resting, rng.random(agents) * pause, (length - ahead) / speed + pause)
    for time in times:
        while (late := np.flatnonzero(ready < time)).size:
            origin[late], goal[late] = goal[late], rng.random((late.size, 2))
            length[late] = np.hypot(*(goal[late] - origin[late]).T)
            left[late], ahead[late] = ready[late], 0.0
            ready[late] += length[late] / speed + pause
        way = np.minimum(ahead + speed * (time - left), length)
        share = np.divide(way, length, out=np.zeros(agents), where=length > 0)
        yield origin + share[:, None] * (goal - origin)


def pairs_within(places: Floats, radius: float) -> Integers:
    """The pairs of points that are no farther from each other than `radius`."""
    from scipy.spatial import cKDTree  # which is slow to import

    return np.asarray(cKDTree(places).query_pairs(radius, output_type="ndarray"), np.int64)


def _legs(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Pairs of points with a density in proportion to their distance, by rejection."""
    legs = np.empty((0, 2, 2))
    while len(legs) < count:
        tries = rng.random((count, 2, 2))
        distance = np.hypot(*(tries[:, 1] - tries[:, 0]).T)
        legs = np.concatenate((legs, tries[rng.random(count) * math.sqrt(2) < distance]))
    return legs[:count, 0].copy(), legs[:count, 1].copy()


def _share_within(radius: float) -> float:
    """The probability that two random points of the square are within reach."""
    r = min(radius, 1.0)
    return math.pi * r**2 - 8 / 3 * r**3 + r**4 / 2
