"""MT-CO2OL, i-FTRL and the pairwise approach: every agent keeps one clique, or several."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from mtcool.agents.agent import Clique, Link
from mtcool.agents.cliques import CliqueAgent
from mtcool.agents.cutting.kinds import Joined, cut, join
from mtcool.agents.cutting.settings import joint_settings, settings_of
from mtcool.agents.private import PrivateAgent
from mtcool.axes import Location, copy_cliques, pairs, state_arrays
from mtcool.graphs import Graph
from mtcool.peers.cliques import CliquePeers
from mtcool.peers.exchange import Exchange
from mtcool.peers.private import PrivatePeers
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Indices, Integers, State

SAME = 1e-12  # a relative difference of weights that is rounding


class Plan(NamedTuple):
    """Who keeps which cliques, and who listens to which of their rows."""

    start: Integers
    """Rows of clique c are start[c]:start[c + 1]."""
    listener: Integers
    """Agent that listens to each row."""
    weight: Floats
    """Its weight."""
    heard: Indices
    """The clique that each entry of the graph listens to."""

    @classmethod
    def of(cls, settings: Settings, graph: Graph, peers: CliquePeers | PrivatePeers) -> Plan:
        """The plan behind the entries of a network."""
        heard = settings.algorithm.cliques(graph)
        sizes = np.bincount(peers.clique, minlength=int(heard.max()) + 1)  # some without a row
        by = np.repeat(np.arange(graph.size), np.diff(peers.ptr))
        listener, weight = np.empty_like(by), np.empty(len(by))
        listener[peers.row], weight[peers.row] = by, peers.weight
        return cls(np.concatenate(([0], np.cumsum(sizes))), listener, weight, heard)

    def rows(self, clique: int) -> slice:
        """The rows of a clique."""
        return slice(int(self.start[clique]), int(self.start[clique + 1]))

    def location(self, clique: int) -> Location:
        """Where a clique is in the network's state."""
        return Location.of(clique, int(self.start[clique]), int(self.start[clique + 1]))


def kept_by(settings: Settings, peers: CliquePeers | PrivatePeers, agent: int) -> list[int]:
    """The cliques that an agent keeps."""
    if settings.algorithm.kept_by_members:
        return [int(c) for c in peers.clique[peers.ptr[agent] : peers.ptr[agent + 1]]]
    return [agent]


class Own(NamedTuple):
    """What an agent keeps and whom it listens to."""

    keeps: list[int]
    """Numbers of its cliques in the network."""
    cliques: tuple[Clique, ...]
    links: tuple[Link, ...]


def own_of(
    plan: Plan, peers: CliquePeers | PrivatePeers, settings: Settings, graph: Graph, agent: int
) -> Own:
    """Collect what an agent keeps and whom it listens to."""
    keeps, cliques, row = kept_by(settings, peers, agent), [], 0
    for number, c in enumerate(keeps):
        names = [graph.labels[int(i)] for i in plan.listener[plan.rows(c)]]
        weights = plan.weight[plan.rows(c)].tolist()
        rows = range(row, row + len(names))
        row += len(names)
        cliques.append(
            Clique(
                number,
                dict(zip(names, rows, strict=True)),
                dict(zip(names, weights, strict=True)),
            )
        )
    kept = dict(zip(keeps, cliques, strict=True))
    links = tuple(_links(settings, graph, peers, plan, agent, kept))
    return Own(keeps, tuple(cliques), links)


@cut.register
def _(
    peers: CliquePeers, settings: Settings, graph: Graph, exchange: Exchange, agents: Sequence[int]
) -> Iterator[CliqueAgent]:
    plan = Plan.of(settings, graph, peers)
    first_phase = settings.first_phase(graph.size) if settings.rates == "estimated" else 0
    for i in agents:
        own = own_of(plan, peers, settings, graph, i)
        agent = CliqueAgent(
            graph.labels[i], settings_of(settings, i), own.links, own.cliques, first_phase
        )
        for k, c in enumerate(own.keeps):
            copy_cliques(peers.state, plan.location(c), agent.state, agent.given.location(k))
        yield agent


def _links(
    settings: Settings,
    graph: Graph,
    peers: CliquePeers | PrivatePeers,
    plan: Plan,
    agent: int,
    kept: Mapping[int, Clique],
) -> Iterator[Link]:
    span = slice(int(graph.ptr[agent]), int(graph.ptr[agent + 1]))
    neighbour = dict(zip(plan.heard[span].tolist(), graph.idx[span].tolist(), strict=True))
    for e in range(int(peers.ptr[agent]), int(peers.ptr[agent + 1])):
        c, weight = int(peers.clique[e]), float(peers.weight[e])
        members = plan.listener[plan.rows(c)] if settings.algorithm.kept_by_members else [c]
        others = tuple(graph.labels[int(k)] for k in members if int(k) != agent)
        yield Link(graph.labels[neighbour[c]], others, weight, kept.get(c))


@join.register
def _(first: CliqueAgent, graph: Graph, agents: Sequence[CliqueAgent]) -> Joined:
    settings, weights = joint_settings(agents), entry_weights(graph, agents)
    peers = settings.algorithm.peers(settings, graph, weights)
    join_cliques(peers, peers.state, settings, graph, agents)
    return Joined(settings, weights, dict(state_arrays(peers.state)))


def join_cliques(
    peers: CliquePeers | PrivatePeers,
    state: State,
    settings: Settings,
    graph: Graph,
    agents: Sequence[CliqueAgent | PrivateAgent],
) -> None:
    """Copy the cliques of all agents to the `state` of the learner in `peers`."""
    plan = Plan.of(settings, graph, peers)
    joined: set[int] = set()
    for i, agent in enumerate(agents):
        _check_listeners(plan, kept_by(settings, peers, i), graph, agent)
        for k, c in enumerate(kept_by(settings, peers, i)):
            for pair in pairs(agent.state, agent.given.location(k), state, plan.location(c)):
                before = pair.target[pair.where]
                if c in joined and before.tobytes() != pair.source.tobytes():
                    raise ValueError(
                        f"agents must agree on what they keep together, got {agent.name!r}, which "
                        "differs from a neighbour"
                    )
                pair.target[pair.where] = pair.source
            joined.add(c)


def _check_listeners(
    plan: Plan, keeps: Sequence[int], graph: Graph, agent: CliqueAgent | PrivateAgent
) -> None:
    """Refuse an agent whose listeners, or their weights, are others than they say themselves."""
    known = (agent.clique,) if isinstance(agent, PrivateAgent) else agent.cliques
    for c, clique in zip_longest(keeps, known):
        rows = slice(0) if c is None else plan.rows(c)
        names = [graph.labels[int(i)] for i in plan.listener[rows]]
        said = dict(zip(names, plan.weight[rows].tolist(), strict=True))
        noted = {} if clique is None else dict(clique.weights)
        for name in said | noted:
            weight, its = noted.get(name, 0.0), said.get(name, 0.0)
            if not math.isclose(weight, its, rel_tol=SAME):
                raise ValueError(
                    f"agents must agree on their weights, got {agent.name!r}, which knows "
                    f"{name!r} with weight {weight}, and {name!r}, which listens with {its}"
                )


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
