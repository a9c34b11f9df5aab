"""Churn: arrivals are a Poisson process, lifetimes exponential, neighbours random."""

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare, poisson

from mtcool.changes import JOIN, churn
from mtcool.graphs import Graph, ring


def kinds(schedule, event):
    return [change for change in schedule if change.event == event]


def test_numbers_of_arrivals_have_the_poisson_law_and_no_other():
    numbers = np.array([len(churn(ring(3), 41, 0.1, 0.0, 1, seed)) for seed in range(3000)])
    largest = 9
    counts = np.bincount(numbers.clip(0, largest), minlength=largest + 1)

    def fit(mean):
        law = poisson.pmf(np.arange(largest), mean)
        return chisquare(counts, 3000 * np.append(law, 1 - law.sum())).pvalue

    assert fit(4.0) > 1e-3  # 0.1 in each of the 40 rounds after the first
    assert fit(4.4) < 1e-6


def test_arrivals_are_spread_evenly_over_the_rounds_after_the_first():
    schedule = churn(ring(3), 21, 500.0, 0.0, 0, seed=1)
    times = np.array([change.time for change in schedule])
    assert times.min() == 1
    assert times.max() == 20
    assert chisquare(np.bincount(times)[1:]).pvalue > 1e-3


def test_each_agent_leaves_at_the_given_rate_and_no_other():
    rounds, rate = 20_000, 0.002
    schedule = churn(ring(50), rounds, 0.1, rate, 2, seed=1)
    events = schedule.compile(ring(50))
    number, steps = 50, np.zeros(rounds)
    np.add.at(steps, events.time, np.where(events.kind == JOIN, 1, -1))
    exposed = (number + np.cumsum(steps)).sum()  # agents times rounds
    left = len(kinds(schedule, "leave"))
    assert abs(left - rate * exposed) < 4 * np.sqrt(rate * exposed)
    assert abs(left - 1.15 * rate * exposed) > 5 * np.sqrt(rate * exposed)


def test_lifetimes_have_no_memory():
    """Those of an exponential law fill the bins of its quantiles alike."""
    network = ring(4000)
    schedule = churn(network, 2001, 0.0, 0.001, 0, seed=2)
    times = np.array([change.time for change in schedule])
    edges = -1000 * np.log1p(-np.arange(1, 8) * 0.1)  # 0.1, ..., 0.7 have left by then
    counts = np.diff([0, *np.searchsorted(times, edges)])
    assert chisquare([*counts, 4000 - counts.sum()], [400] * 7 + [1200]).pvalue > 1e-3


def test_whoever_leaves_is_any_agent_alike():
    first = [churn(ring(5), 100, 0.0, 1.0, 0, seed)[0].agents[0] for seed in range(2000)]
    assert chisquare(np.bincount(first, minlength=5)).pvalue > 1e-3


def test_neighbours_of_a_new_agent_are_any_agents_alike():
    schedule = churn(ring(5), 2, 4000.0, 0.0, 2, seed=3)
    ranks = []
    for number, change in enumerate(schedule, start=5):
        assert change.agents[0] == number
        assert len(set(change.agents[1:])) == 2
        ranks += [(int(other) + 0.5) / number for other in change.agents[1:]]
    assert chisquare(np.histogram(ranks, bins=10, range=(0, 1))[0]).pvalue > 1e-3


def test_a_new_agent_has_the_number_of_neighbours_asked_for_or_all():
    schedule = churn(ring(3), 50, 1.0, 0.0, 5, seed=1)
    assert [len(change.agents) - 1 for change in schedule][:4] == [3, 4, 5, 5]
    schedule.check(ring(3))
    assert churn(ring(3), 50, 1.0, 0.0, 0, seed=1)[0].agents == (3,)


def test_the_last_agent_stays():
    schedule = churn(ring(5), 1000, 0.02, 5.0, 2, seed=1)
    schedule.check(ring(5))
    assert schedule.graph_at(ring(5), 20).size < 5
    assert len(kinds(schedule, "leave")) > 10
    assert len(churn(ring(5), 1000, 0.0, 5.0, 2, seed=1)) == 4


@pytest.mark.parametrize(
    ("network", "names"),
    [
        (ring(4), [4, 5, 6]),
        (nx.path_graph([7, np.int64(-2), 3]), [8, 9, 10]),
        (Graph.from_edges([("a", "b")]), ["new-1", "new-2", "new-3"]),
        (Graph.from_edges([("new-2", "new-1"), ("a", "new-4")]), ["new-3", "new-5", "new-6"]),
        (nx.path_graph(["a", 1]), ["new-1", "new-2", "new-3"]),
    ],
)
def test_new_names_go_on_from_those_of_the_graph_and_are_never_taken(network, names):
    schedule = churn(network, 100, 1.0, 0.5, 1, seed=1)
    schedule.check(network)
    assert [change.agents[0] for change in kinds(schedule, "join")][:3] == names


def test_without_rates_nothing_happens():
    assert len(churn(ring(4), 1000, 0.0, 0.0, 2, seed=1)) == 0
    assert len(churn(ring(4), 1, 10.0, 1.0, 2, seed=1)) == 0


def test_a_seed_gives_the_same_schedule():
    schedule = churn(ring(5), 100, 0.5, 0.1, 2, seed=8)
    assert schedule == churn(ring(5), 100, 0.5, 0.1, 2, seed=np.random.default_rng(8))
    assert schedule != churn(ring(5), 100, 0.5, 0.1, 2, seed=9)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((0, 0.1, 0.1, 1, 0), "rounds must be .*got 0"),
        ((5, -0.1, 0.1, 1, 0), r"arrivals must not be negative, got -0\.1"),
        ((5, 0.1, float("inf"), 1, 0), "departures must be finite, got inf"),
        ((5, 0.1, 0.1, -1, 0), "neighbours must be .*got -1"),
        ((5, 0.1, 0.1, 1, None), "seed must be .*got None"),
    ],
)
def test_bad_arguments_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        churn(ring(4), *arguments)
