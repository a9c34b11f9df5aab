"""Activations of agents that come and go: only those present, all of them alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.changes.histories import histories

from mtcool.changes import Schedule, activations, churn, join, leave
from mtcool.graphs import edgeless, ring
from mtcool.streams import stochastic

COME_AND_GO = Schedule(
    [leave(10_000, 0), leave(10_000, 2), join(19_999.5, 9), join(30_000, 2), leave(90_000, 1)]
)
STRETCHES = {
    (0, 10_000): [0, 1, 2, 3],
    (10_000, 20_000): [1, 3],
    (20_000, 30_000): [1, 3, 4],
    (30_000, 40_000): [1, 2, 3, 4],
}


@given(histories(), st.integers(1, 40), st.integers(0, 1000))
def test_who_is_active_is_present(history, rounds, seed):
    start, changes, _ = history
    schedule = Schedule(changes)
    names = schedule.agents(start)
    agents = activations(start, schedule, rounds, seed=seed)
    assert agents.shape == (rounds,)
    assert agents.dtype == np.int64
    for time, agent in enumerate(agents):
        assert names[agent] in schedule.graph_at(start, time).labels


@pytest.mark.parametrize("stretch", STRETCHES)
def test_all_who_are_present_are_equally_likely(stretch):
    agents = activations(ring(4), COME_AND_GO, 40_000, seed=1)[slice(*stretch)]
    counts = np.bincount(agents, minlength=5)
    present = STRETCHES[stretch]
    assert counts.sum() == counts[present].sum()
    assert chisquare(counts[present]).pvalue > 1e-3
    tilted = np.linspace(0.9, 1.1, len(present))
    assert chisquare(counts[present], tilted / tilted.sum() * counts.sum()).pvalue < 1e-4


def test_without_changes_they_are_those_of_a_fixed_network():
    found = activations(ring(7), Schedule([]), 100, seed=3)
    np.testing.assert_array_equal(found, stochastic(100, 7, seed=3))


def test_changes_after_the_last_round_do_not_matter():
    late = Schedule([leave(100, 0)])
    np.testing.assert_array_equal(
        activations(ring(4), late, 100, seed=5), activations(ring(4), Schedule([]), 100, seed=5)
    )
    assert 0 in activations(ring(4), late, 100, seed=5)
    assert 0 not in activations(ring(4), Schedule([leave(0, 0)]), 100, seed=5)


def test_a_seed_gives_the_same_agents_and_a_generator_goes_on():
    def draw(seed):
        return activations(ring(4), COME_AND_GO, 50, seed=seed)

    assert (draw(8) == draw(8)).all()
    assert (draw(8) == draw(np.random.default_rng(8))).all()
    shared = np.random.default_rng(8)
    assert (draw(shared) != draw(shared)).any()


def test_a_million_agents_and_ten_thousand_changes_are_served():
    network = edgeless(1_000_000)
    schedule = churn(network, 100_000, 0.05, 0.05 / 1_000_000, 3, seed=1)
    assert 9_500 < len(schedule) < 10_500
    agents = activations(network, schedule, 100_000, seed=1)
    joined = {change.agents[0]: change.time for change in schedule if change.event == "join"}
    assert all(joined.get(agent, 0) <= time for time, agent in enumerate(agents.tolist()))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: activations(ring(4), [], 5, seed=0), r"schedule must be a Schedule, got \[\]"),
        (lambda: activations(ring(4), Schedule([]), 0, seed=0), "rounds must be .*got 0"),
        (lambda: activations(ring(4), Schedule([]), 5, seed=None), "seed must be .*got None"),
        (lambda: activations(ring(4), Schedule([leave(9, 7)]), 5, seed=0), r"schedule\[0\] must"),
        (lambda: activations(4, Schedule([]), 5, seed=0), "graph must be a networkx graph"),
    ],
)
def test_bad_activations_are_refused(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
