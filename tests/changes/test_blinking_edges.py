"""Blinking edges: each is the Markov chain that was asked for, and no other."""

import numpy as np
import pytest
from scipy.stats import chisquare, geom

from mtcool.changes import CONNECT, blinking_edges
from mtcool.graphs import Graph, complete, edgeless, ring, star

EDGES, ROUNDS, VANISH, APPEAR = 300, 3000, 0.02, 0.05


@pytest.fixture(scope="module")
def there():
    """Whether each edge is there in each round: the edges of a star are its leaves."""
    network = star(EDGES + 1)
    events = blinking_edges(network, ROUNDS, VANISH, APPEAR, seed=1).compile(network)
    flips = np.zeros((EDGES, ROUNDS), np.int64)
    flips[events.second - 1, events.time] = np.where(events.kind == CONNECT, 1, -1)
    states = 1 + np.cumsum(flips, axis=1)
    assert set(np.unique(states)) == {0, 1}
    return states == 1


def deviation(flipped, p):
    """In standard errors: how far a number of flips is from the number of chances times p."""
    return (flipped.sum() - p * flipped.size) / np.sqrt(p * (1 - p) * flipped.size)


def test_all_edges_are_there_in_the_first_round(there):
    assert there[:, 0].all()


def test_an_edge_vanishes_and_appears_with_the_given_probabilities_and_no_others(there):
    before, after = there[:, :-1], there[:, 1:]
    vanished, appeared = ~after[before], after[~before]
    assert abs(deviation(vanished, VANISH)) < 4
    assert abs(deviation(appeared, APPEAR)) < 4
    for wrong in (0.9, 1.1):
        assert abs(deviation(vanished, wrong * VANISH)) > 6
        assert abs(deviation(appeared, wrong * APPEAR)) > 6


def test_in_the_long_run_an_edge_is_there_in_its_share_of_the_rounds(there):
    late = there[:, 500:]
    share = APPEAR / (VANISH + APPEAR)
    memory = 1 - VANISH - APPEAR
    # Rounds of an edge are correlated by powers of `memory`.
    variance = share * (1 - share) * (1 + memory) / (1 - memory) / late.size
    assert abs(late.mean() - share) < 4 * np.sqrt(variance)
    assert abs(late.mean() - VANISH / (VANISH + APPEAR)) > 50 * np.sqrt(variance)
    # A smaller error of the law than that, of a tenth of a probability, would be noticed too.
    wrong = APPEAR / (1.1 * VANISH + APPEAR)
    assert abs(late.mean() - wrong) > 4 * np.sqrt(variance)


@pytest.mark.parametrize("probability", [0.3, 0.9])
def test_the_time_until_an_edge_vanishes_is_geometric(probability):
    network = star(5001)
    events = blinking_edges(network, 60, probability, 0.0, seed=2).compile(network)
    last = 8
    counts = np.bincount(events.time.clip(0, last), minlength=last + 1)[1:]
    law = geom.pmf(np.arange(1, last), probability)
    expected = 5000 * np.append(law, 1 - law.sum())
    kept = expected > 5
    expected[kept.nonzero()[0][-1]] += expected[~kept].sum()
    counts[kept.nonzero()[0][-1]] += counts[~kept].sum()
    assert chisquare(counts[kept], expected[kept]).pvalue > 1e-3


def test_edges_blink_independently(there):
    """The number of edges that are there has the variance of a sum of independent ones."""
    numbers = there[:, 500::100].sum(axis=0)  # so far apart that rounds are independent too
    share = APPEAR / (VANISH + APPEAR)
    ratio = numbers.var(ddof=1) / (EDGES * share * (1 - share))
    assert abs(ratio - 1) < 4 * np.sqrt(2 / (len(numbers) - 1))


def test_certain_events_happen_in_every_round():
    network = ring(3)
    schedule = blinking_edges(network, 5, 1.0, 1.0, seed=0)
    assert [schedule.graph_at(network, time).edge_count for time in range(5)] == [3, 0, 3, 0, 3]
    assert len(blinking_edges(network, 5, 1.0, 0.0, seed=0)) == 3
    assert len(blinking_edges(network, 5, 0.0, 1.0, seed=0)) == 0
    assert len(blinking_edges(network, 1, 1.0, 1.0, seed=0)) == 0
    assert len(blinking_edges(edgeless(4), 100, 1.0, 1.0, seed=0)) == 0
    assert len(blinking_edges(network, 10**15, 1e-300, 1e-300, seed=0)) == 0


def test_names_are_those_of_the_graph_and_at_the_same_time_edges_appear_first():
    network = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    schedule = blinking_edges(network, 200, 0.3, 0.3, seed=1)
    schedule.check(network)
    keys = [(change.time, change.event == "disconnect") for change in schedule]
    assert keys == sorted(keys)


def test_a_seed_gives_the_same_schedule():
    network = complete(6)
    schedule = blinking_edges(network, 50, 0.1, 0.1, seed=8)
    assert schedule == blinking_edges(network, 50, 0.1, 0.1, seed=np.random.default_rng(8))
    assert schedule != blinking_edges(network, 50, 0.1, 0.1, seed=9)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((0, 0.1, 0.1, 0), "rounds must be .*got 0"),
        ((5, 1.5, 0.1, 0), r"vanish must be at most 1, got 1\.5"),
        ((5, 0.1, -0.1, 0), r"appear must not be negative, got -0\.1"),
        ((5, 0.1, float("nan"), 0), "appear must be finite, got nan"),
        ((5, 0.1, 0.1, None), "seed must be .*got None"),
    ],
)
def test_bad_arguments_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        blinking_edges(ring(4), *arguments)
