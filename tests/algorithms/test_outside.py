"""An algorithm from outside the package: one record, and everything works with it."""

import copy
import pickle

import numpy as np

import mtcool
from mtcool.algorithms import Algorithm, make_network
from mtcool.learners import MTFTRLKT
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import clique_exchange
from mtcool.testing import check_peers

GRAPH = mtcool.graphs.complete(6)


def peers_in_groups(settings, graph, weights):
    """Agents listen to neighbours of their own parity only."""
    listener = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    kept = np.where((listener - graph.idx) % 2 == 0, weights, 0.0)
    total = np.bincount(listener, kept)
    total[np.isclose(total, 1.0)] = 1.0  # weights of a group stay as they are, to the bit
    return clique_peers(settings, graph, kept / total[listener])


GROUPS = Algorithm("groups", "groups", MTFTRLKT(), peers_in_groups, clique_exchange)


def fresh():
    return make_network(GROUPS, GRAPH, 2, lipschitz=9.0)


def test_it_passes_the_checks_of_peers():
    check_peers(GROUPS)


def test_messages_are_those_of_the_groups():
    stream = mtcool.streams.quadratic_stream(GRAPH, np.full((6, 2), 0.2), rounds=50, seed=0)
    trace = mtcool.simulate(fresh(), stream)
    assert trace.messages[-1] == 3 * 2 * 50  # two others in a group


def test_it_is_copied_and_sent_to_workers():
    network = fresh()
    for twin in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert twin.settings.algorithm == GROUPS


def test_agents_ask_their_group_alone():
    assert set(fresh().agent(0).activate().requests) == {2, 4}
