"""The private network of a cell: levels of the agents, a horizon, and noise that repeats."""

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mtcool
from mtcool.experiments.files import spec
from mtcool.experiments.run.build import build_learner, probabilities


def build_private(
    point: spec.Point,
    algorithm: spec.Algorithm,
    graph: mtcool.Graph,
    stream: mtcool.Stream,
    seed: np.random.SeedSequence,
) -> mtcool.Network:
    """A fresh private network for this stream; the same `seed`, the same noise."""
    table = point.privacy or spec.Privacy()
    privacy = mtcool.Privacy(
        levels(table, graph.size, seed),
        table.horizon or most_activations(stream),
        delta=table.delta if algorithm.law == "gaussian" else None,
        aggregator=algorithm.mechanism(),
        calibration=algorithm.calibration or "tight",
    )
    settings: dict[str, Any] = {
        "learner": build_learner(algorithm),
        "weights": algorithm.weights,
        "rates": algorithm.rates,
        "lipschitz": algorithm.lipschitz,
        "radius": algorithm.radius,
        "seed": _noise(seed, algorithm.name),
    }
    if algorithm.rates == "stochastic" or algorithm.weights == "proportional":
        settings["q"] = probabilities(point, graph.size)
    return mtcool.dpmt_co2ol(graph, point.tasks.dim, privacy, **settings)


def levels(table: spec.Privacy, agents: int, seed: np.random.SeedSequence) -> NDArray[np.float64]:
    """Epsilon of every agent; the strict ones of a smaller number are among those of a larger.

    >>> table = spec.Privacy(epsilon=2.0, strict_agents=3, strict_epsilon=0.5)
    >>> sorted(levels(table, 5, np.random.SeedSequence(0)).tolist())
    [0.5, 0.5, 0.5, 2.0, 2.0]
    """
    if table.strict_agents > agents:
        raise ValueError(
            f"privacy.strict_agents must be at most the {agents} agents, got {table.strict_agents}"
        )
    epsilon = np.full(agents, table.epsilon)
    strict = _child(seed, 0).permutation(agents)[: table.strict_agents]
    if table.strict_epsilon is not None:
        epsilon[strict] = table.strict_epsilon
    return epsilon


def most_activations(stream: mtcool.Stream) -> int:
    """The horizon if the file gives none; at least 2, which the paper's noise needs."""
    return max(2, int(np.bincount(stream.agents).max()))


def _noise(seed: np.random.SeedSequence, name: str) -> np.random.Generator:
    """By name: an algorithm has the same noise at all points and whatever stands beside it."""
    return _child(seed, 1, zlib.crc32(name.encode()))


def _child(seed: np.random.SeedSequence, *key: int) -> np.random.Generator:
    """A generator that depends on nothing but the key: `spawn` counts, and would not repeat."""
    child = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key))
    return np.random.default_rng(child)
