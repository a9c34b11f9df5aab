"""Peers of a kind from outside work everywhere; of what travels they speak only if they know."""

import ast
import inspect

import numpy as np
import pytest
from tests.own_peers import MOVING, UNCOUNTED

import mtcool
from mtcool.algorithms import make_network
from mtcool.network import network
from mtcool.testing import check_peers

GRAPH = mtcool.graphs.ring(5)


def played(record):
    net = make_network(record, GRAPH, 2, lipschitz=9.0)
    stream = mtcool.streams.quadratic_stream(GRAPH, np.full((5, 2), 0.3), rounds=40, seed=0)
    return net, mtcool.simulate(net, stream, times=[10, 40])


def test_with_agents_and_traffic_they_pass_every_check():
    check_peers(MOVING)


def test_what_nobody_counts_is_unknown_and_not_zero():
    net, trace = played(UNCOUNTED)
    assert trace.messages is None
    assert trace.message_bytes is None
    assert net.predict(0).any()
    assert "messages" not in trace.to_frame()


def test_what_is_counted_stands_in_the_trace():
    assert played(MOVING)[1].messages.tolist() == [20, 80]


def test_traffic_that_fails_is_noticed_before_anything_is_learned(monkeypatch):
    def refuse(*given):
        raise ValueError("names must be short")

    monkeypatch.setattr("mtcool.simulation.communication.traffic", refuse)
    net = make_network(MOVING, GRAPH, 2, lipschitz=9.0)
    stream = mtcool.streams.quadratic_stream(GRAPH, np.full((5, 2), 0.3), rounds=9, seed=0)
    with pytest.raises(ValueError, match="names must be short"):
        mtcool.simulate(net, stream)
    assert not net.peers.state.x.any()


def test_a_network_asks_no_exchange_of_which_kind_it_is():
    names = {
        node.id
        for node in ast.walk(ast.parse(inspect.getsource(network)))
        if isinstance(node, ast.Name)
    }
    assert "isinstance" not in names
    net, _ = played(MOVING)
    assert net.released == 0
    assert net.sanitiser is None
