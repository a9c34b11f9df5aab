"""Edges that vanish and appear again, as links do that fail and are mended."""

from __future__ import annotations

import numpy as np

from mtcool import memory
from mtcool.changes.change import SIZE, Change
from mtcool.changes.edges import edges_of
from mtcool.changes.schedule import Schedule
from mtcool.graphs import GraphLike, as_graph
from mtcool.seeds import Seed, generator
from mtcool.types import Integers
from mtcool.validation import count, non_negative


def blinking_edges(
    graph: GraphLike, rounds: int, vanish: float, appear: float, seed: Seed
) -> Schedule:
    """Every edge is a Markov chain with two states, independent of the others.

    All edges are there in the first round. Before each later round an edge that is there vanishes
    with one probability, and one that is not appears with the other. In the long run an edge is
    there in a share appear / (vanish + appear) of the rounds.

    Parameters
    ----------
    graph
        The network of the first round; no other edges appear.
    rounds
        Number of rounds.
    vanish, appear
        The probabilities, for each edge and round.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> schedule = blinking_edges(ring(10), rounds=1000, vanish=0.01, appear=0.1, seed=1)
    >>> schedule[0]
    disconnect(3, 7, 8)
    >>> schedule.graph_at(ring(10), 999)
    Graph(10 agents, 7 edges)
    """
    network = as_graph(graph)
    rounds = count("rounds", rounds)
    law = _probability("vanish", vanish), _probability("appear", appear)
    edges = edges_of(network)
    rate = law[0] * law[1] / sum(law) if law[1] else 0.0  # of vanishing, in the long run
    memory.require("rounds", rounds, SIZE * len(edges) * 2 * rate * rounds)
    time, edge, there = _flips(len(edges), rounds, law, generator(seed))
    names = network.labels
    return Schedule(
        Change(when, "connect" if on else "disconnect", (names[i], names[j]))
        for when, on, (i, j) in zip(
            time.tolist(), there.tolist(), edges[edge].tolist(), strict=True
        )
    )


def _flips(
    edges: int, rounds: int, law: tuple[float, float], rng: np.random.Generator
) -> tuple[Integers, Integers, Integers]:
    """Time, edge, and whether the edge is there from then on, of all changes in their order."""
    time, edge = np.zeros(edges, np.int64), np.arange(edges)
    there, found = 1, [np.empty((3, 0), np.int64)]
    while edge.size:
        # A state lasts for a geometric number of rounds, for ever if nothing can end it.
        leaves = law[1 - there]
        lasts = rng.geometric(leaves, edge.size) if leaves else np.full(edge.size, rounds)
        time += lasts.clip(1, rounds)
        edge, time, there = edge[time < rounds], time[time < rounds], 1 - there
        found.append(np.stack((time, edge, np.full(edge.size, there))))
    times, which, states = np.concatenate(found, axis=1)
    # At the same time edges appear first: nobody is without neighbours for a moment only.
    order = np.lexsort((which, -states, times))
    return times[order], which[order], states[order]


def _probability(name: str, value: float) -> float:
    number = non_negative(name, value)
    if number > 1:
        raise ValueError(f"{name} must be at most 1, got {value!r}")
    return number
