"""DPMT-CO2OL: every agent keeps a clique, its sums, and the ledger of its own privacy level."""

import hashlib
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from mtcool.agents.cutting.cliques import Plan, entry_weights, join_cliques, own_of
from mtcool.agents.cutting.kinds import Joined, cut, join
from mtcool.agents.cutting.settings import joint_settings, settings_of
from mtcool.agents.private import PrivateAgent
from mtcool.axes import Location, copy_cliques, state_arrays
from mtcool.graphs import Graph
from mtcool.peers.exchange import Exchange
from mtcool.peers.private import PrivatePeers
from mtcool.peers.settings import Settings
from mtcool.privacy.calibration import Channels, constant
from mtcool.privacy.noise import Noise, make_noise


@cut.register
def _(
    peers: PrivatePeers, settings: Settings, graph: Graph, exchange: Exchange, agents: Sequence[int]
) -> Iterator[PrivateAgent]:
    whole = exchange.sanitiser
    if whole is None:
        raise ValueError(f"exchange must be private as the peers are, got {exchange!r}")
    plan = Plan.of(settings, graph, peers)
    published = peers.state.aggregator.activations
    for i in agents:
        own = own_of(plan, peers, settings, graph, i)
        listeners = plan.listener[plan.rows(i)]
        agent = PrivateAgent(
            graph.labels[i],
            settings_of(settings, i),
            own.links,
            tuple(peers.products[int(peers.ptr[i]) : int(peers.ptr[i + 1])].tolist()),
            own.cliques[0],
            _of_agent(whole.channels, i),
            whole.noise,
            heard=dict(zip(own.cliques[0].rows, published[listeners].tolist(), strict=True)),
        )
        copy_cliques(peers.state.learner, plan.location(i), agent.state, agent.given.location(0))
        source = peers.state.aggregator
        copy_cliques(source, Location.of(i), agent.aggregator, Location.of(0))
        yield agent


def _of_agent(whole: Channels, agent: int) -> Channels:
    """What the leaves of one agent hold."""
    return whole._replace(
        products=constant(whole.products[[agent]]),
        load=constant(whole.load[[agent]]),
        energy=constant(whole.energy[[agent]]),
        price=constant(whole.price[[agent]]),
    )


@join.register
def _(first: PrivateAgent, graph: Graph, agents: Sequence[PrivateAgent]) -> Joined:
    settings, weights = joint_settings(agents), entry_weights(graph, agents)
    peers = settings.algorithm.peers(settings, graph, weights)
    join_cliques(peers, peers.state.learner, settings, graph, agents)
    for i, agent in enumerate(agents):
        target = peers.state.aggregator
        copy_cliques(agent.aggregator, Location.of(0), target, Location.of(i))
    return Joined(settings, weights, dict(state_arrays(peers.state)), _joint_noise(agents))


def _joint_noise(agents: Sequence[PrivateAgent]) -> Noise:
    """The noise that agents share, or if they have their own a stream that none of them has.

    To go on with the stream of one agent would repeat it when the agent is given the same seed
    again.
    """
    noise = agents[0].sanitiser.noise
    states = [agent.sanitiser.noise.state() for agent in agents]
    if states[0] is None or not any(agent.own_noise for agent in agents):
        return noise
    digest = hashlib.sha256(msgspec.json.encode(states)).digest()
    words = np.frombuffer(digest, "<u4").tolist()
    own = np.random.default_rng(np.random.SeedSequence(words))
    return make_noise(agents[0].sanitiser.privacy.noise, own)
