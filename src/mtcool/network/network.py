"""A network of learning agents: ask it for a prediction, tell it the gradient."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import Graph
from mtcool.kernels import kernel
from mtcool.learners import update_row
from mtcool.learners.learner import Floats, Integers, updates_at_once
from mtcool.network import storage
from mtcool.network.header import encode_header
from mtcool.network.saved_states import check_saved
from mtcool.network.turns import Turn
from mtcool.peers.assemble import assemble, channels_for
from mtcool.peers.private import PrivatePeers, begin_publication
from mtcool.peers.protocol import SingleTaskPeers, Units, learn, predict, send, to_units
from mtcool.peers.setup import Setup
from mtcool.privacy.noise import Noise, make_noise
from mtcool.privacy.sanitiser import Account, Sanitiser
from mtcool.streams import LinearLosses

SLOW = 1_000  # a network that delivers fewer updates than this at once is slow
LONGEST = 1e154  # norm of a gradient that can be clipped: its square is finite


class Network:
    """Agents on a graph, made by `mt_co2ol`, `dpmt_co2ol`, `i_ftrl`, `st_ftrl` or `pairwise`.

    `predict` and `update` play the protocol one agent at a time; `mtcool.simulate` plays a whole
    stream with the same code. Threads may share a network: their calls take turns, in any order, a
    whole `simulate` being one call. A private network is for the process that made or loaded it: a
    forked one is refused noise.
    """

    def __init__(
        self,
        setup: Setup,
        graph: Graph,
        weights: Floats,
        noise: Noise | None = None,
        arrays: storage.Arrays | None = None,
        from_file: bool = False,
    ) -> None:
        self.turn = Turn()
        self.setup = setup
        self.graph = graph
        self.weights = weights
        self.peers = assemble(setup, graph, weights)
        self._delivery = _Delivery.for_peers(self.peers, setup.dim)
        self.sanitiser: Sanitiser | None = None
        weights.setflags(write=False)
        if isinstance(self.peers, PrivatePeers) and setup.privacy is not None:
            source = make_noise(setup.privacy.noise) if noise is None else noise
            if source.grid != self.peers.grid:
                raise ValueError(f"noise must be {setup.privacy.noise}, got {source!r}")
            self.sanitiser = Sanitiser(setup.privacy, channels_for(setup, graph, weights), source)
            if arrays is None:
                self.sanitiser.begin(self.peers.state.aggregator)
                begin_publication(self.peers)
        if arrays is not None:
            if from_file:  # which anybody may have written
                check_saved(self.peers, arrays)
            storage.restore(self.peers.state, arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: NumPy's own copies would not be read-only where ours are.
        with self.turn.lock:
            self.finish_update()
            self.settle()
            arrays = {name: array.copy() for name, array in storage.state_arrays(self.peers.state)}
        noise = None if self.sanitiser is None else self.sanitiser.noise
        return Network, (self.setup, self.graph, self.weights, noise, arrays)

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "sanitiser", None) is not None:
            raise ValueError(
                f"{name} of a private network cannot change, whose noise is made for what it is, "
                f"got {value!r}"
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if getattr(self, "sanitiser", None) is not None:
            raise ValueError(f"{name} of a private network cannot be deleted")
        super().__delattr__(name)

    def predict(self, agent: Hashable) -> Floats:
        """The agent's prediction: the weighted average of its neighbours' models of its task.

        No side effect: asked twice, it answers the same.

        >>> import mtcool
        >>> mtcool.mt_co2ol(mtcool.graphs.star(4), dim=2).predict(3)
        array([0., 0.])
        """
        i, x = self.graph.index(agent), np.empty(self.setup.dim)
        with self.turn.lock:
            self.finish_update()
            _predict(self.peers, i, x)
        return x

    def update(self, agent: Hashable, gradient: ArrayLike | Callable[[Floats], ArrayLike]) -> None:
        """Let the agent's neighbours learn: each receives the gradient times its weight.

        `gradient` is a subgradient at the agent's prediction. ST-FTRL takes a function that returns
        a subgradient at a given point, because every neighbour asks for one at its own. Refused
        input changes nothing.

        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=2)
        >>> net.update(3, [0.6, 0.8])
        >>> net.update(3, [6.0, 8.0])
        Traceback (most recent call last):
        ...
        ValueError: gradient must have norm at most lipschitz = 1.0, got norm 10.0
        """
        i = self.graph.index(agent)
        if isinstance(self.peers, SingleTaskPeers):
            with self.turn.lock:
                self._update_single_task(i, gradient)
            return
        if callable(gradient):
            raise ValueError(f"gradient must be an array, not a function, got {gradient!r}")
        g = validation.vector("gradient", gradient, self.setup.dim)
        with self.turn.lock:
            if self.sanitiser is not None:
                accepted = self._send_private(i, g)
            else:
                self.finish_update()  # what an interrupt left undone comes first
                self._delivery.begin(self.peers, i, g)
                accepted = self.finish_update()
        if not accepted:
            self._refuse(g)

    def finish_update(self) -> bool:
        """Deliver the gradient on its way to the neighbours that do not have it; was it accepted?

        Ctrl-C is heard in between. If it comes, the next call of any kind delivers the rest before
        it does anything else, so that an update is never half done, nor done twice.
        """
        delivery, accepted = self._delivery, True
        while delivery.next_entry < delivery.end:
            accepted = _receive(self.peers, delivery.gradient, delivery.cursor, delivery.pace)
        return accepted

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write settings, graph and state to one file; `mtcool.load` resumes to the bit.

        The file appears only when it is complete; through a symbolic link it replaces the target,
        with the permissions that were there. Labels must be numbers, strings, or tuples of them.
        The file of a private network holds the exact sums: it is as sensitive as the data, only its
        owner may read it, and only one network may go on from it, else noise is used twice. What a
        save that was killed left in the folder, the next one removes.

        >>> import mtcool, tempfile
        >>> net = mtcool.i_ftrl(mtcool.graphs.star(4), dim=1)
        >>> net.update(2, [1.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     net.save(folder + "/net.npz")
        ...     copy = mtcool.load(folder + "/net.npz")
        >>> bool(copy.predict(2) == net.predict(2))
        True
        """
        noise = calibration = None
        with self.turn.lock:
            self.finish_update()
            self.settle()
            if self.sanitiser is not None:
                noise = self.sanitiser.noise.state()
                calibration = self.sanitiser.calibration
            header = encode_header(self.setup, self.graph.labels, noise, calibration)
            arrays = dict(storage.state_arrays(self.peers.state))
            arrays |= {"ptr": self.graph.ptr, "idx": self.graph.idx, "weights": self.weights}
            storage.write(path, header, arrays, secret=self.sanitiser is not None)

    @property
    def is_slow(self) -> bool:
        """Can one round take so long that Ctrl-C should be heard inside it?

        >>> import mtcool
        >>> mtcool.mt_co2ol(mtcool.graphs.complete(30), dim=1).is_slow
        False
        """
        return self._delivery.pace < SLOW

    @property
    def released(self) -> int:
        """Noisy sums that the agents of a private network have published since their first losses.

        >>> import mtcool
        >>> net = mtcool.dpmt_co2ol(mtcool.graphs.ring(4), 1, epsilon=1.0, horizon=10, seed=0)
        >>> net.update(0, [0.5])
        >>> net.released
        1
        """
        if not isinstance(self.peers, PrivatePeers):
            return 0
        return int(self.peers.state.aggregator.activations.sum())

    def ledger(self) -> dict[Hashable, Account]:
        """What each agent of a private network has spent, has released and has left.

        >>> import mtcool
        >>> net = mtcool.dpmt_co2ol(mtcool.graphs.ring(4), 1, epsilon=1.0, horizon=15, seed=0)
        >>> net.update(0, [0.5])
        >>> net.ledger()[0]
        Account(budget=1.0, promised=1.0, spent=0.25, left=0.75, released=1, remaining=14)
        """
        if self.sanitiser is None or not isinstance(self.peers, PrivatePeers):
            raise ValueError(f"network must be private to have a ledger, got {self!r}")
        count = self.peers.state.aggregator.activations
        return {
            label: self.sanitiser.account(i, int(count[i]))
            for i, label in enumerate(self.graph.labels)
        }

    def provision(self, agents: Integers) -> int:
        """Draw the noise for the next rounds of `agents`; how many of them may be played now."""
        if self.sanitiser is None or not isinstance(self.peers, PrivatePeers):
            return len(agents)
        self.settle()  # what an interrupt left open
        desk = self.peers.work
        draws, rounds = self.sanitiser.draws(self.peers.state.aggregator.activations, agents)
        desk.draws[: len(draws)] = draws
        desk.cursor[:] = 0, len(draws)
        return rounds

    def settle(self) -> None:
        """After rounds with noise of `provision`: what they did not use was never drawn."""
        if self.sanitiser is None or not isinstance(self.peers, PrivatePeers):
            return
        self.sanitiser.keep(int(self.peers.work.cursor[0]))
        self.peers.work.cursor[:] = 0

    def check_horizon(self, agents: Integers) -> None:
        """Refuse rounds in which a private agent would be active beyond its horizon."""
        if not isinstance(self.peers, PrivatePeers):
            return
        count = self.peers.state.aggregator.activations
        more = np.bincount(agents, minlength=self.graph.size)
        over = np.flatnonzero(count + more > self.peers.horizon)
        if over.size:
            i = int(over[0])
            raise ValueError(
                f"horizon of agent {self.graph.labels[i]!r} is {self.peers.horizon[i]} "
                f"activations, of which {count[i]} are spent, got {more[i]} more; "
                "nothing was released"
            )

    def _send_private(self, i: int, gradient: Floats) -> bool:
        agents = np.array([i])
        self.check_horizon(agents)
        if np.abs(gradient).max() > LONGEST / math.sqrt(self.setup.dim):
            return False
        try:
            self.provision(agents)
            return _send(self.peers, i, gradient.copy(), _NO_LOSSES)
        finally:
            self.settle()

    def _refuse(self, gradient: Floats) -> NoReturn:
        limit = f"lipschitz = {self.setup.lipschitz}"
        if self.setup.on_excess == "clip":  # too long to be shortened: its square is infinite
            limit = f"{LONGEST:g}"
        raise ValueError(
            f"gradient must have norm at most {limit}, got norm {math.hypot(*gradient)}"
        )

    def _update_single_task(self, i: int, gradient: Any) -> None:
        if not callable(gradient):
            raise ValueError(
                "gradient must be a function x -> subgradient for ST-FTRL, because every neighbour "
                f"learns from the loss at its own point, got {gradient!r}"
            )
        neighbours = self.graph.neighbours(i)
        gradients = []
        for j in map(int, neighbours):
            x = np.empty(self.setup.dim)
            _predict(self.peers, j, x)
            g = validation.vector("gradient", gradient(x), self.setup.dim)
            gradients.append(g.copy())
            if not _to_units(gradients[-1], self.peers.units):
                self._refuse(g)
        _update_rows(self.peers.state, neighbours, np.array(gradients))

    def __repr__(self) -> str:
        setup = self.setup
        return (
            f"<{setup.algorithm} of {self.graph.size} agents, dim={setup.dim}, {setup.learner!r}, "
            f"lipschitz={setup.lipschitz}, radius={setup.radius}, rates={setup.rates!r}"
            f"{'' if self.sanitiser is None else f', {self.sanitiser!r}'}>"
        )


class _Delivery(NamedTuple):
    """A gradient on its way to the neighbours of the active agent."""

    gradient: Floats
    cursor: Integers
    """Next entry, end of the entries, and whether the gradient must still be checked."""
    pace: int
    """Entries between two looks at Ctrl-C."""

    @classmethod
    def for_peers(cls, peers: Any, dim: int) -> _Delivery:
        return cls(np.zeros(dim), np.zeros(3, np.int64), updates_at_once(peers.state))

    def begin(self, peers: Any, agent: int, gradient: Floats) -> None:
        self.gradient[:] = gradient
        self.cursor[:] = peers.ptr[agent], peers.ptr[agent + 1], 1

    @property
    def next_entry(self) -> int:
        return int(self.cursor[0])

    @property
    def end(self) -> int:
        return int(self.cursor[1])


# For `send` of peers that learn from the gradient alone: no loss travels.
_NO_LOSSES = LinearLosses(np.zeros((0, 1)))


@kernel
def _predict(peers: Any, agent: int, x: Floats) -> None:
    predict(peers, agent, x)


@kernel
def _send(peers: Any, agent: int, gradient: Floats, losses: Any) -> bool:
    return send(peers, agent, gradient, losses, 0)


@kernel
def _receive(peers: Any, gradient: Floats, cursor: Integers, most: int) -> bool:
    """Deliver the gradient to the next entries; False, and nothing to deliver, if it is refused.

    The cursor moves on inside: wherever an interrupt comes it tells what was done.
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


@kernel
def _to_units(gradient: Floats, units: Units) -> bool:
    return to_units(gradient, units)


@kernel
def _update_rows(state: Any, agents: Any, gradients: Floats) -> None:
    for e in range(agents.shape[0]):
        update_row(state, int(agents[e]), int(agents[e]), 1.0, gradients[e])
