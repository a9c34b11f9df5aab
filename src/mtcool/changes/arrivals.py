"""Agents that come and go."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from mtcool import memory
from mtcool.changes.change import SIZE, Change, join, leave
from mtcool.changes.schedule import Schedule
from mtcool.graphs import GraphLike, as_graph
from mtcool.seeds import Seed, generator
from mtcool.types import Label
from mtcool.validation import count, non_negative


def churn(
    graph: GraphLike, rounds: int, arrivals: float, departures: float, neighbours: int, seed: Seed
) -> Schedule:
    """New agents arrive as a Poisson process, and every agent stays for an exponential time.

    The network of the first round is the graph. A new agent connects to random agents that are
    present. If all names of the graph are whole numbers new agents get the next ones, else they are
    called "new-1", "new-2" and so on. Nobody returns, and the last agent does not leave.

    Parameters
    ----------
    graph
        The network of the first round.
    rounds
        Number of rounds.
    arrivals
        Mean number of agents that join in a round.
    departures
        Rate at which each agent leaves in a round: it stays for 1 / departures rounds on average.
    neighbours
        To how many agents a new one connects, or to all of them if fewer are present.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> schedule = churn(ring(10), 1000, arrivals=0.01, departures=0.001, neighbours=2, seed=1)
    >>> schedule
    Schedule(29 changes, time 54 to 997)
    >>> schedule[0]
    join(54, 10, [0, 1])
    """
    network = as_graph(graph)
    rounds, neighbours = count("rounds", rounds), count("neighbours", neighbours, least=0)
    arrivals = non_negative("arrivals", arrivals)
    departures = non_negative("departures", departures)
    memory.require("rounds", rounds, SIZE * arrivals * (rounds - 1))
    rng, names = generator(seed), _new_names(network.labels)
    present, changes = list(network.labels), list[Change]()
    time = 0.0
    # Both laws have no memory, so the next change comes at the sum of the rates, whatever it is.
    while True:
        leaving = departures * len(present) if len(present) > 1 else 0.0
        rate = arrivals + leaving
        time += rng.standard_exponential() / rate if rate else math.inf
        if time > rounds - 1:
            return Schedule(changes)
        if rng.random() * rate < leaving:
            k = int(rng.integers(len(present)))
            present[k], present[-1] = present[-1], present[k]
            changes.append(leave(math.ceil(time), present.pop()))
        else:
            size = min(neighbours, len(present))
            chosen = rng.choice(len(present), size, replace=False).tolist()
            name = next(names)
            changes.append(join(math.ceil(time), name, [present[k] for k in chosen]))
            present.append(name)


def _new_names(labels: Sequence[Label]) -> Iterator[Label]:
    """Names that nobody has."""
    numbers = [int(label) for label in labels if isinstance(label, int | np.integer)]
    if len(numbers) == len(labels):
        return itertools.count(max(numbers) + 1)
    taken = set(labels)
    words = (f"new-{number}" for number in itertools.count(1))
    return (word for word in words if word not in taken)
