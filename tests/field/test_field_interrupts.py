"""Ctrl-C at any line of ours: a network in the field is as before or as after, never in between."""

import itertools
import pickle

import pytest
from tests.interrupting import interrupted

import mtcool
from mtcool import Delays, Messages
from mtcool.learners import KT
from mtcool.network.saved_field.arrays import field_arrays
from mtcool.peers.field.exchange import FieldExchange
from mtcool.peers.field.records import TARGETS

LATE = {"messages": Messages(partners=3), "delays": Delays(gradients=4, labels=2)}


def interruptions(act, agents, **options):
    """The network after an interrupt at each line of `act`, and at last without any."""
    for line in itertools.count(1):
        net = mtcool.mt_co2ol(mtcool.graphs.ring(agents), 1, learner=KT(), **options)
        over = not interrupted(lambda net=net: act(net), line)
        yield net
        if over:
            return


def test_an_interrupted_update_leaves_free_places_that_exist():
    for net in interruptions(lambda net: net.update(1, [1.0]), 5, **LATE):
        queue, counters = net.peers.state.queue, net.peers.state.counters
        assert counters[TARGETS] <= len(queue.targets)
        for places, there in ((queue.places, queue.messages), (queue.label_places, queue.labels)):
            assert sorted(places) == list(range(len(there)))
        net.update(0, [0.5])


def content(net):
    arrays = field_arrays(net.exchange, net.settings)
    return list(net.names.labels), {name: array.tobytes() for name, array in arrays.items()}


def test_an_interrupted_join_is_completed_or_has_not_begun(tmp_path):
    """There is no room for so many rows: it is made while half of the edges are there."""
    interrupts, saved = 0, []
    for net in interruptions(lambda net: net.join("new", range(12)), 12, **LATE):
        net.update(0, [0.5])
        if "new" in net.graph.labels:
            assert net.graph.neighbourhood_sizes.tolist() == [4] * 12 + [13]
        else:
            interrupts += 1
            assert net.graph.neighbourhood_sizes.tolist() == [3] * 12
            net.join("another", [0])
            net.join("new", [1, 2])
            assert net.graph.neighbourhood_sizes[-2:].sum() == 5
        if content(net) not in saved:  # most lines leave the same behind
            saved.append(content(net))
            net.save(tmp_path / "net.npz")
            assert content(mtcool.load(tmp_path / "net.npz")) == content(net)
    assert interrupts > 50


def test_an_interrupted_first_change_leaves_a_network_that_can_be_saved(tmp_path):
    seen, saved = set(), set()
    for net in interruptions(lambda net: net.connect(0, 2), 5):
        if (left := pickle.dumps(net)) not in saved:  # most lines leave the same behind
            saved.add(left)
            net.save(tmp_path / "net.npz")
            loaded = mtcool.load(tmp_path / "net.npz")
            seen.add(tuple(loaded.graph.idx.tolist()))
        assert tuple(net.graph.idx.tolist()) in seen
        net.connect(1, 3)
        assert content(net)[0] == list(range(5))
    assert {len(edges) for edges in seen} == {15, 17}
    assert len(seen) == 2


def test_an_interrupted_first_change_leaves_the_network_as_it_was(monkeypatch):
    """It turns into one that can change at once: what it plays and what it says go together."""

    def stop(exchange):
        raise KeyboardInterrupt

    net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, learner=KT())
    monkeypatch.setattr(FieldExchange, "begin", stop)
    with pytest.raises(KeyboardInterrupt):
        net.connect(2, 3)
    assert net.exchange.in_the_field() is None
    assert net.settings.field is None
