"""Codes are right on average, within their bounds, and the same compiled and in Python."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtcool.field import Messages
from mtcool.field.codes import (
    LARGEST_SINGLE,
    content_bytes,
    kappa,
    power,
    round_to_bits,
    scale_of,
    step_of,
)
from mtcool.field.draws import ROUND_GRADIENT, draw, seed_number
from mtcool.kernels import kernel

SEED = seed_number(0)
TIMES = 4000


@kernel
def round_compiled(values, bits, seed, kind, i, j, n, out):
    round_to_bits(values, bits, seed, kind, i, j, n, out)


@kernel
def scale_compiled(values):
    return scale_of(values)


def rounded(values, bits, n=0, function=round_compiled):
    out = np.full(len(values), np.nan)
    function(values, bits, SEED, ROUND_GRADIENT, 3, 0, n, out)
    return out


def unit_vectors(dim):
    """Any direction, one coordinate, equal ones, and one large with many small."""
    rng = np.random.default_rng(dim)
    found = [rng.standard_normal(dim), np.eye(dim)[0], np.ones(dim)]
    found.append(np.r_[1.0, np.full(dim - 1, 0.01)])
    return [v / np.linalg.norm(v) for v in found]


MIXED = 0.7 * np.sin(1.0 + np.arange(6))


def mean_is_right(samples, bits):
    """Within four standard errors of `MIXED`, and the rounding of sums.

    The errors are those of the law: the largest coordinate is so close to a level that no sample
    may leave it.
    """
    step = step_of(scale_of(MIXED), bits)
    up = (MIXED + scale_of(MIXED)) / step % 1.0
    error = step * np.sqrt(up * (1.0 - up) / len(samples))
    return bool((abs(samples.mean(axis=0) - MIXED) <= 4 * error + 1e-12).all())


@pytest.mark.parametrize("bits", [1, 2, 3, 8])
def test_rounding_is_right_on_average(bits):
    samples = np.array([rounded(MIXED, bits, n) for n in range(TIMES)])
    assert mean_is_right(samples, bits)
    assert all(len(np.unique(column)) <= 2 for column in samples.T)


@pytest.mark.parametrize("bits", [1, 2, 3, 8])
def test_truncation_would_be_noticed(bits):
    """Always down, or always to the nearest level: the same values fail the test above."""
    m = scale_of(MIXED)
    for u in (0.0, 0.5):
        level = np.floor((MIXED + m) / step_of(m, bits) + u)
        samples = np.tile(-m + step_of(m, bits) * level, (TIMES, 1))
        assert not mean_is_right(samples, bits)


@pytest.mark.parametrize("dim", [1, 2, 7, 40])
@pytest.mark.parametrize("bits", [1, 2, 3, 8, 30])
def test_rounded_unit_vectors_are_within_kappa_and_power(bits, dim):
    messages = Messages(bits=bits)
    for values in unit_vectors(dim):
        values = np.clip(values, -1.0, 1.0)
        squares = [np.sum(rounded(values, bits, n) ** 2) for n in range(500)]
        assert math.sqrt(max(squares)) <= kappa(messages, dim) * (1 + 1e-12)
        error = np.std(squares) / math.sqrt(len(squares))
        assert np.mean(squares) <= power(messages, dim) * (1 + 1e-12) + 4 * error


def test_a_scale_is_rounded_up_but_never_above_one():
    for m in (np.nextafter(1.0, 0.0), 1.0 - 2.0**-30, 0.1, math.sqrt(0.5), 1.0):
        scale = scale_of(np.array([0.0, -m]))
        assert m <= scale <= 1.0
        assert scale == np.float32(scale)


def test_kappa_and_power_are_met_by_some_vector():
    """Else learning rates would be prepared for more than can come."""
    assert abs(np.linalg.norm(rounded(np.eye(9)[0], 1)) - kappa(Messages(bits=1), 9)) < 1e-12
    middle = np.r_[1.0, np.zeros(15)]  # 15 coordinates half-way between two levels
    squares = [np.sum(rounded(middle, 4, n) ** 2) for n in range(50)]
    np.testing.assert_allclose(np.mean(squares), 1 + 15 / 15**2, rtol=1e-9)
    assert abs(power(Messages(bits=4), 16) - (1 + 16 / 15**2)) < 1e-12


def test_bounds_and_bytes_are_those_of_the_definition():
    plain = Messages()
    assert (kappa(plain, 5), power(plain, 5), content_bytes(plain, 5)) == (1.0, 1.0, 40)
    assert kappa(Messages(bits=1), 1) == power(Messages(bits=1), 1) == 1.0
    assert kappa(Messages(bits=3), 4) == 1 + 4 / 7
    assert power(Messages(bits=3), 4) == 1 + 4 / 49
    assert content_bytes(Messages(bits=3), 3) == 4 + 2


finite = st.floats(-1e100, 1e100)
vectors = st.lists(finite | st.floats(-1, 1) | st.just(0.0), min_size=1, max_size=9).map(np.array)


@given(vectors, st.integers(1, 52), st.integers(0, 2**40))
def test_rounding_is_that_of_the_definition_in_python_and_compiled(values, bits, n):
    m = scale_of(values)
    expected = np.zeros(len(values))
    for c in range(len(values)):
        if m > 0:
            step = 2 * m / (2**bits - 1)
            u = draw(SEED, ROUND_GRADIENT, 3, 0, n, c)
            level = min(max(math.floor((float(values[c]) + m) / step + u), 0), 2**bits - 1)
            expected[c] = -m + step * level
    for function in (round_to_bits, round_compiled):
        np.testing.assert_array_equal(rounded(values, bits, n, function), expected)


@given(vectors)
def test_52_bits_keep_fifteen_digits_of_the_largest(values):
    largest = abs(values).max()
    if largest == 0 or largest >= 2.0**-126:  # below, 32-bit floats have fewer digits
        assert abs(rounded(values, 52) - values).max() <= 1e-15 * largest


@given(vectors)
def test_the_scale_is_the_least_single_that_is_large_enough(values):
    largest = float(abs(values).max())
    for scale in (scale_of(values), scale_compiled(values)):
        if largest > LARGEST_SINGLE:
            assert scale == largest
        else:
            assert scale >= largest
            assert float(np.float32(scale)) == scale
            below = np.nextafter(np.float32(scale), np.float32(-1))
            assert scale == 0 or float(below) < largest


@pytest.mark.parametrize("largest", [LARGEST_SINGLE, np.nextafter(LARGEST_SINGLE, 0), 5e-324])
def test_the_scale_of_the_largest_and_the_smallest_numbers_is_finite(largest):
    scale = scale_compiled(np.array([0.0, -largest]))
    assert largest <= scale <= LARGEST_SINGLE
    assert scale == scale_of(np.array([0.0, -largest]))
