"""An algorithm from outside the package: one record, and everything works with it."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import mtcool
from mtcool.algorithms import Algorithm, make_network
from mtcool.learners import MTFTRLKT
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import clique_exchange
from mtcool.testing import check_peers, peers_checks

GRAPH = mtcool.graphs.complete(6)


def in_groups(graph, weights):
    """Agents listen to neighbours of their own parity only."""
    listener = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    kept = np.where((listener - graph.idx) % 2 == 0, weights, 0.0)
    return kept / np.bincount(listener, kept)[listener]


GROUPS = Algorithm("groups", "groups", MTFTRLKT(), clique_peers, clique_exchange, weights=in_groups)


def halved(graph, weights):
    """Half of what one gives to others goes to oneself: twice is something else than once."""
    own = mtcool.graphs.own_weights(graph).data
    return 0.5 * weights + 0.5 * own


def fresh():
    return make_network(GROUPS, GRAPH, 2, lipschitz=9.0)


def test_it_passes_the_checks_of_peers():
    check_peers(GROUPS)


def test_weights_are_changed_once_and_not_again_when_agents_are_joined_or_a_file_is_read():
    record = replace(GROUPS, name="halved", weights=halved)
    assert make_network(record, GRAPH, 1).weights[0] == 0.5 + 0.5 / 6
    for check in peers_checks(record):
        if check.name in ("agents_play_as_their_network_does", "saved_networks_go_on"):
            check.run()


def test_weights_that_do_not_sum_to_one_are_refused():
    with pytest.raises(ValueError, match=r"weights must sum to 1 in every row, got [12]"):
        make_network(replace(GROUPS, weights=lambda graph, weights: 2.0 * weights), GRAPH, 1)


def test_weights_without_a_meaning_are_refused():
    record = mtcool.algorithms.algorithm("i_ftrl")
    with pytest.raises(ValueError, match="weights have no meaning for i_ftrl, got 'delegation'"):
        make_network(record, GRAPH, 1, weights="delegation")


def test_a_private_record_takes_the_public_value_and_a_seed():
    record = replace(mtcool.algorithms.algorithm("dpmt_co2ol"), name="quiet", title="quiet")
    level = mtcool.Privacy(epsilon=50.0, horizon=1_000)
    net = make_network(record, GRAPH, 3, privacy=level, seed=1)
    assert net.settings.on_excess == "clip"
    twin = mtcool.dpmt_co2ol(GRAPH, 3, level, seed=1)
    for one in (net, twin):
        one.update(0, [0.3, 0.0, 0.4])
    np.testing.assert_array_equal(net.predict(1), twin.predict(1))
    check_peers(record, dim=3, privacy=level, seed=1)


def test_a_seed_without_noise_is_refused():
    sentence = r"seed applies only to private algorithms, and to messages and delays, got 1"
    with pytest.raises(ValueError, match=sentence):
        make_network(GROUPS, GRAPH, 1, seed=1)


def test_published_noise_is_a_name_of_the_package():
    noise = mtcool.published_noise(GRAPH, 1, mtcool.Privacy(epsilon=1.0, horizon=9))
    assert (noise.gradients > 0).all()


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
