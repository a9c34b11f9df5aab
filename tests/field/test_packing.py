"""Bytes are as many as promised, and give back what was coded, to the bit."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mtcool.field import Messages
from mtcool.field.codes import content_bytes, round_to_bits, scale_of
from mtcool.field.draws import ROUND_ROW, seed_number
from mtcool.field.packing import pack, unpack

numbers = st.floats(-3e38, 3e38) | st.floats(-1, 1) | st.floats(-1e-300, 1e-300) | st.just(-0.0)
vectors = st.lists(numbers, min_size=1, max_size=20).map(np.array)


def there_and_back(values, messages, scale=None):
    content = pack(values, messages, scale)
    assert isinstance(content, bytes)
    assert len(content) == content_bytes(messages, len(values))
    back = unpack(content, len(values), messages)
    assert back.dtype == np.float64
    assert back.tobytes() == values.tobytes()


@given(vectors, st.integers(1, 52) | st.sampled_from([1, 24, 50, 51, 52]), st.integers(0, 2**40))
@example(np.array([0.1]), 52, 0)
@example(np.array([5e-324]), 52, 0)
@example(np.array([5e-324, 0.0]), 2, 0)
@example(np.zeros(1), 7, 0)
@example(np.array([-0.0, 0.0]), 1, 0)
def test_rounded_vectors_come_back_to_the_bit(values, bits, n):
    coded = np.empty(len(values))
    round_to_bits(values, bits, seed_number(0), ROUND_ROW, 1, 2, n, coded)
    there_and_back(coded, Messages(bits=bits), scale_of(values))


@pytest.mark.parametrize("bits", [1, 8, 23, 24, 25, 49, 50, 51, 52])
def test_all_kinds_of_levels_come_back_to_the_bit(bits):
    """Thousands of numbers, uniform and logarithmic: levels near both ends and the middle."""
    rng = np.random.default_rng(bits)
    signs = rng.choice([-1.0, 1.0], 3000)
    for values in (rng.uniform(-1, 1, 3000), signs * 10 ** rng.uniform(-20, 0, 3000)):
        coded = np.empty(3000)
        round_to_bits(values, bits, seed_number(bits), ROUND_ROW, 1, 2, 3, coded)
        there_and_back(coded, Messages(bits=bits), scale_of(values))


@given(vectors)
def test_exact_vectors_come_back_to_the_bit(values):
    there_and_back(values, Messages())
    assert pack(values, Messages(every=3)) == values.astype("<f8").tobytes()


BITS = Messages(bits=3)
GOOD = pack(np.array([1.0, -1.0]), BITS, 1.0)
REFUSED = {
    "no scale": (lambda: pack(np.ones(2), BITS), "scale must be given with bits=3, got None"),
    "a double": (lambda: pack(np.ones(2), BITS, 0.1), "scale must be a 32-bit float, got 0.1"),
    "too large": (lambda: pack(np.ones(2), BITS, 1e39), "scale must be a 32-bit float, got 1e"),
    "negative": (lambda: pack(np.ones(2), BITS, -1.0), "scale must not be negative, got -1.0"),
    "no level": (lambda: pack(np.array([0.5]), BITS, 1.0), "values must be levels .*, got 0.5"),
    "not zero": (lambda: pack(np.ones(2), BITS, 0.0), "values must be levels .*, got 1.0"),
    "beyond": (lambda: pack(np.array([3.0]), BITS, 1.0), "values must be levels .*, got 3.0"),
    "a matrix": (lambda: pack(np.ones((2, 2)), BITS), r"must be a vector, got shape \(2, 2\)"),
    "nothing": (lambda: pack(np.ones(0), BITS), r"must be a vector, got shape \(0,\)"),
    "unknown": (lambda: pack(np.array([np.nan]), BITS, 1.0), "values must be finite, got"),
    "short": (lambda: unpack(GOOD[:-1], 2, BITS), "content must have 5 bytes, got 4"),
    "long": (lambda: unpack(GOOD, 3, BITS), "content must have 6 bytes, got 5"),
    "no scale in it": (
        lambda: unpack(np.array([np.nan], "<f4").tobytes() + b"\0", 2, BITS),
        "content must have a scale that is finite and not negative, got nan",
    ),
    "a negative scale": (
        lambda: unpack(np.array([-1.0], "<f4").tobytes() + b"\0", 2, BITS),
        "content must have a scale that is finite and not negative, got -1.0",
    ),
    "more bits": (lambda: unpack(GOOD[:4] + b"\xff", 2, BITS), "zeros after 6 bits"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_have_been_coded_is_refused(case):
    call, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        call()
