"""The privacy of a cell: levels of the agents, a horizon, and noise that repeats."""

import zlib

import numpy as np
from numpy.typing import NDArray

import mtcool
from mtcool.config import schema
from mtcool.config.algorithms import aggregator_of
from mtcool.experiments.files import spec
from mtcool.types import Integers


def privacy_of(
    point: spec.Point,
    algorithm: schema.AlgorithmSpec,
    activations: Integers,
    seed: np.random.SeedSequence,
) -> mtcool.Privacy:
    """The privacy of an algorithm, for agents with so many activations."""
    table = point.privacy or spec.PrivacySpec()
    return mtcool.Privacy(
        levels(table, len(activations), seed),
        table.horizon or most_activations(activations),
        delta=table.delta if algorithm.law == "gaussian" else None,
        aggregator=aggregator_of(algorithm),
        calibration=algorithm.calibration or "tight",
    )


def levels(
    table: spec.PrivacySpec, agents: int, seed: np.random.SeedSequence
) -> NDArray[np.float64]:
    """Epsilon of every agent; with more strict agents, those that were strict stay strict.

    Examples
    --------
    >>> table = spec.PrivacySpec(epsilon=2.0, strict_agents=3, strict_epsilon=0.5)
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


def most_activations(activations: Integers) -> int:
    """The horizon if the file gives none; at least 2, which the paper's noise needs."""
    return max(2, int(activations.max()))


def noise_for(seed: np.random.SeedSequence, name: str) -> np.random.Generator:
    """The noise of an algorithm: the same at all points, whatever other algorithms there are."""
    return _child(seed, 1, zlib.crc32(name.encode()))


def _child(seed: np.random.SeedSequence, *key: int) -> np.random.Generator:
    """A generator that depends on the key only; one of `spawn` depends on earlier calls."""
    child = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key))
    return np.random.default_rng(child)
