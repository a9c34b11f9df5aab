"""One agent of DPMT-CO2OL: it learns from noisy sums, and what it publishes has noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.agents.agent import Clique, Link, combine, read_row
from mtcool.agents.messages import Message, RowRequest, Rows, Sums, label_of
from mtcool.kernels import kernel
from mtcool.learners.dp_mt_ftrl import DPMTFTRLState
from mtcool.learners.mt_ftrl.clipped import expert_rows
from mtcool.peers.exchange import LONGEST, refuse
from mtcool.peers.private import ReleaseScratch, publish_sums, tell
from mtcool.peers.protocol import Units
from mtcool.peers.settings import Settings
from mtcool.privacy.sanitiser import Account, Sanitiser
from mtcool.types import Floats, Indices, Integers, Label, State


class PrivateAgent:
    """An agent of DPMT-CO2OL with its own sanitiser and ledger."""

    def __init__(
        self,
        name: Label,
        settings: Settings,
        links: tuple[Link, ...],
        products: Integers,
        clique: Clique,
        state: DPMTFTRLState,
        aggregator: State,
        sanitiser: Sanitiser,
    ) -> None:
        self.name, self.settings, self.links, self.clique = name, settings, links, clique
        self.products = products
        self.state, self.aggregator, self.sanitiser = state, aggregator, sanitiser
        self.units = Units(settings.radius, settings.lipschitz, True)
        self.weights = np.array([link.weight for link in links])
        width = int(aggregator.width[0])
        self.scratch = ReleaseScratch(
            rows=np.zeros((int(products.sum()), settings.dim)),
            leaf=np.zeros(width),
            value=np.zeros(width),
            noisy=np.zeros(width),
            draws=np.zeros(width),
            cursor=np.zeros(2, np.int64),
        )

    def activate(self) -> PrivateActivation:
        """Begin a round."""
        return PrivateActivation(self)

    def rows(self, asker: Label) -> Rows:
        """The model of an agent's task, and the rows of all experts for it."""
        row = self.clique.rows[asker]
        model = np.empty(self.settings.dim)
        count = int(self.state.first[row + 1] - self.state.first[row])
        experts = np.empty((count, self.settings.dim))
        read_row(self.state, 0, row, model)
        if count > 0:
            read_experts(self.state, row, experts)
        return Rows(self.name, model, experts.ravel())

    def receive(self, message: Message) -> Message | None:
        """Take a message; a request is answered."""
        sender = label_of(message.sender)
        if sender not in self.clique.rows:
            raise ValueError(f"sender must be a listener of agent {self.name!r}, got {sender!r}")
        if isinstance(message, RowRequest):
            return self.rows(sender)
        if not isinstance(message, Sums):
            raise ValueError(f"message must be a request or sums, got {message!r}")
        self.take(sender, message)
        return None

    def take(self, sender: Label, sums: Sums) -> None:
        """Replace what is known of a listener by what it has published."""
        row = self.clique.rows[sender]
        count = int(self.state.first[row + 1] - self.state.first[row])
        total = validation.vector("total", sums.total, self.settings.dim)
        products = validation.vector("products", sums.products, count)
        weight = validation.positive("weight", sums.weight)
        entry = np.zeros(1, np.uint32), np.array([row], np.uint32), np.array([weight])
        for array in entry:
            array.setflags(write=False)  # `tell` is compiled for read-only arrays
        tell_one(self.state, *entry, np.concatenate((total, products)))

    def account(self) -> Account:
        """What the agent has spent, has released and has left."""
        return self.sanitiser.account(0, int(self.aggregator.activations[0]))


class PrivateActivation:
    """A round of a `PrivateAgent`, with the experts' rows that were fetched for it."""

    def __init__(self, agent: PrivateAgent) -> None:
        self._agent = agent
        self._experts: Floats | None = None
        request = RowRequest(agent.name)
        self.requests = {link.keepers[0]: request for link in agent.links if link.own is None}

    def predict(self, answers: Mapping[Label, Rows]) -> Floats:
        """Average all models of the agent's task, its own included."""
        agent, dim = self._agent, self._agent.settings.dim
        models, experts = [], []
        for link, count in zip(agent.links, agent.products, strict=True):
            if link.own is not None:
                found = agent.rows(agent.name)
            elif link.keepers[0] in answers:
                found = answers[link.keepers[0]]
            else:
                raise ValueError(
                    f"answers must have one of agent {link.keepers[0]!r}, got {list(answers)!r}"
                )
            models.append(validation.vector("model", found.model, dim))
            experts.append(validation.vector("experts", found.experts, int(count) * dim))
        self._experts = np.concatenate(experts).reshape(-1, dim)
        x = np.empty(dim)
        combine(np.array(models), agent.weights, agent.units.radius, x)
        return x

    def learn(self, gradient: ArrayLike) -> dict[Label, Message]:
        """Publish the agent's next noisy sums; returns them for each that keeps a clique for it."""
        agent = self._agent
        if self._experts is None:
            raise ValueError("predict must be called before learn, which needs the experts' rows")
        given = validation.vector("gradient", gradient, agent.settings.dim)
        if np.abs(given).max() > LONGEST / np.sqrt(agent.settings.dim):
            refuse(given, agent.settings)
        released, horizon = int(agent.aggregator.activations[0]), agent.sanitiser.privacy.horizon[0]
        if released >= horizon:
            raise ValueError(
                f"horizon of agent {agent.name!r} is {horizon} activations, of which {released} "
                "are spent, got 1 more; nothing was released"
            )
        draws, _ = agent.sanitiser.draws(agent.aggregator.activations, np.zeros(1, np.int64))
        agent.scratch.draws[:], agent.scratch.rows[:] = draws, self._experts
        agent.scratch.cursor[:] = 0, len(draws)
        release_one(
            agent.aggregator,
            agent.scratch,
            agent.units,
            agent.weights,
            agent.products,
            agent.sanitiser.noise.grid,
            given.copy(),
        )
        agent.sanitiser.keep(len(draws))
        return self._messages()

    def _messages(self) -> dict[Label, Message]:
        agent, dim = self._agent, self._agent.settings.dim
        published, place = agent.aggregator.published, dim
        messages: dict[Label, Message] = {}
        for link, count in zip(agent.links, agent.products, strict=True):
            products = published[place : place + count].copy()
            sums = Sums(agent.name, link.weight, published[:dim].copy(), products)
            place += count
            if link.own is not None:
                agent.take(agent.name, sums)
            else:
                messages[link.keepers[0]] = sums
        return messages


@kernel
def read_experts(learner: DPMTFTRLState, row: int, out: Floats) -> None:
    """`expert_rows`, for callers in Python."""
    expert_rows(learner.base.work, learner.base, 0, row, out)


@kernel
def tell_one(
    learner: DPMTFTRLState, clique: Indices, row: Indices, weight: Floats, published: Floats
) -> None:
    """`tell` with the sums of one agent, for callers in Python."""
    tell(learner, clique, row, weight, published)


@kernel
def release_one(
    aggregator: State,
    scratch: ReleaseScratch,
    units: Units,
    weights: Floats,
    products: Integers,
    grid: float,
    gradient: Floats,
) -> bool:
    """`publish_sums` of the only agent, for callers in Python."""
    return publish_sums(aggregator, scratch, units, weights, products, grid, 0, gradient)
