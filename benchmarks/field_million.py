"""A large network that changes, or does not, in a process of its own (see `field.py`).

Prints what it took as JSON.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.memory import peak_bytes
from mtcool import Graph, Stream, changes, graphs, mt_co2ol, simulate, streams
from mtcool.changes import Schedule
from mtcool.learners import FTRL, MTFTRLKT, Learner

DIM, DEGREE = 8, 10
RATE = 0.01  # events in a round

LEARNERS: Mapping[str, Learner] = {"KT": MTFTRLKT(), "FTRL": FTRL()}


def nothing(graph: Graph, rounds: int) -> Schedule:
    """A graph that stays as it is."""
    return Schedule([])


def edges(graph: Graph, rounds: int) -> Schedule:
    """Edges vanish, and are back after a while."""
    half = RATE / 2.0
    vanish = half / (graph.size * DEGREE / 2.0)
    return changes.blinking_edges(graph, rounds, vanish, 10.0 / rounds, seed=1)


def agents(graph: Graph, rounds: int) -> Schedule:
    """As many agents come as go."""
    half = RATE / 2.0
    return changes.churn(graph, rounds, half, half / graph.size, DEGREE, seed=1)


KINDS: Mapping[str, Callable[[Graph, int], Schedule]] = {
    "nothing": nothing,
    "edges": edges,
    "agents": agents,
}


def main(kind: str, learner: str, size: int, rounds: int) -> None:
    """Play a small network, which compiles everything, and the large one; report about this."""
    _play(kind, learner, 100, 1_000)
    seconds, events = _play(kind, learner, size, rounds)
    print(json.dumps({"seconds": seconds, "events": events, "peak": peak_bytes()}))


def _play(kind: str, learner: str, size: int, rounds: int) -> tuple[float, int]:
    graph = graphs.regular(size, DEGREE, seed=0)
    schedule = KINDS[kind](graph, rounds)
    stream = _stream(graph, schedule, rounds)
    network = mt_co2ol(graph, DIM, learner=LEARNERS[learner])
    began = time.perf_counter()
    simulate(network, stream, changes=schedule if len(schedule) else None)
    return time.perf_counter() - began, len(schedule)


def _stream(graph: Graph, schedule: Schedule, rounds: int) -> Stream:
    """Random agents of those who are there, with gradients in random directions."""
    gradients = np.random.default_rng(1).standard_normal((rounds, DIM))
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    active = changes.activations(graph, schedule, rounds, seed=2)
    return Stream(active, streams.linear(gradients), labels=schedule.agents(graph))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
