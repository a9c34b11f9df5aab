"""A network of learning agents: ask it for a prediction, tell it the gradient."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mtcool.agents import Agent, cut, join
from mtcool.agents.cutting.order import in_order
from mtcool.axes import restore, state_arrays
from mtcool.changes.events import CONNECT, DISCONNECT, JOIN, LEAVE
from mtcool.field.settings import FieldSettings
from mtcool.graphs import Graph, GraphLike
from mtcool.kernels import CompileError
from mtcool.locks import Turn
from mtcool.peers.exchange import Names
from mtcool.peers.field.checking import UnchangedGraph, check_uniform, checked
from mtcool.peers.field.directory import Directory
from mtcool.peers.field.exchange import FieldExchange, field_exchange, names_of
from mtcool.peers.field.making import are_uniform, in_the_field
from mtcool.peers.settings import Settings
from mtcool.privacy.noise import Noise
from mtcool.privacy.sanitiser import Account, Sanitiser
from mtcool.types import Floats, GradientLike, Label, PeersBlock

# What only a saved network or a bound needs is imported where it is needed.
if TYPE_CHECKING:
    from mtcool.network import storage
    from mtcool.theory import Received

SLOW = 1_000  # a network that delivers fewer updates than this at once is slow


class Network:
    """Agents on a graph, made by `mt_co2ol`, `dpmt_co2ol`, `i_ftrl`, `st_ftrl` or `pairwise`.

    `predict` and `update` play the protocol one agent at a time; `mtcool.simulate` plays a whole
    stream with the same code. Threads may share a network: their calls take turns, in any order, a
    whole `simulate` being one call. A private network is for the process that made or loaded it: a
    forked process is refused noise.
    """

    def __init__(
        self,
        settings: Settings,
        graph: Graph,
        weights: Floats,
        noise: Noise | None = None,
        arrays: storage.Arrays | None = None,
        from_file: bool = False,
        joined: Iterable[Label] = (),
    ) -> None:
        self.turn = Turn("network")
        self._graph = graph
        self.weights = weights
        weights.setflags(write=False)
        algorithm = settings.algorithm
        peers = algorithm.peers(settings, graph, weights)
        self.exchange = algorithm.exchange(peers, settings, graph, noise)
        if arrays is None:
            self.exchange.begin()
        elif self.exchange.in_the_field() is not None:
            from mtcool.network.saved_field.arrays import resumed
            from mtcool.network.saved_field.origin import Origin

            origin = Origin(peers, settings, Directory(graph, joined), weights)
            self.exchange = resumed(origin, arrays, from_file)
        else:
            if from_file:  # which anybody may have written
                from mtcool.network.saved_states import check_saved

                check_saved(peers, arrays)
            restore(peers.state, arrays)
        self.settings = settings  # last: a private network is closed from here on

    @property
    def graph(self) -> Graph:
        """The graph as it is now: who may talk to whom."""
        return self.exchange.current_graph(self._graph)

    @property
    def names(self) -> Names:
        """All agents that ever were, in the order of all arrays: those of the graph first."""
        return self.exchange.directory(self._graph)

    @property
    def peers(self) -> PeersBlock:
        """The block of arrays that the compiled protocol plays on (`mtcool.peers`)."""
        return self.exchange.peers

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: NumPy's own copies would not be read-only where ours are.
        with self.turn.lock:
            self.exchange.finish()
            arrays = {name: array.copy() for name, array in self._arrays().items()}
            joined = self._joined()
        noise = None if self.sanitiser is None else self.sanitiser.noise
        given = (self.settings, self._graph, self.weights, noise, arrays, False, joined)
        return Network, given

    def _arrays(self) -> storage.Arrays:
        """All that it has learned, and if it is in the field what it remembers."""
        field = self.exchange.in_the_field()
        if field is not None:
            from mtcool.network.saved_field.arrays import field_arrays

            return field_arrays(field, self.settings)
        return dict(state_arrays(self.peers.state))

    def _joined(self) -> tuple[Label, ...]:
        """Names of agents that are not in the graph that it began with."""
        field = self.exchange.in_the_field()
        return () if field is None else tuple(field.names.joined)

    def __setattr__(self, name: str, value: object) -> None:
        if self._is_closed():
            raise ValueError(
                f"{name} of a private network cannot be changed, because its noise was calibrated "
                f"for what it is, got {value!r}"
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if self._is_closed():
            raise ValueError(f"{name} of a private network cannot be deleted")
        super().__delattr__(name)

    def _is_closed(self) -> bool:
        settings = self.__dict__.get("settings")
        return settings is not None and settings.algorithm.private

    def predict(self, agent: Label) -> Floats:
        """The agent's prediction: the weighted average of its neighbours' models of its task.

        There is no side effect: asked twice, it answers the same.

        Parameters
        ----------
        agent
            Its name, a node label of the graph.

        Returns
        -------
        An array of length `dim`.

        Examples
        --------
        >>> import mtcool
        >>> mtcool.mt_co2ol(mtcool.graphs.star(4), dim=2).predict(3)
        array([0., 0.])
        """
        i, x = self.names.index(agent), np.empty(self.settings.dim)
        try:  # outside: a `try` within would be a line at which Ctrl-C leaves the lock taken
            with self.turn.lock:
                self.exchange.finish()
                self.exchange.predict(i, x)
        except CompileError as error:
            raise self.blamed(error) from None
        return x

    def update(self, agent: Label, gradient: GradientLike) -> None:
        """Let the agent's neighbours learn: each receives the gradient times its weight.

        Parameters
        ----------
        agent
            Its name, a node label of the graph.
        gradient
            A subgradient at the agent's prediction. ST-FTRL takes a function that returns a
            subgradient at a given point, because every neighbour asks for one at its own.

        Raises
        ------
        ValueError
            If the gradient is not finite or too long; the network is then unchanged.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=2)
        >>> net.update(3, [0.6, 0.8])
        >>> net.update(3, [6.0, 8.0])
        Traceback (most recent call last):
        ...
        ValueError: gradient must have norm at most lipschitz = 1.0, got norm 10.0; give a
        larger lipschitz, or on_excess="clip" to shorten such gradients
        """
        i = self.names.index(agent)
        try:
            with self.turn.lock:
                self.exchange.finish()  # what an interrupt left undone comes first
                self.exchange.update(i, gradient)
        except CompileError as error:
            raise self.blamed(error) from None

    def connect(self, one: Label, two: Label) -> None:
        """Let an edge appear between two agents: from now on each listens to the other.

        Neighbours that were connected before go on with what they knew of each other. The first
        change of a graph turns the network into one that can change, in time linear in its size;
        after that a change takes time linear in the number of neighbours.

        Parameters
        ----------
        one, two
            Names of two agents that are in the network and not connected.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1, rates="adaptive")
        >>> net.connect(2, 3)
        >>> net.graph
        Graph(4 agents, 4 edges)
        """
        self._change(CONNECT, one, [two])

    def disconnect(self, one: Label, two: Label) -> None:
        """Let the edge between two agents vanish.

        Parameters
        ----------
        one, two
            Names of two agents that are connected.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1, rates="adaptive")
        >>> net.disconnect(0, 3)
        >>> net.graph
        Graph(4 agents, 2 edges)
        """
        self._change(DISCONNECT, one, [two])

    def join(self, agent: Label, neighbours: Iterable[Label] = ()) -> None:
        """Let an agent in, which may be new or come back.

        The first prediction of a new agent is what its neighbours know in common.

        Parameters
        ----------
        agent
            Its name, of no agent that is in the network.
        neighbours
            Names of agents that are in the network.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1, rates="adaptive")
        >>> net.update(0, [-1.0])
        >>> net.join("new", [0, 1])
        >>> bool(net.predict("new")[0] > 0.0)
        True
        """
        self._change(JOIN, agent, names_of(neighbours))

    def leave(self, agent: Label) -> None:
        """Let an agent leave, with all its edges; it may join again later.

        Parameters
        ----------
        agent
            Its name.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1, rates="adaptive")
        >>> net.leave(3)
        >>> net.predict(3)
        Traceback (most recent call last):
        ...
        ValueError: agent must be in the network, got 3, which is not there now
        """
        self._change(LEAVE, agent, [])

    def received(self) -> Received:
        """What cliques have received, for the bounds of `theory.changing` and `theory.kt_changing`.

        For networks with messages, delays or changes of their own.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1, rates="adaptive")
        >>> net.connect(2, 3)
        >>> net.update(2, [0.5])
        >>> net.received().updates
        array([1., 0., 1., 1.])
        """
        with self.turn.lock:
            self.exchange.finish()
            field = self.exchange.in_the_field()
            if field is None:
                raise ValueError(
                    "network must have messages, delays or changes of its own, and not be private, "
                    "to say what it received; `mtcool.theory` has bounds of the others, "
                    f"got {self!r}"
                )
            from mtcool.peers.field.accounts import received

            return received(field.peers, self.settings, field.names.size)

    def _change(self, event: int, agent: Label, others: list[Label]) -> None:
        with self.turn.lock:
            self.exchange.finish()
            if self.exchange.in_the_field() is None:  # refused, it stays as it is
                self.check_changeable()
                checked(UnchangedGraph(self._graph), event, agent, others)
            self.in_the_field().change(event, agent, others)

    def check_changeable(self) -> None:
        """Refuse changes of a graph that cannot change."""
        field = self.exchange.in_the_field()
        if field is not None:
            field.check_uniform()
            return
        self._changeable()
        check_uniform(are_uniform(self.weights, self._graph))

    def _changeable(self) -> Settings:
        """The settings of a network that can change; refuses those of others."""
        return replace(self.settings, field=FieldSettings())

    def in_the_field(self, agents: int = 0) -> FieldExchange:
        """The exchange of a network that can change; the first call makes it one.

        It then has places for so many agents at least. `check_changeable` comes first.
        """
        field = self.exchange.in_the_field()
        if field is not None:
            return field
        settings = self._changeable()
        peers = in_the_field(self.peers, settings, self._graph, None, agents)
        field = field_exchange(peers, settings, self._graph)
        field.begin()
        # Both at once: Ctrl-C between two lines would leave a network that cannot be saved.
        self.__dict__.update(exchange=field, settings=settings)
        return field

    def blamed(self, error: CompileError) -> CompileError:
        """The error with the name of the learner, if one of its functions does not compile."""
        if error.function not in ("predict_row", "update_row"):
            return error
        return CompileError(f"learner {self.settings.learner!r} cannot be used: {error}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write settings, graph and state to one file; `mtcool.load` resumes to the bit.

        The file appears only when it is complete; through a symbolic link it replaces the target,
        with the permissions that were there. Labels must be numbers, strings, or tuples of them.
        The file of a private network holds the exact sums: it is as sensitive as the data, only its
        owner may read it, and only one network may go on from it, else noise is used twice. The
        next save removes what a killed one left in the folder.

        Parameters
        ----------
        path
            The file to write; one that is there is replaced.

        Examples
        --------
        >>> import mtcool, tempfile
        >>> net = mtcool.i_ftrl(mtcool.graphs.star(4), dim=1)
        >>> net.update(2, [1.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     net.save(folder + "/net.npz")
        ...     copy = mtcool.load(folder + "/net.npz")
        >>> bool(copy.predict(2) == net.predict(2))
        True
        """
        from mtcool.network import storage
        from mtcool.network.header import encode_header

        noise = calibration = None
        with self.turn.lock:
            self.exchange.finish()
            if self.sanitiser is not None:
                noise = self.sanitiser.noise.state()
                calibration = self.sanitiser.calibration
            began = self._graph
            header = encode_header(self.settings, began.labels, noise, calibration, self._joined())
            arrays = {**self._arrays(), "ptr": began.ptr, "idx": began.idx, "weights": self.weights}
            storage.write(path, header, arrays, secret=self.sanitiser is not None)

    def agent(self, name: Label) -> Agent:
        """Cut one agent out, with a copy of its part of the state (`mtcool.agents`).

        Messages are numbered anew: cut agents that talk to each other at the same time (`agents`).

        Parameters
        ----------
        name
            A node label of the graph: a number, a string, or a tuple of them, which can be sent.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1)
        >>> list(net.agent(3).activate().requests)
        [0]
        """
        (agent,) = self._cut([self.graph.index(name)])
        return agent

    def agents(self) -> dict[Label, Agent]:
        """Cut all agents out, each as `agent` does, in the order of the graph.

        Examples
        --------
        >>> import mtcool
        >>> list(mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1).agents())
        [0, 1, 2, 3]
        """
        return {agent.name: agent for agent in self._cut(range(self.graph.size))}

    def _cut(self, agents: Sequence[int]) -> list[Agent]:
        with self.turn.lock:
            self.exchange.finish()
            return list(cut(self.peers, self.settings, self.graph, self.exchange, agents))

    @classmethod
    def from_agents(cls, agents: Iterable[Agent], graph: GraphLike) -> Network:
        """Join the agents of `graph` to a network in one block.

        Private agents draw from the noise of the first one.

        Parameters
        ----------
        agents
            All agents of the graph, in any order.
        graph
            A networkx graph or a `Graph`.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1)
        >>> net.update(3, [0.5])
        >>> twin = Network.from_agents(net.agents().values(), net.graph)
        >>> bool(twin.predict(0) == net.predict(0))
        True
        """
        whole, ordered = in_order(agents, graph)
        settings, weights, arrays, noise, exchange = join(ordered[0], whole, ordered)
        if exchange is None:
            return cls(settings, whole, weights, noise, arrays)
        network = cls(settings, exchange.names.start, weights)
        network.exchange = exchange
        return network

    @property
    def is_slow(self) -> bool:
        """Whether one round may take so long that Ctrl-C must be heard inside it.

        Examples
        --------
        >>> import mtcool
        >>> mtcool.mt_co2ol(mtcool.graphs.complete(30), dim=1).is_slow
        False
        """
        return bool(self.exchange.pace < SLOW)

    @property
    def released(self) -> int:
        """Noisy sums that the agents of a private network have published since their first losses.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.dpmt_co2ol(mtcool.graphs.ring(4), 1, mtcool.Privacy(1.0, 10), seed=0)
        >>> net.update(0, [0.5])
        >>> net.released
        1
        """
        return self.exchange.released

    @property
    def sanitiser(self) -> Sanitiser | None:
        """Noise and calibration of a private network, or None."""
        return self.exchange.sanitiser

    def ledger(self) -> dict[Label, Account]:
        """What each agent of a private network has spent, has released and has left.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.dpmt_co2ol(mtcool.graphs.ring(4), 1, mtcool.Privacy(1.0, 15), seed=0)
        >>> net.update(0, [0.5])
        >>> net.ledger()[0]
        Account(budget=1.0, promised=1.0, spent=0.25, left=0.75, released=1, remaining=14)
        """
        if self.sanitiser is None:
            raise ValueError(f"network must be private to have a ledger, got {self!r}")
        return self.exchange.ledger()

    def __repr__(self) -> str:
        settings = self.settings
        return (
            f"<{settings.algorithm} of {self.graph.size} agents, dim={settings.dim}, "
            f"{settings.learner!r}, lipschitz={settings.lipschitz}, radius={settings.radius}, "
            f"rates={settings.rates!r}"
            f"{'' if settings.field is None else settings.field.described()}"
            f"{'' if self.sanitiser is None else f', {self.sanitiser!r}'}>"
        )
