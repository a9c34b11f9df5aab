"""Ctrl-C at any line of ours: no lock stays behind, and noise belongs to whole rounds."""

import threading

import pytest
from tests.interrupting import interrupted

import mtcool
from mtcool.learners import FTRL

RING = mtcool.graphs.ring(4)


def is_free(network):
    """Whether another thread can use the network."""
    found = []

    def ask():
        if network.turn.lock.acquire(timeout=5.0):
            network.turn.lock.release()
            found.append(True)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return bool(found)


def test_no_interrupt_leaves_the_lock_behind():
    network = mtcool.i_ftrl(RING, 1, learner=FTRL())
    network.update(0, [0.5])
    line = 1
    while interrupted(lambda: network.update(0, [0.5]), line):
        assert is_free(network), line
        line += 1
    assert line > 10


@pytest.mark.parametrize("how", ["update", "simulate"])
def test_noise_after_an_interrupt_is_that_of_whole_rounds(how):
    def fresh():
        return mtcool.dpmt_co2ol(RING, 2, mtcool.Privacy(1.0, 9), seed=3)

    stream = mtcool.Stream([0], mtcool.streams.linear([[0.3, 0.1]]))

    def play(network):
        if how == "update":
            network.update(0, [0.3, 0.1])
        else:
            mtcool.simulate(network, stream)

    expected = {}
    for rounds in (0, 1):
        network = fresh()
        for _ in range(rounds):
            play(network)
        network.update(1, [0.2, 0.2])
        expected[rounds] = network.peers.state.aggregator.published.tobytes()
    line, met = 1, set()
    while True:
        network = fresh()
        if not interrupted(lambda net=network: play(net), line):
            break
        rounds = network.released
        network.update(1, [0.2, 0.2])
        assert network.peers.state.aggregator.published.tobytes() == expected[rounds], line
        met.add(rounds)
        line += 1
    assert met == {0, 1}
