"""MT-CO2OL, i-FTRL and the pairwise approach: every agent keeps one clique, or several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mtcool.agents.agent import Clique, CliqueAgent, Link
from mtcool.agents.cutting.kinds import Joined, cut, join
from mtcool.agents.parts import pairs_of_arrays
from mtcool.agents.private import PrivateAgent
from mtcool.graphs import Graph
from mtcool.learners import Cliques, Learner
from mtcool.learners.two_phase import TwoPhase
from mtcool.peers.arrays import state_arrays
from mtcool.peers.cliques import CliquePeers
from mtcool.peers.exchange import Exchange
from mtcool.peers.private import PrivatePeers
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Integers, State


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


class Own(NamedTuple):
    """What an agent keeps and whom it listens to."""

    plan: Plan
    keeps: list[int]
    """Numbers of its cliques in the network."""
    cliques: tuple[Clique, ...]
    links: tuple[Link, ...]
    given: Cliques
    """Its cliques as a learner wants them."""


def cliques_of(
    peers: CliquePeers | PrivatePeers, settings: Settings, graph: Graph, agent: int
) -> Own:
    """Collect what an agent keeps and whom it listens to."""
    plan, labels = Plan.of(settings, graph, peers), graph.labels
    keeps = kept_by(settings, peers, agent)
    cliques = tuple(
        Clique(k, {labels[int(i)]: row for row, i in zip(*_places(plan, keeps, k), strict=True)})
        for k in range(len(keeps))
    )
    links = _links(settings, graph, peers, plan, agent, dict(zip(keeps, cliques, strict=True)))
    bound = np.array([plan.weight[plan.rows(c)].max(initial=0.0) for c in keeps])
    return Own(plan, keeps, cliques, tuple(links), Cliques(_start_of(plan, keeps), bound, bound))


@cut.register
def _(
    peers: CliquePeers, settings: Settings, graph: Graph, exchange: Exchange, agent: int
) -> CliqueAgent:
    own = cliques_of(peers, settings, graph, agent)
    learner: Learner = settings.learner
    if settings.rates == "estimated":
        weights = np.concatenate([own.plan.weight[own.plan.rows(c)] for c in own.keeps])
        weights.setflags(write=False)
        learner = TwoPhase(learner, weights, settings.first_phase(graph.size))
    state = learner.make_state(own.given, settings.dim)
    for k, c in enumerate(own.keeps):
        for there, here in pairs_of_arrays(
            peers.state, own.plan.start, c, state, own.given.start, k
        ):
            here[...] = there
    return CliqueAgent(graph.labels[agent], settings, own.links, own.cliques, state)


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


@join.register
def _(first: CliqueAgent, graph: Graph, agents: Sequence[CliqueAgent]) -> Joined:
    weights = entry_weights(graph, agents)
    peers = first.settings.algorithm.peers(first.settings, graph, weights)
    join_cliques(peers, peers.state, first.settings, graph, agents)
    return Joined(weights, dict(state_arrays(peers.state)))


def join_cliques(
    peers: CliquePeers | PrivatePeers,
    state: State,
    settings: Settings,
    graph: Graph,
    agents: Sequence[CliqueAgent | PrivateAgent],
) -> None:
    """Copy the cliques of all agents to the `state` of the learner in `peers`."""
    plan = Plan.of(settings, graph, peers)
    told: set[int] = set()
    for i, agent in enumerate(agents):
        keeps = kept_by(settings, peers, i)
        own = _start_of(plan, keeps)
        for k, c in enumerate(keeps):
            for there, here in pairs_of_arrays(state, plan.start, c, agent.state, own, k):
                if c in told and there.tobytes() != here.tobytes():
                    raise ValueError(
                        f"agents must agree on what they keep together, got {agent.name!r}, which "
                        "differs from a neighbour"
                    )
                there[...] = here
            told.add(c)


def entry_weights(graph: Graph, agents: Sequence[CliqueAgent | PrivateAgent]) -> Floats:
    """Return the weight of every entry of the graph; zero where an agent does not listen."""
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
