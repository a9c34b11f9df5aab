"""Ctrl-C at any line of ours: a network in the field is as before or as after, never in between."""

import itertools

import mtcool
from mtcool import Delays, Messages
from mtcool.learners import FTRL
from mtcool.peers.field.records import FREE, LABELS_FREE
from tests.network.test_interrupts import interrupted


def interruptions(act):
    """The network after an interrupt at each line of `act`, and at last without any."""
    for line in itertools.count(1):
        net = mtcool.mt_co2ol(
            mtcool.graphs.ring(5),
            1,
            learner=FTRL(),
            messages=Messages(partners=3),
            delays=Delays(gradients=4, labels=2),
        )
        over = not interrupted(lambda net=net: act(net), line)
        yield net
        if over:
            return


def test_an_interrupted_update_leaves_free_places_that_exist():
    for net in interruptions(lambda net: net.update(1, [1.0])):
        queue, counters = net.peers.state.queue, net.peers.state.counters
        assert counters[FREE] < len(queue.messages)
        assert counters[LABELS_FREE] < len(queue.labels)
        net.update(0, [0.5])
