"""Events across batches are those of the whole table, and rows are kept no longer than needed."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mtcool.learn import Batch, Progressive

STAMPS = st.lists(
    st.tuples(st.sampled_from([0, 0, 1, 2.5]), st.sampled_from([0, 0, 1, 3, 2.5, 20])), max_size=30
)
CUTS = st.lists(st.integers(0, 30), max_size=8)


def obvious_order(time, arrives):
    """Everything that happens, sorted by its time; predictions first, then by row."""
    asked = [(when, 0, row) for row, when in enumerate(time)]
    known = [(when, 1, row) for row, when in enumerate(arrives)]
    return [~row if learns else row for _, learns, row in sorted(asked + known)]


def batch_of(time, arrives, start=0, width=1):
    rows = np.arange(start, start + len(time))
    agents = np.array([f"agent {row % 3}" for row in rows], dtype=object)
    features = np.repeat(rows[:, None].astype(float), width, axis=1)
    times = np.array(time, dtype=float), np.array(arrives, dtype=float)
    return Batch(rows + 2, agents, features, rows * 10.0, *times)


def played(chunk):
    """Events of a chunk by the row's place in the file."""
    return [~int(chunk.line[~e] - 2) if e < 0 else int(chunk.line[e] - 2) for e in chunk.events]


@given(STAMPS, CUTS)
def test_the_events_of_all_chunks_are_those_of_the_whole_table(stamps, cuts):
    time = np.cumsum([step for step, _ in stamps])
    arrives = time + [delay for _, delay in stamps]
    edges = [0, *sorted(min(cut, len(time)) for cut in cuts), len(time)]
    progressive, events = Progressive(), []
    for a, b in itertools.pairwise(edges):
        chunk = progressive.push(batch_of(time[a:b], arrives[a:b], start=a))
        assert_array_equal(chunk.line[chunk.new], np.arange(a, b) + 2)
        assert_array_equal(chunk.target, (chunk.line - 2) * 10.0)
        assert_array_equal(chunk.time, time[chunk.line - 2])
        assert_array_equal(chunk.agents, [f"agent {row % 3}" for row in chunk.line - 2])
        events += played(chunk)
        # Constant memory: only rows whose target may still meet a row of its time are kept.
        assert progressive.waiting == (arrives[:b] >= time[max(b, 1) - 1]).sum() if b else True
    assert events + played(progressive.close()) == obvious_order(time, arrives)
    assert progressive.waiting == 0


def test_rows_of_one_time_in_two_batches_are_predicted_before_any_is_learned_from():
    progressive = Progressive()
    first = progressive.push(batch_of([1, 1], [1, 1]))
    second = progressive.push(batch_of([1, 2], [1, 2], start=2))
    assert played(first) == [0, 1]
    assert played(second) == [2, ~0, ~1, ~2, 3]


def test_columns_that_came_later_are_unknown_in_rows_that_waited():
    progressive = Progressive()
    progressive.push(batch_of([1], [5]))
    chunk = progressive.push(batch_of([2], [2], start=1, width=2))
    assert_array_equal(chunk.features, [[0, np.nan], [1, 1]])


def test_a_batch_without_rows_changes_nothing():
    progressive = Progressive()
    progressive.push(batch_of([1], [1]))
    chunk = progressive.push(batch_of([], []))
    assert (len(chunk.events), chunk.new, progressive.waiting) == (0, slice(1, 1), 1)


REFUSED = {
    "back in time": (batch_of([3, 2], [3, 2]), "must not go back in time, got 2.0 after 3.0"),
    "before the last": (batch_of([0], [0]), "must not go back in time, got 0.0 after 1.0"),
    "early targets": (batch_of([4], [3]), "arrive before their time, got 3.0 before 4.0"),
    "fewer features": (batch_of([4], [4], width=0), "at least 1 features as before, got 0"),
    "no batch": (None, "batch must be a Batch, got None"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_batch_leaves_everything_as_it_was(case):
    batch, words = REFUSED[case]
    progressive = Progressive()
    progressive.push(batch_of([1], [1]))
    with pytest.raises(ValueError, match=words):
        progressive.push(batch)
    assert played(progressive.push(batch_of([1, 2], [1, 2], start=1))) == [1, ~0, ~1, 2]
