"""Standard errors by batch means are right for series whose errors are alike in time."""

import numpy as np
import pytest
from scipy.special import stdtrit

from mtcool.learn.metrics.batch_means import (
    BATCHES,
    CONFIDENCE,
    FEWEST,
    STUDENT,
    BatchMeans,
)


def estimates(series, values):
    means = BatchMeans(1)
    means.add(series, values[:, np.newaxis])
    return means.estimates()


def autocorrelated(rng, count, length, memory):
    """Series with mean zero and variance one, one in each row."""
    noise = rng.normal(size=(count, length)) * np.sqrt(1 - memory**2)
    found = np.empty_like(noise)
    last = rng.normal(size=count)
    for step in range(length):
        last = memory * last + noise[:, step]
        found[:, step] = last
    return found


def test_intervals_cover_the_mean_of_autocorrelated_series_and_naive_ones_do_not():
    series = autocorrelated(np.random.default_rng(0), 300, 4000, 0.9)
    found = estimates(np.repeat(np.arange(300), 4000), series.ravel())
    covered = (~found.clear).mean()
    naive = (np.abs(series.mean(axis=1)) < 1.96 * series.std(axis=1) / np.sqrt(4000)).mean()
    assert 0.89 < covered <= 0.99
    assert naive < 0.5


def test_short_series_have_the_usual_standard_error():
    values = np.random.default_rng(1).normal(size=20)
    found = estimates(np.zeros(20, int), values)
    np.testing.assert_allclose(found.error[0, 0], values.std(ddof=1) / np.sqrt(20))
    np.testing.assert_allclose(found.mean[0, 0], values.mean())


def test_too_few_rows_are_never_clear():
    values = np.full(FEWEST - 1, 1e9)
    assert not estimates(np.zeros(FEWEST - 1, int), values).clear.any()
    assert estimates(np.zeros(FEWEST, int), np.full(FEWEST, 1e9)).clear.all()


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_the_size_of_the_batches_that_come_does_not_matter(step):
    rng = np.random.default_rng(2)
    series, values = rng.integers(3, size=1500), rng.normal(size=1500)
    whole, parts = estimates(series, values), BatchMeans(1)
    for start in range(0, 1500, step):
        parts.add(series[start : start + step], values[start : start + step, np.newaxis])
    for one, other in zip(whole, parts.estimates(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_memory_does_not_grow_with_the_series():
    means = BatchMeans(2)
    for _ in range(20):
        means.add(np.zeros(1000, int), np.ones((1000, 2)))
    assert means.arrays()["sums"].shape == (1, BATCHES, 2)
    np.testing.assert_allclose(means.estimates().mean, 1.0)


def test_a_saved_state_goes_on_and_a_wrong_one_is_refused():
    means = BatchMeans(1)
    means.add(np.array([0, 2]), np.array([[1.0], [2.0]]))
    arrays, rows = means.arrays(), np.array([1, 0, 1])
    other = BatchMeans.from_arrays(arrays, 1, rows)
    with pytest.raises(ValueError, match="sums of batches must be float64"):
        BatchMeans.from_arrays(arrays | {"counts": np.zeros(7, np.int64)}, 1, rows)
    with pytest.raises(ValueError, match="must be those of the rows that are compared"):
        BatchMeans.from_arrays(arrays, 1, np.array([1, 1, 1]))
    with pytest.raises(ValueError, match=r"widths of batches must fit the rows, got \[1, 4, 1\]"):
        BatchMeans.from_arrays(arrays | {"widths": np.array([1, 4, 1])}, 1, rows)
    for one in (means, other):
        one.add(np.array([2]), np.array([[5.0]]))
    np.testing.assert_array_equal(means.estimates().mean, other.estimates().mean)


def test_quantiles_are_those_of_student():
    freedom = np.arange(FEWEST - 1, BATCHES)
    np.testing.assert_allclose(STUDENT, stdtrit(freedom, (1 + CONFIDENCE) / 2), rtol=1e-12)
