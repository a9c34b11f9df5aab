"""An algorithm from outside the package: one record, and everything works with it."""

import copy
import pickle

import numpy as np
from test_agents import compare

import mtcool
from mtcool.algorithms import Algorithm, make_network
from mtcool.learners import MTFTRLKT
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import clique_exchange

GRAPH = mtcool.graphs.complete(6)


def peers_in_groups(settings, graph, weights):
    """Agents listen to neighbours of their own parity only."""
    listener = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    kept = np.where((listener - graph.idx) % 2 == 0, weights, 0.0)
    return clique_peers(settings, graph, kept / np.bincount(listener, kept)[listener])


GROUPS = Algorithm("groups", "groups", MTFTRLKT(), peers_in_groups, clique_exchange)


def fresh():
    return make_network(GROUPS, GRAPH, 2, lipschitz=9.0)


def test_it_simulates_as_it_is_asked_and_told():
    stream = mtcool.streams.quadratic_stream(GRAPH, np.full((6, 2), 0.2), rounds=50, seed=0)
    network, slow = fresh(), fresh()
    trace = mtcool.simulate(network, stream)
    for agent, loss in stream:
        slow.update(agent, loss(slow.predict(agent))[1])
    assert trace.messages[-1] == 3 * 2 * 50  # two others in a group
    np.testing.assert_array_equal(network.predict(0), slow.predict(0))


def test_it_is_copied_and_sent_to_workers():
    network = fresh()
    network.update(0, [0.5, 0.1])
    for twin in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        np.testing.assert_array_equal(twin.predict(2), network.predict(2))
        assert twin.settings.algorithm == GROUPS


def test_it_is_cut_into_agents_and_put_together_again():
    network = fresh()
    agents = compare(network, np.random.default_rng(0))
    assert set(agents[0].activate().requests) == {2, 4}
    again = mtcool.Network.from_agents(agents.values(), GRAPH)
    np.testing.assert_array_equal(again.predict(3), network.predict(3))
