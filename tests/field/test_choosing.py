"""Who speaks and to whom: the rule, as NumPy would sort it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtcool.field.choosing import choose, speaks
from mtcool.field.draws import PICK, SPEAK, draw, seed_number
from mtcool.kernels import kernel

SEED = seed_number(0)


@kernel
def choose_compiled(neighbours, scores, most, best, seed, i, n, keys, order, chosen):
    return choose(neighbours, scores, most, best, seed, i, n, keys, order, chosen)


@kernel
def speaks_compiled(every, probability, seed, i, n):
    return speaks(every, probability, seed, i, n)


def chosen_by(function, neighbours, scores, most, best, i=5, n=3):
    size = len(neighbours)
    keys, order, chosen = np.full(size, np.nan), np.full(size, -1), np.full(size, -1)
    given_scores = scores.copy()
    count = function(neighbours, scores, most, best, SEED, i, n, keys, order, chosen)
    np.testing.assert_array_equal(scores, given_scores)
    return list(chosen[:count])


def twin(neighbours, scores, most, best, i=5, n=3):
    keys = [draw(SEED, PICK, i, int(j), n, 0) for j in neighbours]
    first = -scores if best else np.zeros(len(neighbours))
    return sorted(np.lexsort((neighbours, keys, first))[:most])


neighbourhoods = st.sets(st.integers(0, 10**6), min_size=1, max_size=12).map(sorted)


@given(neighbourhoods, st.data(), st.integers(1, 14), st.booleans())
def test_the_chosen_are_those_of_a_sort_by_score_draw_and_index(neighbours, data, most, best):
    scores = st.sampled_from([-1.0, 0.0, 2.5, np.inf])  # few, so that there are ties
    size = len(neighbours)
    scores = np.array(data.draw(st.lists(scores, min_size=size, max_size=size)))
    neighbours = np.array(neighbours)
    expected = twin(neighbours, scores, most, best)
    assert chosen_by(choose_compiled, neighbours, scores, most, best) == expected
    assert chosen_by(choose, neighbours, scores, most, best) == expected


def test_an_agent_without_neighbours_chooses_none():
    nobody = np.zeros(0, np.int64)
    assert chosen_by(choose_compiled, nobody, np.zeros(0), 2, True) == []


def test_partners_at_random_change_and_are_chosen_equally_often():
    neighbours, scores, rounds = np.arange(10, 15), np.arange(5.0), 4000
    counts = np.zeros(5)
    for n in range(rounds):
        counts[chosen_by(choose_compiled, neighbours, scores, 2, False, n=n)] += 1
    error = np.sqrt(rounds * 0.4 * 0.6)
    assert abs(counts - 0.4 * rounds).max() < 4 * error


def test_a_neighbour_never_heard_comes_before_the_best():
    scores = np.array([9.0, np.inf, 1.0, np.inf])
    assert chosen_by(choose_compiled, np.arange(4), scores, 3, True) == [0, 1, 3]


@pytest.mark.parametrize("function", [speaks, speaks_compiled])
def test_an_agent_speaks_in_every_kth_of_its_rounds_and_then_with_the_probability(function):
    for n in range(200):
        assert function(1, 1.0, SEED, 4, n)
        assert function(3, 1.0, SEED, 4, n) == (n % 3 == 0)
        expected = n % 3 == 0 and draw(SEED, SPEAK, 4, 0, n, 0) < 0.3
        assert function(3, 0.3, SEED, 4, n) == expected


def test_the_probability_is_met_on_average():
    spoken = sum(speaks_compiled(1, 0.3, SEED, i, n) for i in range(50) for n in range(200))
    assert abs(spoken - 3000) < 4 * np.sqrt(10_000 * 0.3 * 0.7)
