"""The exact audit: force one transcript on two neighbouring worlds, and add up what it cost.

Run a network on losses l and keep every release: node values and noisy values. Run a copy on
losses l', which differ in one round, and force it to release the same noisy values, with whatever
noise that takes. If the algorithm is what it claims to be, then nothing else that anybody sees
differs between the worlds, and only the owner of the changed loss needed other noise. The logarithm
of the ratio of the densities of that noise is the privacy loss of this transcript; for Laplace
noise its largest value is the sum of |v - v'| / b over all released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mtcool.audit.subject import Plant, fresh_copy, private_parts, swap
from mtcool.kernels import kernel
from mtcool.network.network import Network
from mtcool.peers.private import begin_publication, stage
from mtcool.peers.protocol import fetch
from mtcool.privacy.literals import Law
from mtcool.privacy.noise import GeneratorState
from mtcool.privacy.release import clip, release
from mtcool.types import Floats, PeersBlock

FAR = 1e6
SAME = 1e-7  # rounding in what must be equal, relative to its size; leaks are of order one


class Round(NamedTuple):
    """One round: who is active, and the subgradient of its loss at a point."""

    agent: Hashable
    gradient: Callable[[Floats], Floats]


@dataclass(frozen=True)
class Leak:
    """What the forced transcript found."""

    owner: Hashable
    promised: float
    """The owner's level: epsilon of Laplace noise, mu of Gaussian noise."""
    paid: float
    """What this transcript gives away: sum `|v - v'| / b`, or the whitened distance."""
    strangers: float
    """The same for all other agents: must be zero."""
    difference: float
    """Largest difference between the two worlds in what others see, relative: must be zero."""

    @property
    def passed(self) -> bool:
        """Nothing but the owner's noise differs, and that is within the owner's budget."""
        within = self.paid <= self.promised * (1.0 + 1e-9)
        return within and self.strangers <= SAME and self.difference <= SAME


def forced_transcript(
    network: Network,
    rounds: Sequence[Round],
    changed: int,
    other: Callable[[Floats], Floats],
    plant: Plant | None = None,
) -> Leak:
    """Audit a fresh private network: round `changed` has the subgradient `other` in world two.

    The network itself is left as it is; `plant` puts a bug into both worlds.

    Parameters
    ----------
    network
        A fresh private network; it is copied.
    rounds
        Who is active, and the subgradients, in world one.
    changed, other
        The round whose loss differs, and its subgradient in world two.
    plant
        Puts a bug into both worlds.

    Examples
    --------
    >>> import mtcool
    >>> net = mtcool.dpmt_co2ol(mtcool.graphs.ring(4), 1, mtcool.Privacy(1.0, 3), seed=0)
    >>> rounds = [Round(agent, lambda x: x - 0.5) for agent in (0, 1, 0)]
    >>> leak = forced_transcript(net, rounds, 0, lambda x: x + 0.5)
    >>> leak.passed, 0.0 < leak.paid <= 1.0
    (True, True)
    """
    first, second = fresh_copy(network, plant), fresh_copy(network, plant)
    _, sanitiser = private_parts(first)
    forced = _Forced(sanitiser.noise.grid)
    swap(private_parts(second)[1], "noise", forced)
    owner = rounds[changed].agent
    paid = dict.fromkeys(network.graph.labels, 0.0)
    difference = 0.0
    for t, (agent, gradient) in enumerate(rounds):
        x, y = first.predict(agent), second.predict(agent)
        difference = max(difference, _apart(x, y))
        first.update(agent, gradient(x))
        value, noisy = _released(first, agent)
        aims = (other if t == changed else gradient)(y)
        forced.noise = noisy - _peek(second, agent, aims)
        second.update(agent, aims)
        moved, _ = _released(second, agent)
        difference = max(difference, _apart(_published(first), _published(second)))
        paid[agent] += _price(first, agent, value - moved)
    for label in network.graph.labels:
        difference = max(difference, _apart(first.predict(label), second.predict(label)))
    if sanitiser.calibration.law == "gaussian":
        paid = {label: math.sqrt(square) for label, square in paid.items()}
    return Leak(
        owner=owner,
        promised=float(sanitiser.calibration.level[network.graph.index(owner)]),
        paid=paid.pop(owner),
        strangers=max(paid.values(), default=0.0),
        difference=difference,
    )


def worst_case(network: Network, agent: Hashable, plant: Plant | None = None) -> Leak:
    """Audit a fresh private network where a loss costs most: the agent pays its whole budget.

    The auditor chooses the noise. Before the first activation everybody publishes sums far out in
    one direction u, so that all experts predict u; the agent's first gradient is u in one world and
    -u in the other; then it is active until its horizon. Every number of the first leaf moves as
    far as it can, and every node that holds it is released.

    Parameters
    ----------
    network
        A fresh private network; it is copied.
    agent
        Whose loss differs.
    plant
        Puts a bug into both worlds.

    Examples
    --------
    >>> import mtcool
    >>> net = mtcool.dpmt_co2ol(mtcool.graphs.ring(4), 2, mtcool.Privacy(1.0, 7), seed=0)
    >>> leak = worst_case(net, 0)
    >>> leak.passed, round(leak.paid, 9)
    (True, 1.0)
    """
    network = fresh_copy(network)
    peers, _ = private_parts(network)
    i, dim = network.graph.index(agent), network.settings.dim
    aggregator = peers.state.aggregator
    for k in range(len(aggregator.width)):
        start = int(aggregator.start[k])
        aggregator.published[start : start + int(aggregator.width[k])] = 0.0
        aggregator.published[start : start + dim] = -FAR
    begin_publication(peers)
    direction = np.full(dim, network.settings.gradient_unit / math.sqrt(dim))
    rounds = [Round(agent, lambda x: direction)]
    rounds += [Round(agent, lambda x: 0.0 * direction)] * (int(peers.horizon[i]) - 1)
    return forced_transcript(network, rounds, 0, lambda x: -direction, plant)


class _Forced:
    """Noise that the auditor chose."""

    def __init__(self, grid: float) -> None:
        self.grid = grid
        self.noise = np.zeros(0)

    def draw(self, law: Law, scales: Floats) -> Floats:
        return self.noise

    def keep(self, used: int) -> None:
        return None

    def state(self) -> None:
        return None

    def restore(self, state: GeneratorState | None) -> None:
        return None


def _released(network: Network, agent: Hashable) -> tuple[Floats, Floats]:
    """Value, as it left, and noisy value of the last release."""
    peers, _ = private_parts(network)
    width = int(peers.state.aggregator.width[network.graph.index(agent)])
    value, noisy = peers.work.value[:width].copy(), peers.work.noisy[:width].copy()
    return peers.grid * np.rint(value / peers.grid) if peers.grid > 0.0 else value, noisy


def _published(network: Network) -> Floats:
    return np.array(private_parts(network)[0].state.aggregator.published)


def _apart(one: Floats, two: Floats) -> float:
    size = max(1.0, float(np.abs(one).max()))
    return float(np.abs(one - two).max()) / size


def _price(network: Network, agent: Hashable, shift: Floats) -> float:
    """Part of one release in the privacy loss; for Gaussian noise its square."""
    (peers, sanitiser), i = private_parts(network), network.graph.index(agent)
    activation = int(peers.state.aggregator.activations[i])
    parts = np.abs(shift) / sanitiser.scales(i, activation)
    return float((parts**2).sum() if sanitiser.calibration.law == "gaussian" else parts.sum())


def _peek(network: Network, agent: Hashable, gradient: Floats) -> Floats:
    """The value that the next release would have; changes nothing."""
    i, peers = network.graph.index(agent), private_parts(network)[0]
    value = np.empty(int(peers.state.aggregator.width[i]))
    _stage(peers, i, np.array(gradient, float), np.zeros_like(value), value)
    return value


@kernel
def _stage(peers: PeersBlock, agent: int, gradient: Floats, silence: Floats, value: Floats) -> None:
    clip(gradient, peers.units.lipschitz)
    fetch(peers, agent)
    first, last = peers.ptr[agent], peers.ptr[agent + 1]
    weights, products = peers.weight[first:last], peers.products[first:last]
    stage(peers.state.aggregator, peers.work, weights, products, peers.grid, agent, gradient)
    release(peers.work.value[: value.shape[0]], silence, peers.grid, value)
