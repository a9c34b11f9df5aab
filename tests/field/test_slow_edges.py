"""Delays of single edges are looked up: by bisection, in a table that is never made anew."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import mtcool
from mtcool import Delay, Delays
from mtcool.field.settings import FieldSettings
from mtcool.learners import KT
from mtcool.peers.field.directory import Directory
from mtcool.peers.field.edge_delays import UNKNOWN, SlowEdges

NAMES = [0, 1, 2, "a", "b", "c", "d", "e"]
PAIRS = [(one, two) for k, one in enumerate(NAMES) for two in NAMES[:k]]


@given(st.sets(st.sampled_from(PAIRS)), st.permutations(NAMES[3:]), st.integers(0, 5))
def test_the_table_has_every_edge_whose_ends_are_known(pairs, order, early):
    delays = {pair: 1.0 + k for k, pair in enumerate(sorted(pairs, key=str))}
    field = FieldSettings(delays=Delays(gradients=Delay(edges=delays)))
    directory = Directory(mtcool.graphs.ring(3), order[:early])
    slow = SlowEdges(field, directory)
    for name in (None, *order[early:]):
        directory.add([] if name is None else [name])
        known = slow.table[slow.table["edge"] != UNKNOWN]
        assert (np.diff(slow.table["edge"][: len(known) + 1]) > 0).all()
        places = {(int(edge) >> 32, int(edge) & 0xFFFFFFFF): float(rounds)
                  for edge, _, rounds in known}  # fmt: skip
        assert places == {
            tuple(sorted((directory.index(one), directory.index(two)), reverse=True)): rounds
            for (one, two), rounds in delays.items()
            if directory.knows(one) and directory.knows(two)
        }


def test_a_join_does_not_make_the_table_anew():
    edges = {(f"new {k}", k % 5): 3.0 for k in range(1000)}
    delays = Delays(gradients=Delay(edges=edges))
    net = mtcool.mt_co2ol(mtcool.graphs.ring(5), 1, learner=KT(), delays=delays)
    table = net.exchange.slow
    net.join("new 7", [2, 3])
    net.join("new 3", [3, 2])
    assert net.exchange.slow is table
    assert (table["edge"] != UNKNOWN).sum() == 2
    assert net.peers.state.edges.gradient_delay.max() == 3.0
    slow = np.flatnonzero(net.peers.state.edges.gradient_delay)
    assert sorted(net.peers.state.edges.clique[slow].tolist()) == [2, 3, 5, 6]
