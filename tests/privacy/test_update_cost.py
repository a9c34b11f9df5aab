"""A private update makes no array of all agents; `benchmarks/privacy.py` measures its time."""

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


def test_an_update_makes_no_array_of_all_agents(rings):
    peak = {}
    for size, network in rings.items():
        tracemalloc.start()
        network.update(1, [0.5])
        peak[size] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak[LARGE] <= peak[SMALL] + LARGE, peak  # an array has at least a byte for each
