"""The audit from outside: bound epsilon from below by nothing but what is published.

Many agents without neighbours are as many independent runs of one aggregator in d = 1. Their first
gradient is +1 in one world and -1 in the other, all others are zero. The most telling event (the
likelihood ratio is largest on it) is that every node with the first leaf came out at least as
large as its value. If it has probability p in one world and q in the other, epsilon is at least
ln(p / q); Clopper-Pearson intervals for p and q make that a bound with known confidence.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from mtcool import validation
from mtcool.algorithms import dpmt_co2ol
from mtcool.audit.subject import Plant, private_parts
from mtcool.graphs import Graph
from mtcool.network.network import Network
from mtcool.privacy import BinaryTree, Privacy
from mtcool.simulation import simulate
from mtcool.streams import Stream, linear
from mtcool.types import Floats

DOUBT = 1e-6
BLIND = 0.7  # with a lower bound below this share of epsilon the audit has seen too little


@dataclass(frozen=True)
class BlackBox:
    """What can be said of epsilon from outside."""

    epsilon: float
    """The level that is claimed."""
    lower: float
    """The true level is at least this, with confidence 1 - 1e-6."""
    runs: int

    @property
    def passed(self) -> bool:
        """Not above the claim, and not so far below that the audit would be blind."""
        return BLIND * self.epsilon <= self.lower <= self.epsilon


def black_box(
    horizon: int = 3,
    epsilon: float = 1.0,
    runs: int = 100_000,
    seed: int = 0,
    plant: Plant | None = None,
) -> BlackBox:
    """Audit the binary tree over `horizon` = 3 or 7 activations; `plant` may put a bug into it.

    Parameters
    ----------
    horizon, epsilon
        Horizon and privacy level of the tree.
    runs
        Independent runs in each of the two worlds.
    seed
        Seed of the noise.
    plant
        Puts a bug into the network, such as those of `audit.planted`.

    Examples
    --------
    >>> black_box(runs=20_000).passed
    True
    """
    if horizon not in (3, 7):
        raise ValueError(f"horizon must be 3 or 7, got {horizon!r}")
    runs = validation.count("runs", runs)
    likely = _telling(horizon, epsilon, runs, seed, 1.0, plant)
    seldom = _telling(horizon, epsilon, runs, seed + 1, -1.0, plant)
    low = float(beta.ppf(DOUBT / 2, likely, runs - likely + 1)) if likely else 0.0
    high = float(beta.isf(DOUBT / 2, seldom + 1, runs - seldom)) if seldom < runs else 1.0
    lower = max(0.0, math.log(low / high)) if low > 0.0 else 0.0
    return BlackBox(epsilon, lower, runs)


def _telling(
    horizon: int,
    epsilon: float,
    runs: int,
    seed: int,
    first: float,
    plant: Plant | None,
) -> int:
    """In how many runs the event happened when the first gradient is `first`."""
    graph = Graph(np.arange(runs + 1), np.arange(runs, dtype=np.int32))
    privacy = Privacy(epsilon, horizon, aggregator=BinaryTree(completed=False))
    network = dpmt_co2ol(graph, 1, privacy, seed=seed)
    if plant is not None:
        plant(network)
    happened = np.ones(runs, bool)
    agents = np.arange(runs)
    for t in range(1, horizon + 1):
        gradient = first if t == 1 else 0.0
        losses = linear(np.full((runs, 1), gradient))
        simulate(network, Stream(agents, losses), times=[runs])
        if t.bit_count() == 1:  # the sum is a single node, and holds the first leaf
            happened &= _sums(network) >= 1.0
    return int(happened.sum())


def _sums(network: Network) -> Floats:
    return np.asarray(private_parts(network)[0].state.aggregator.published)
