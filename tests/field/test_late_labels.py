"""Labels that come late: what waits for them takes as much memory as there is of it."""

import tracemalloc

import numpy as np

import mtcool
from mtcool import Delays
from mtcool.learners import MTFTRLKT

AGENTS, ROUNDS = 5001, 3000


def test_labels_that_wait_in_a_star_take_as_much_as_their_rounds_heard():
    graph = mtcool.graphs.star(AGENTS)
    late = Delays(labels=10**6)
    net = mtcool.mt_co2ol(graph, 1, learner=MTFTRLKT(), rates="adaptive", delays=late)
    agents = np.arange(ROUNDS) % (AGENTS // 10)  # the hub, agent 0, six times
    stream = mtcool.Stream(agents, mtcool.streams.linear(np.ones((ROUNDS, 1))))
    mtcool.simulate(net, stream)
    tracemalloc.start()
    mtcool.simulate(net, stream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A place for each neighbour of the hub in each label would be more than a gigabyte.
    assert peak < 20_000_000
    held = sum(array.nbytes for array in net.peers.state.queue)
    assert held < 20_000_000
