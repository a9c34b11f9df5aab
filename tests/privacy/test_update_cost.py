"""A private update costs the same whatever the number of agents."""

import time
import tracemalloc

import pytest

import mtcool
from mtcool.learners import MTFTRL

SMALL, LARGE = 100, 100_000


@pytest.fixture(scope="module")
def rings():
    """Private networks with the same neighbourhoods, after one update."""
    privacy, learner = mtcool.Privacy(1.0, 1000), MTFTRL(experts=(0.05,))
    networks = {
        size: mtcool.dpmt_co2ol(mtcool.graphs.ring(size), 1, privacy, learner=learner, seed=0)
        for size in (SMALL, LARGE)
    }
    for network in networks.values():
        network.update(0, [0.5])
    return networks


def test_an_update_takes_as_long_among_many_agents_as_among_few(rings):
    """The fastest of many in turns: 1.0 times as long, and 1.7 with passes over all agents."""
    best = dict.fromkeys(rings, float("inf"))
    for k in range(500):
        for size, network in rings.items():
            began = time.perf_counter()
            network.update(k % SMALL, [0.5])
            best[size] = min(best[size], time.perf_counter() - began)
    assert best[LARGE] <= 1.4 * best[SMALL], best


def test_an_update_makes_no_array_of_all_agents(rings):
    peak = {}
    for size, network in rings.items():
        tracemalloc.start()
        network.update(1, [0.5])
        peak[size] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak[LARGE] <= peak[SMALL] + LARGE, peak  # an array has at least a byte for each
