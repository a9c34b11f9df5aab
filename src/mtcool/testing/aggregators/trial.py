"""An aggregator as matrices: what is published is B (C leaves + noise), and padding."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mtcool.kernels import kernel
from mtcool.privacy import Aggregator
from mtcool.privacy.aggregators.aggregator import Blocks, begin, decode, encode
from mtcool.privacy.literals import Law
from mtcool.types import Floats, State

HORIZONS = (1, 2, 3, 7, 8, 16, 27)


class Machine:
    """One agent's aggregator, played from Python."""

    def __init__(self, aggregator: Aggregator, law: Law, horizon: int, width: int = 1) -> None:
        blocks = Blocks(np.array([width]), np.array([horizon]))
        self.state: State = aggregator.make_state(blocks, law)
        self.padding = int(aggregator.padding(self.state)[0])

    def begin(self, draws: ArrayLike) -> Floats:
        """Publish pure noise; returns it."""
        begin_one(self.state, 0, np.asarray(draws, float).ravel())
        return np.array(self.state.published)

    def step(self, leaf: ArrayLike, noise: float | Floats) -> tuple[Floats, Floats]:
        """One activation; returns the value of the node, and what is published."""
        given = np.atleast_1d(np.asarray(leaf, float))
        value = np.empty_like(given)
        encode_one(self.state, 0, given, value)
        decode_one(self.state, 0, value, np.asarray(value + noise, float))
        return value, np.array(self.state.published)


@kernel
def begin_one(state: State, agent: int, draws: Floats) -> None:
    """`begin`, for callers in Python."""
    begin(state, agent, draws)


@kernel
def encode_one(state: State, agent: int, leaf: Floats, value: Floats) -> None:
    """`encode`, for callers in Python."""
    encode(state, agent, leaf, value)


@kernel
def decode_one(state: State, agent: int, value: Floats, noisy: Floats) -> None:
    """`decode`, for callers in Python."""
    decode(state, agent, value, noisy)


class Matrices(NamedTuple):
    """What an aggregator does, for one law and horizon."""

    c: Floats
    """Nodes from leaves, (horizon, horizon)."""
    b: Floats
    """Published sums from the noise of the nodes, at its growth, (horizon + 1, horizon)."""
    pad: Floats
    """Published sums from the draws of the padding, (horizon + 1, draws)."""
    growth: Floats
    """Factor on the noise of every node."""

    @property
    def scaled(self) -> Floats:
        """Absolute values of C, in the unit of each node's noise."""
        return np.asarray(np.abs(self.c) / self.growth[:, None])


def matrices(aggregator: Aggregator, law: Law, horizon: int) -> Matrices:
    """The matrices, found by feeding unit leaves and unit noise."""
    growth = aggregator.growth(np.arange(1, horizon + 1), law)
    c = np.zeros((horizon, horizon))
    b = np.zeros((horizon + 1, horizon))
    for s in range(horizon):
        leaves, noises = (Machine(aggregator, law, horizon) for _ in range(2))
        for t in range(horizon):
            c[t, s] = leaves.step(float(t == s), 0.0)[0][0]
            b[t + 1, s] = noises.step(0.0, growth[t] * float(t == s))[1][0]
    draws = Machine(aggregator, law, horizon).padding
    pad = np.zeros((horizon + 1, draws))
    for k in range(draws):
        machine = Machine(aggregator, law, horizon)
        pad[0, k] = machine.begin(np.eye(draws)[k])[0]
        for t in range(horizon):
            pad[t + 1, k] = machine.step(0.0, 0.0)[1][0]
    return Matrices(c, b, pad, growth)


class Case(NamedTuple):
    """A law and a horizon that the aggregator serves."""

    law: Law
    horizon: int
    matrices: Matrices

    def __str__(self) -> str:
        return f"{self.law} noise and horizon {self.horizon}"


class AggregatorTrial:
    """An aggregator to check, and the horizons to check it at."""

    def __init__(self, aggregator: Aggregator, horizons: tuple[int, ...]) -> None:
        self.aggregator, self.horizons = aggregator, horizons
        self._known: dict[tuple[Law, int], Matrices] = {}

    def cases(self) -> Iterator[Case]:
        """Every law and horizon, with the matrices."""
        for law in self.aggregator.laws:
            for horizon in self.horizons:
                if (law, horizon) not in self._known:
                    planned = self.aggregator.check(law, horizon)
                    self._known[law, horizon] = matrices(self.aggregator, law, planned)
                yield Case(law, horizon, self._known[law, horizon])


def column_norms(scaled: Floats, law: Law) -> Floats:
    """Norms of columns: l2 for Gaussian noise, else l1."""
    return np.asarray(np.sqrt((scaled**2).sum(0)) if law == "gaussian" else scaled.sum(0))
