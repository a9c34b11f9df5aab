"""One agent of DPMT-CO2OL: it learns from noisy sums, and what it publishes has noise."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.agents.agent import Clique, Link, OneShot, answer_of
from mtcool.agents.cliques import given_cliques
from mtcool.agents.kernels import combine, read_experts, read_row, release_one, tell_one
from mtcool.agents.messages import Message, RowRequest, Rows, Sums, brief, sender_of
from mtcool.agents.received import checked_number
from mtcool.axes import restore, state_arrays
from mtcool.graphs.labels import plain_name
from mtcool.learners import MTFTRL
from mtcool.learners.dp_mt_ftrl import make_private_state
from mtcool.locks import Turn
from mtcool.peers.private import PrivateState, ReleaseScratch
from mtcool.peers.protocol import Units
from mtcool.peers.settings import Settings
from mtcool.privacy.aggregators.aggregator import Blocks
from mtcool.privacy.calibration import Channels
from mtcool.privacy.noise import Noise, make_noise
from mtcool.privacy.sanitiser import Account, Sanitiser
from mtcool.types import AnyArray, Floats, Integers, Label, Name
from mtcool.validation import LARGEST_SUM

TURN = Turn("private agents")
"""Of all agents, because some share their source of noise: else one thread publishes with the noise
that another one has drawn, and both with the same."""


class PrivateAgent:
    """An agent of DPMT-CO2OL with its own sanitiser and ledger.

    Agents cut out of one network share its source of noise, so that they play as it would. Before
    one of them is copied, or sent to another process, it needs noise of its own (`with_noise`).

    Examples
    --------
    >>> import mtcool
    >>> net = mtcool.dpmt_co2ol(mtcool.graphs.ring(4), 1, mtcool.Privacy(1.0, 15), seed=0)
    >>> agent = net.agent(0).with_noise(seed=7)
    >>> agent.account().remaining
    15
    """

    def __init__(
        self,
        name: Label,
        settings: Settings,
        links: tuple[Link, ...],
        products: tuple[int, ...],
        clique: Clique,
        channels: Channels,
        noise: Noise,
        own_noise: bool = False,
        arrays: Mapping[str, AnyArray] | None = None,
        heard: Mapping[Label, int] | None = None,
    ) -> None:
        privacy, learner = settings.privacy, settings.learner
        if privacy is None or not isinstance(learner, MTFTRL):
            raise ValueError(f"settings must be those of a private agent, got {settings!r}")
        self.name, self.settings, self.links, self.clique = name, settings, links, clique
        self.sender = plain_name(name, "sent")
        self.products = _products(products)
        self.own_noise = own_noise
        self.heard = dict(heard or {})
        """Number of the last sums of each listener."""
        self.units = Units(settings.radius, settings.gradient_unit, True)
        self.weights = np.array([link.weight for link in links])
        self.sanitiser = Sanitiser(privacy, channels, noise)
        self.given = given_cliques((clique,))
        blocks = Blocks(channels.width, np.array(privacy.horizon, np.int64))
        whole = PrivateState(
            make_private_state(learner, self.given, settings.dim),
            privacy.aggregator.make_state(blocks, privacy.law),
        )
        if arrays is not None:
            restore(whole, arrays)
        self.state, self.aggregator = whole
        width = int(self.aggregator.width.max())
        self.scratch = ReleaseScratch(
            rows=np.zeros((sum(products), settings.dim)),
            leaf=np.zeros(width),
            value=np.zeros(width),
            noisy=np.zeros(width),
            draws=np.zeros(width),
            cursor=np.zeros(2, np.int64),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.own_noise:
            raise ValueError(
                f"agent {self.name!r} must have noise of its own to be copied, because a copy "
                "repeats the noise that it shares with other agents: use agent.with_noise()"
            )
        return PrivateAgent, self._given(self.sanitiser.noise, own_noise=True)

    def _given(self, noise: Noise, own_noise: bool) -> tuple[Any, ...]:
        """Arguments of the constructor for a copy of this agent with another source of noise."""
        whole = PrivateState(self.state, self.aggregator)
        products = tuple(self.products.tolist())
        given = (self.name, self.settings, self.links, products, self.clique)
        with TURN.lock:
            arrays = {name: array.copy() for name, array in state_arrays(whole)}
            known = arrays, dict(self.heard)
        return (*given, self.sanitiser.channels, noise, own_noise, *known)

    def with_noise(self, seed: int | None = None) -> PrivateAgent:
        """A copy of this agent that draws its own noise: one to be copied, pickled, sent away.

        Only one of the two may go on, else the budget is spent twice.

        Parameters
        ----------
        seed
            Agents of different names have independent noise, whether their seeds differ or not.
            Without a seed the noise cannot be repeated. Exact noise takes none.

        Examples
        --------
        >>> import mtcool, pickle
        >>> net = mtcool.dpmt_co2ol(mtcool.graphs.ring(4), 1, mtcool.Privacy(1.0, 15), seed=0)
        >>> sent = [pickle.dumps(agent.with_noise(seed=7)) for agent in net.agents().values()]
        >>> pickle.loads(sent[3]).name
        3
        """
        self.sanitiser.noise.state()  # refused in a forked process, which has no budget of its own
        own, released = None, self.released
        if seed is not None:
            own = _stream(validation.count("seed", seed, least=0), self.sender, released)
        return self.with_source(make_noise(self.sanitiser.privacy.noise, own))

    def with_source(self, noise: Noise) -> PrivateAgent:
        """A copy of this agent that draws from this source, which must be its own.

        Parameters
        ----------
        noise
            Where its noise comes from, from now on.
        """
        return PrivateAgent(*self._given(noise, own_noise=True))

    def activate(self) -> PrivateActivation:
        """Begin a round."""
        with TURN.lock:
            return PrivateActivation(self)

    def rows(self, asker: Label) -> Rows:
        """The model of an agent's task, and the rows of all experts for it.

        Parameters
        ----------
        asker
            Whose task is meant.
        """
        row = self.clique.rows[asker]
        model = np.empty(self.settings.dim)
        count = int(self.state.first[row + 1] - self.state.first[row])
        experts = np.empty((count, self.settings.dim))
        with TURN.lock:
            read_row(self.state, 0, row, model)
            if count > 0:
                read_experts(self.state, row, experts)
        return Rows(self.sender, model, experts.ravel())

    def receive(self, message: Message) -> Message | None:
        """Take a message; a request is answered. Sums that are not newer are ignored.

        Parameters
        ----------
        message
            A request, or sums.
        """
        sender = sender_of(message)
        if sender not in self.clique.rows:
            raise ValueError(f"sender must be a listener of agent {self.name!r}, got {sender!r}")
        if isinstance(message, RowRequest):
            return self.rows(sender)
        if not isinstance(message, Sums):
            raise ValueError(f"message must be a request or sums, got {brief(message)}")
        if sender == self.name:
            raise ValueError(f"sender must be another agent, got {sender!r}: it has learned this")
        self.take(sender, message)
        return None

    def take(self, sender: Label, sums: Sums) -> None:
        """Replace what is known of a listener by what it has published, if that is newer.

        Parameters
        ----------
        sender
            Who has published them.
        sums
            All that it has published, not only what is new.
        """
        row, number = self.clique.rows[sender], checked_number(sums.number)
        count = int(self.state.first[row + 1] - self.state.first[row])
        total = _bounded("total", sums.total, self.settings.dim)
        products = _bounded("products", sums.products, count)
        with TURN.lock:
            if number > self.heard.get(sender, 0):
                self.heard[sender] = number
                self._tell(row, self.clique.weights[sender], np.concatenate((total, products)))

    def take_own(self, place: int, count: int) -> None:
        """Let its clique learn what it has published.

        Parameters
        ----------
        place
            Where its products with the experts of its own clique begin.
        count
            How many there are.
        """
        row, weight = self.clique.rows[self.name], self.clique.weights[self.name]
        total, products = self.published[: self.settings.dim], self.published[place : place + count]
        self._tell(row, weight, np.concatenate((total, products)))

    def _tell(self, row: int, weight: float, sums: Floats) -> None:
        entry = np.zeros(1, np.uint32), np.array([row], np.uint32), np.array([weight])
        for array in entry:
            array.setflags(write=False)  # `tell` is compiled for read-only arrays
        tell_one(self.state, *entry, sums)

    @property
    def published(self) -> Floats:
        """The sums that it has published last."""
        return np.asarray(self.aggregator.published)

    def checked(self, gradient: ArrayLike, waiting: int = 0) -> Floats:
        """A finite gradient of a round within the horizon; others are refused.

        Parameters
        ----------
        gradient
            As the loss has it.
        waiting
            How many more rounds may be under way.
        """
        given = validation.vector("gradient", gradient, self.settings.dim)
        spent = self.released + waiting
        if spent >= self.horizon:
            raise ValueError(
                f"horizon of agent {self.name!r} is {self.horizon} activations, of which {spent} "
                "are spent, got 1 more; nothing was released"
            )
        return given

    def numbers_of(self, neighbour: Label) -> int:
        """How many experts a neighbour has whose rows it sends.

        Parameters
        ----------
        neighbour
            Its name.
        """
        near = [link.neighbour for link in self.links]
        return int(self.products[near.index(neighbour)])

    @property
    def released(self) -> int:
        """Noisy sums that it has published since its first loss."""
        return int(self.aggregator.activations[0])

    def account(self) -> Account:
        """What the agent has spent, has released and has left."""
        return self.sanitiser.account(0, self.released)

    @property
    def horizon(self) -> int:
        """Activations that it may have."""
        return self.sanitiser.privacy.horizon[0]


class PrivateActivation(OneShot):
    """A round of a `PrivateAgent`, with the experts' rows that were fetched for it."""

    def __init__(self, agent: PrivateAgent) -> None:
        super().__init__(agent)
        self._agent = agent
        self._experts: Floats | None = None
        request = RowRequest(agent.sender)
        self.requests: Mapping[Label, Message] = {
            link.keepers[0]: request for link in agent.links if link.own is None
        }

    def predict(self, answers: Mapping[Label, Rows]) -> Floats:
        """Average all models of the agent's task, its own included."""
        agent, dim = self._agent, self._agent.settings.dim
        found = [
            agent.rows(agent.name)
            if link.own is not None
            else answer_of(answers, link.keepers[0], dim, int(count) * dim)
            for link, count in zip(agent.links, agent.products, strict=True)
        ]
        self._experts = np.concatenate([rows.experts for rows in found]).reshape(-1, dim)
        x = np.empty(dim)
        models = np.array([rows.model for rows in found])
        combine(models, agent.weights, agent.units.radius, x)
        return x

    def learn(self, gradient: ArrayLike) -> dict[Label, Message]:
        """Publish the agent's next noisy sums; returns them for each that keeps a clique for it."""
        with TURN.lock:
            self.check_open()
            agent = self._agent
            if self._experts is None:
                raise ValueError(
                    "predict must be called before learn, which needs the experts' rows"
                )
            given = agent.checked(gradient)
            released = self._release(given.copy(), self._experts)
            assert released  # it is finite, and there is noise for it
            return self._messages()

    def _release(self, gradient: Floats, experts: Floats) -> bool:
        agent, scratch = self._agent, self._agent.scratch
        scratch.cursor[:] = 0
        try:
            draws, _ = agent.sanitiser.draws(agent.aggregator.activations, np.zeros(1, np.int64))
            scratch.draws[: len(draws)], scratch.rows[: len(experts)] = draws, experts
            scratch.cursor[1] = len(draws)
            released = release_one(
                agent.aggregator,
                scratch,
                agent.units,
                agent.weights,
                agent.products,
                agent.sanitiser.noise.grid,
                gradient,
            )
        finally:
            agent.sanitiser.keep(int(scratch.cursor[0]))  # what was not used was not released
        if released:
            self.close()
        return released

    def _messages(self) -> dict[Label, Message]:
        agent, dim = self._agent, self._agent.settings.dim
        published, number, place = agent.published, float(agent.released), dim
        messages: dict[Label, Message] = {}
        for link, count in zip(agent.links, agent.products.tolist(), strict=True):
            if link.own is not None:
                agent.take_own(place, count)
            else:
                products = published[place : place + count].copy()
                sums = Sums(agent.sender, number, published[:dim].copy(), products)
                messages[link.keepers[0]] = sums
            place += count
        return messages


def _stream(seed: int, name: Name, released: int) -> np.random.Generator:
    """The generator of one agent, by its name; another one for each number of releases.

    So a seed that is given again, later, does not repeat noise that is out.
    """
    digest = hashlib.sha256(msgspec.msgpack.encode(name)).digest()
    words = np.frombuffer(digest, "<u4").tolist()
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*words, released)))


def _products(given: tuple[int, ...]) -> Integers:
    products = np.array(given, np.int64)
    products.setflags(write=False)
    return products


def _bounded(name: str, value: ArrayLike, length: int) -> Floats:
    """Sums as an agent publishes them: the learner's squares must be finite."""
    numbers = validation.vector(name, value, length)
    if np.abs(numbers).max(initial=0.0) > LARGEST_SUM:
        raise ValueError(f"{name} must be at most {LARGEST_SUM:g}, got {np.abs(numbers).max():g}")
    return numbers
