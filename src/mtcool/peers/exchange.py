"""How ask and tell reach the peers: one kind of exchange for each kind of peers.

A network checks who speaks, and leaves everything else to its exchange: how an update is delivered,
what it needs ahead of it (noise), and what must be finished after an interrupt. The compiled
simulation asks the same exchange for what it needs before a chunk of rounds, and after it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import Graph
from mtcool.kernels import kernel
from mtcool.learners.learner import updates_at_once
from mtcool.peers.cliques import CliquePeers, learn
from mtcool.peers.protocol import predict, send, to_units
from mtcool.peers.settings import Settings
from mtcool.peers.single_task import SingleTaskPeers
from mtcool.privacy.noise import Noise
from mtcool.privacy.sanitiser import Account, Sanitiser
from mtcool.types import Floats, GradientLike, Integers, Label, PeersBlock
from mtcool.validation import LARGEST

if TYPE_CHECKING:
    from mtcool.peers.field.exchange import FieldExchange


class Names(Protocol):
    """Names of agents, and their places in all arrays."""

    @property
    def labels(self) -> Sequence[Label]:
        """All names, in order."""

    @property
    def size(self) -> int:
        """How many there are."""

    def index(self, label: Label, /) -> int:
        """The place of an agent; a name that is not known is refused."""


class Exchange(Protocol):
    """What a network asks of its peers.

    A class that derives from it writes `update`; all else is answered as for peers that have no
    noise and deliver at once.
    """

    peers: PeersBlock
    """The block of arrays that the compiled protocol plays on."""
    pace: int
    """Deliveries between two looks at Ctrl-C."""
    sanitiser: Sanitiser | None = None
    """Noise and calibration of private peers."""

    def begin(self) -> None:
        """Do what a fresh network does before its first round."""
        return

    def predict(self, agent: int, x: Floats) -> None:
        """Write the agent's prediction into `x`."""
        ask(self.peers, agent, x)

    @abstractmethod
    def update(self, agent: int, gradient: GradientLike) -> None:
        """Let the agent's neighbours learn; a refused gradient changes nothing."""

    def finish(self) -> None:
        """Complete what an interrupt left undone."""
        return

    def provide(self, agents: Integers) -> int:
        """Prepare the next rounds of these agents; returns how many of them may be played now."""
        return len(agents)

    def settle(self) -> None:
        """Account for the rounds that were played since `provide`."""
        return

    def check(self, agents: Integers) -> None:
        """Refuse rounds that could not be played to their end."""
        return

    @property
    def released(self) -> int:
        """Noisy sums that private peers have published since their first losses."""
        return 0

    def directory(self, graph: Graph) -> Names:
        """Who is who: the graph that the network was made with, unless agents have joined."""
        return graph

    def current_graph(self, graph: Graph) -> Graph:
        """The graph as it is now: the one that the network was made with, unless it changed."""
        return graph

    def in_the_field(self) -> FieldExchange | None:
        """The exchange itself, if its peers are in the field."""
        return None

    def ledger(self) -> dict[Label, Account]:
        """What each agent has spent, has released and has left."""
        raise ValueError(f"network must be private to have a ledger, got one with {self!r}")


class CliqueExchange(Exchange):
    """Delivers a gradient to the neighbours of the active agent, a few of them at a time.

    Ctrl-C is heard in between. If it comes, the next call of any kind delivers the rest before it
    does anything else, so that an update is never half done, nor done twice.
    """

    def __init__(self, peers: CliquePeers, settings: Settings) -> None:
        self.peers = peers
        self.pace = updates_at_once(peers.state)
        self._settings = settings
        self._gradient = np.zeros(settings.dim)
        self._cursor = np.zeros(3, np.int64)

    def update(self, agent: int, gradient: GradientLike) -> None:
        """Deliver the gradient to all neighbours."""
        g = one_gradient(gradient, self._settings)
        self._gradient[:] = g
        self._cursor[:] = self.peers.ptr[agent], self.peers.ptr[agent + 1], 1
        if not self._deliver():
            refuse(g, self._settings)

    def finish(self) -> None:
        """Deliver the gradient on its way to the neighbours that do not have it."""
        self._deliver()

    def _deliver(self) -> bool:
        accepted = True
        while self._cursor[0] < self._cursor[1]:
            accepted = _receive(self.peers, self._gradient, self._cursor, self.pace)
        return accepted


class SingleTaskExchange(Exchange):
    """Asks for the gradient at the point of every neighbour, and delivers all of them at once."""

    def __init__(self, peers: SingleTaskPeers, settings: Settings, graph: Graph) -> None:
        self.peers = peers
        self.pace = updates_at_once(peers.state)
        self._settings, self._graph = settings, graph

    def update(self, agent: int, gradient: GradientLike) -> None:
        """Let every neighbour learn from the gradient at its own point."""
        if not callable(gradient):
            raise ValueError(
                "gradient must be a function x -> subgradient for ST-FTRL, because every neighbour "
                f"learns from the loss at its own point, got {gradient!r}"
            )
        neighbours = self._graph.neighbours(agent)
        rows = np.array([self._gradient_at(int(j), gradient) for j in neighbours])
        if not _send(self.peers, agent, rows.copy()):
            norms = [math.hypot(*row) for row in rows]
            refuse(rows[int(np.argmax(norms))], self._settings)

    def _gradient_at(self, agent: int, gradient: Callable[[Floats], ArrayLike]) -> Floats:
        x = np.empty(self._settings.dim)
        ask(self.peers, agent, x)
        return validation.vector("gradient", gradient(x), self._settings.dim)


class PlainExchange(Exchange):
    """Delivers one gradient at once, by `send`: enough for most peers of a kind of your own."""

    def __init__(self, peers: PeersBlock, settings: Settings) -> None:
        self.peers = peers
        self.pace = updates_at_once(peers.state)
        self._settings = settings

    def update(self, agent: int, gradient: GradientLike) -> None:
        """Let the peers learn from the gradient."""
        g = one_gradient(gradient, self._settings)
        if not _send(self.peers, agent, g[None].copy()):
            refuse(g, self._settings)


def plain_exchange(
    peers: PeersBlock, settings: Settings, graph: Graph, noise: Noise | None
) -> Exchange:
    """The exchange of any peers that learn from one gradient, which `send` delivers.

    Parameters
    ----------
    peers, settings, graph, noise
        What a network gives to the `exchange` of its record.

    Examples
    --------
    >>> import dataclasses, mtcool
    >>> alone = mtcool.algorithms.algorithm("i_ftrl")
    >>> dataclasses.replace(alone, name="mine", exchange=plain_exchange).exchange.__name__
    'plain_exchange'
    """
    return PlainExchange(peers, settings)


def clique_exchange(
    peers: CliquePeers, settings: Settings, graph: Graph, noise: Noise | None
) -> Exchange:
    """The exchange of peers that keep a model of each neighbour's task.

    Parameters
    ----------
    peers, settings, graph, noise
        What a network gives to the `exchange` of its record.

    Examples
    --------
    >>> import mtcool
    >>> mtcool.algorithms.algorithm("i_ftrl").exchange is clique_exchange
    True
    """
    return CliqueExchange(peers, settings)


def single_task_exchange(
    peers: SingleTaskPeers, settings: Settings, graph: Graph, noise: Noise | None
) -> Exchange:
    """For peers that share one task."""
    return SingleTaskExchange(peers, settings, graph)


def one_gradient(gradient: GradientLike, settings: Settings) -> Floats:
    """The gradient that a caller gave, as an array."""
    if callable(gradient):
        raise ValueError(f"gradient must be an array, not a function, got {gradient!r}")
    return validation.vector("gradient", gradient, settings.dim)


def refuse(gradient: Floats, settings: Settings) -> NoReturn:
    """Say that a gradient is too long."""
    norm = math.hypot(*gradient)
    if settings.adaptive:
        raise ValueError(f"gradient must have norm at most {LARGEST:g}, got norm {norm}")
    raise ValueError(
        f"gradient must have norm at most lipschitz = {settings.lipschitz}, got norm {norm}; give "
        'a larger lipschitz, or on_excess="clip" to shorten such gradients'
    )


@kernel
def ask(peers: PeersBlock, agent: int, x: Floats) -> None:
    """Steps 2 and 3, for callers in Python."""
    predict(peers, agent, x)


@kernel
def _send(peers: PeersBlock, agent: int, gradients: Floats) -> bool:
    return send(peers, agent, gradients)


@kernel
def _receive(peers: PeersBlock, gradient: Floats, cursor: Integers, most: int) -> bool:
    """Deliver the gradient to the next entries; return False, and deliver none, if it is refused.

    The cursor holds the next entry, the end of the entries, and whether the gradient must still be
    checked. It moves on inside: wherever an interrupt comes it tells what was done.
    """
    if cursor[2]:
        cursor[2] = 0
        if not to_units(gradient, peers.units):
            cursor[0] = cursor[1]
            return False
    last = min(cursor[0] + most, cursor[1])
    learn(peers, cursor[0], last, gradient)
    cursor[0] = last
    return True
