"""ST-FTRL: every agent keeps one point."""

from collections.abc import Sequence

import numpy as np

from mtcool.agents.cutting.kinds import Joined, cut, join
from mtcool.agents.parts import pairs_of_arrays
from mtcool.agents.single_task import SingleTaskAgent
from mtcool.graphs import Graph, own_weights
from mtcool.learners import Cliques
from mtcool.peers.arrays import state_arrays
from mtcool.peers.exchange import Exchange
from mtcool.peers.settings import Settings
from mtcool.peers.single_task import SingleTaskPeers

_ALONE = Cliques(np.arange(2), np.ones(1), np.ones(1))


@cut.register
def _(
    peers: SingleTaskPeers, settings: Settings, graph: Graph, exchange: Exchange, agent: int
) -> SingleTaskAgent:
    state = settings.learner.make_state(_ALONE, settings.dim)
    start = np.arange(graph.size + 1)
    for there, here in pairs_of_arrays(peers.state, start, agent, state, _ALONE.start, 0):
        here[...] = there
    others = tuple(graph.labels[int(j)] for j in graph.neighbours(agent) if int(j) != agent)
    return SingleTaskAgent(graph.labels[agent], settings, others, state)


@join.register
def _(first: SingleTaskAgent, graph: Graph, agents: Sequence[SingleTaskAgent]) -> Joined:
    weights = own_weights(graph).data
    peers = first.settings.algorithm.peers(first.settings, graph, weights)
    start = np.arange(graph.size + 1)
    for i, agent in enumerate(agents):
        for there, here in pairs_of_arrays(peers.state, start, i, agent.state, _ALONE.start, 0):
            there[...] = here
    return Joined(weights, dict(state_arrays(peers.state)))
