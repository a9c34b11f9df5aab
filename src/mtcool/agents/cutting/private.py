"""DPMT-CO2OL: every agent keeps a clique, its sums, and the ledger of its own privacy level."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from mtcool.agents.cutting.cliques import cliques_of, entry_weights, join_cliques
from mtcool.agents.cutting.kinds import Joined, cut, join
from mtcool.agents.parts import blocks_of_arrays, pairs_of_arrays
from mtcool.agents.private import PrivateAgent
from mtcool.graphs import Graph
from mtcool.learners.dp_mt_ftrl import make_private_state
from mtcool.peers.arrays import state_arrays
from mtcool.peers.exchange import Exchange
from mtcool.peers.private import PrivatePeers
from mtcool.peers.settings import Settings
from mtcool.privacy.aggregators.aggregator import Blocks
from mtcool.privacy.calibration import Budget, Channels
from mtcool.privacy.sanitiser import Sanitiser
from mtcool.privacy.settings import PrivacySettings


@cut.register
def _(
    peers: PrivatePeers, settings: Settings, graph: Graph, exchange: Exchange, agent: int
) -> PrivateAgent:
    (_, learner), whole = settings.published, exchange.sanitiser
    if whole is None:
        raise ValueError(f"exchange must be private as the peers are, got {exchange!r}")
    own = cliques_of(peers, settings, graph, agent)
    state = make_private_state(learner, own.given, settings.dim)
    for there, here in pairs_of_arrays(
        peers.state.learner, own.plan.start, agent, state, own.given.start, 0
    ):
        here[...] = there
    privacy = _privacy_of(whole.privacy, agent)
    sanitiser = Sanitiser(privacy, _channels_of(whole.channels, agent), whole.noise)
    blocks = Blocks(sanitiser.channels.width, np.array(privacy.horizon, np.int64))
    aggregator = privacy.aggregator.make_state(blocks, privacy.law)
    for there, here in blocks_of_arrays(peers.state.aggregator, agent, aggregator, 0):
        here[...] = there
    products = peers.products[int(peers.ptr[agent]) : int(peers.ptr[agent + 1])].copy()
    products.setflags(write=False)
    return PrivateAgent(
        graph.labels[agent],
        settings,
        own.links,
        products,
        own.cliques[0],
        state,
        aggregator,
        sanitiser,
    )


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


@join.register
def _(first: PrivateAgent, graph: Graph, agents: Sequence[PrivateAgent]) -> Joined:
    weights = entry_weights(graph, agents)
    peers = first.settings.algorithm.peers(first.settings, graph, weights)
    join_cliques(peers, peers.state.learner, first.settings, graph, agents)
    for i, agent in enumerate(agents):
        for there, here in blocks_of_arrays(peers.state.aggregator, i, agent.aggregator, 0):
            there[...] = here
    return Joined(weights, dict(state_arrays(peers.state)), first.sanitiser.noise)
