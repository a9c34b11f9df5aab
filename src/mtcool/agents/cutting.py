"""From a network in one block to its agents, and back: the same numbers at other places."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mtcool.agents.agent import Clique, CliqueAgent, Link
from mtcool.agents.parts import blocks_of_arrays, pairs_of_arrays
from mtcool.agents.private import PrivateAgent
from mtcool.agents.single_task import SingleTaskAgent
from mtcool.graphs import Graph, own_weights
from mtcool.learners import MTFTRL, Cliques
from mtcool.learners.dp_mt_ftrl import make_private_state
from mtcool.learners.two_phase import TwoPhase
from mtcool.peers.arrays import state_arrays
from mtcool.peers.cliques import CliquePeers
from mtcool.peers.exchange import Exchange
from mtcool.peers.private import PrivatePeers
from mtcool.peers.private_exchange import PrivateExchange
from mtcool.peers.settings import Settings
from mtcool.peers.single_task import SingleTaskPeers
from mtcool.privacy.aggregators.aggregator import Blocks
from mtcool.privacy.calibration import Budget, Channels
from mtcool.privacy.sanitiser import Sanitiser
from mtcool.privacy.settings import PrivacySettings
from mtcool.types import AnyArray, Floats, Integers, Label, PeersBlock


class Plan(NamedTuple):
    """Who keeps which cliques, and who listens to which of their rows."""

    start: Integers
    """Rows of clique c are start[c]:start[c + 1]."""
    listener: Integers
    """Agent that listens to each row."""
    weight: Floats
    """Its weight."""

    @classmethod
    def of(cls, settings: Settings, graph: Graph, peers: CliquePeers | PrivatePeers) -> Plan:
        """The plan behind the entries of a network."""
        count = int(settings.algorithm.cliques(graph).max()) + 1  # also those without a row
        sizes = np.bincount(peers.clique, minlength=count)
        by = np.repeat(np.arange(len(peers.ptr) - 1), np.diff(peers.ptr))
        listener, weight = np.empty_like(by), np.empty(len(by))
        listener[peers.row], weight[peers.row] = by, peers.weight
        return cls(np.concatenate(([0], np.cumsum(sizes))), listener, weight)

    def rows(self, clique: int) -> slice:
        """The rows of a clique."""
        return slice(int(self.start[clique]), int(self.start[clique + 1]))


def kept_by(settings: Settings, peers: CliquePeers | PrivatePeers, agent: int) -> list[int]:
    """The cliques that an agent keeps."""
    if settings.algorithm.kept_by_members:
        return [int(c) for c in peers.clique[peers.ptr[agent] : peers.ptr[agent + 1]]]
    return [agent]


Agent: TypeAlias = CliqueAgent | PrivateAgent | SingleTaskAgent


def cut(
    settings: Settings, graph: Graph, peers: PeersBlock, exchange: Exchange, agent: int
) -> Agent:
    """Cut an agent out of a network, with a copy of its part of the state."""
    if isinstance(peers, SingleTaskPeers):
        return _cut_single(settings, graph, peers, agent)
    plan, labels = Plan.of(settings, graph, peers), graph.labels
    keeps = kept_by(settings, peers, agent)
    cliques = tuple(
        Clique(k, {labels[int(i)]: row for row, i in zip(*_places(plan, keeps, k), strict=True)})
        for k in range(len(keeps))
    )
    kept = dict(zip(keeps, cliques, strict=True))
    links = tuple(_links(settings, graph, peers, plan, agent, kept))
    own = _start_of(plan, keeps)
    bound = np.array([plan.weight[plan.rows(c)].max(initial=0.0) for c in keeps])
    given = Cliques(own, bound, bound)
    if isinstance(peers, PrivatePeers):
        if not isinstance(exchange, PrivateExchange):
            raise ValueError(f"exchange must be private as the peers are, got {exchange!r}")
        return _cut_private(
            settings, plan, peers, exchange, agent, labels[agent], links, cliques, given
        )
    learner: Any = settings.learner
    if settings.rates == "estimated":
        weights = np.concatenate([plan.weight[plan.rows(c)] for c in keeps])
        weights.setflags(write=False)
        learner = TwoPhase(learner, weights, settings.first_phase(graph.size))
    state = learner.make_state(given, settings.dim)
    for k, c in enumerate(keeps):
        for there, here in pairs_of_arrays(peers.state, plan.start, c, state, own, k):
            here[...] = there
    return CliqueAgent(labels[agent], settings, links, cliques, state)


def _places(plan: Plan, keeps: list[int], k: int) -> tuple[range, Integers]:
    """Rows of the k-th clique among those that an agent keeps, and their listeners."""
    own = _start_of(plan, keeps)
    return range(int(own[k]), int(own[k + 1])), plan.listener[plan.rows(keeps[k])]


def _start_of(plan: Plan, keeps: list[int]) -> Integers:
    sizes = [plan.start[c + 1] - plan.start[c] for c in keeps]
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    start.setflags(write=False)
    return start


def _links(
    settings: Settings,
    graph: Graph,
    peers: CliquePeers | PrivatePeers,
    plan: Plan,
    agent: int,
    kept: Mapping[int, Clique],
) -> Iterator[Link]:
    span = slice(int(graph.ptr[agent]), int(graph.ptr[agent + 1]))
    cliques = settings.algorithm.cliques(graph)[span].tolist()
    neighbour = dict(zip(cliques, graph.idx[span].tolist(), strict=True))
    for e in range(int(peers.ptr[agent]), int(peers.ptr[agent + 1])):
        c, weight = int(peers.clique[e]), float(peers.weight[e])
        members = plan.listener[plan.rows(c)] if settings.algorithm.kept_by_members else [c]
        others = tuple(graph.labels[int(k)] for k in members if int(k) != agent)
        yield Link(graph.labels[neighbour[c]], others, weight, kept.get(c))


def _cut_private(
    settings: Settings,
    plan: Plan,
    peers: PrivatePeers,
    exchange: PrivateExchange,
    agent: int,
    name: Label,
    links: tuple[Link, ...],
    cliques: tuple[Clique, ...],
    given: Cliques,
) -> PrivateAgent:
    whole, learner = exchange.sanitiser, settings.learner
    if not isinstance(learner, MTFTRL):
        raise ValueError(f"learner must be MTFTRL(...), got {learner!r}")
    state = make_private_state(learner, given, settings.dim)
    for there, here in pairs_of_arrays(
        peers.state.learner, plan.start, agent, state, given.start, 0
    ):
        here[...] = there
    privacy = _privacy_of(whole.privacy, agent)
    sanitiser = Sanitiser(privacy, _channels_of(whole.channels, agent), whole.noise)
    blocks = Blocks(sanitiser.channels.width, np.array(privacy.horizon, np.int64))
    aggregator = privacy.aggregator.make_state(blocks, privacy.law)
    for there, here in blocks_of_arrays(peers.state.aggregator, agent, aggregator, 0):
        here[...] = there
    first, last = int(peers.ptr[agent]), int(peers.ptr[agent + 1])
    products = peers.products[first:last].copy()
    products.setflags(write=False)
    return PrivateAgent(name, settings, links, products, cliques[0], state, aggregator, sanitiser)


def _cut_single(
    settings: Settings, graph: Graph, peers: SingleTaskPeers, agent: int
) -> SingleTaskAgent:
    state = settings.learner.make_state(_ALONE, settings.dim)
    start = np.arange(graph.size + 1)
    for there, here in pairs_of_arrays(peers.state, start, agent, state, _ALONE.start, 0):
        here[...] = there
    others = tuple(graph.labels[int(j)] for j in graph.neighbours(agent) if int(j) != agent)
    return SingleTaskAgent(graph.labels[agent], settings, others, state)


_ALONE = Cliques(np.arange(2), np.ones(1), np.ones(1))


def _privacy_of(privacy: PrivacySettings, agent: int) -> PrivacySettings:
    """The settings of one agent."""
    levels = {
        name: None if values is None else (values[agent],)
        for name, values in dataclasses.asdict(privacy.budget).items()
    }
    return dataclasses.replace(privacy, budget=Budget(**levels), horizon=(privacy.horizon[agent],))


def _channels_of(channels: Channels, agent: int) -> Channels:
    """What the leaves of one agent hold."""
    one = slice(agent, agent + 1)
    return channels._replace(
        products=channels.products[one],
        load=channels.load[one],
        energy=channels.energy[one],
        price=channels.price[one],
    )


def join(
    settings: Settings, graph: Graph, agents: Sequence[Any]
) -> tuple[Floats, dict[str, AnyArray]]:
    """Join agents, in node order, to one block; returns its weights and arrays."""
    if isinstance(agents[0], SingleTaskAgent):
        return _join_single(settings, graph, agents)
    weights = _weights(settings, graph, agents)
    peers = settings.algorithm.peers(settings, graph, weights)
    plan = Plan.of(settings, graph, peers)
    whole = peers.state.learner if isinstance(peers, PrivatePeers) else peers.state
    told: set[int] = set()
    for i, agent in enumerate(agents):
        keeps = kept_by(settings, peers, i)
        own = _start_of(plan, keeps)
        for k, c in enumerate(keeps):
            for there, here in pairs_of_arrays(whole, plan.start, c, agent.state, own, k):
                if c in told and there.tobytes() != here.tobytes():
                    raise ValueError(
                        f"agents must agree on what they keep together, got {agent.name!r}, which "
                        "differs from a neighbour"
                    )
                there[...] = here
            told.add(c)
        if isinstance(agent, PrivateAgent):
            for there, here in blocks_of_arrays(peers.state.aggregator, i, agent.aggregator, 0):
                there[...] = here
    return weights, dict(state_arrays(peers.state))


def _join_single(
    settings: Settings, graph: Graph, agents: Sequence[SingleTaskAgent]
) -> tuple[Floats, dict[str, AnyArray]]:
    weights = own_weights(graph).data
    peers, start = settings.algorithm.peers(settings, graph, weights), np.arange(graph.size + 1)
    for i, agent in enumerate(agents):
        for there, here in pairs_of_arrays(peers.state, start, i, agent.state, _ALONE.start, 0):
            there[...] = here
    return weights, dict(state_arrays(peers.state))


def _weights(
    settings: Settings, graph: Graph, agents: Sequence[CliqueAgent | PrivateAgent]
) -> Floats:
    """The weight of every entry of the graph; zero where an agent does not listen."""
    weights = np.zeros(len(graph.idx))
    for i, agent in enumerate(agents):
        heard = {link.neighbour: link for link in agent.links}
        for e in range(int(graph.ptr[i]), int(graph.ptr[i + 1])):
            link = heard.pop(graph.labels[int(graph.idx[e])], None)
            weights[e] = 0.0 if link is None else link.weight
        if heard:
            raise ValueError(
                f"graph must have the neighbours of agent {agent.name!r}, got none called "
                f"{next(iter(heard))!r}"
            )
    return weights
