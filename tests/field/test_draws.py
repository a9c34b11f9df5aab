"""Draws are those of the definition, uniform, and independent from word to word."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtcool.field import draws
from mtcool.field.draws import draw, seed_number
from mtcool.kernels import kernel

MASK = 2**64 - 1
G = 0x9E3779B97F4A7C15
CHI_SQUARE = 350.0  # with 255 degrees of freedom, exceeded by chance once in 10^4


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def drawn(seed, *words):
    """The definition, with whole numbers of any size."""
    h = mix(seed + G & MASK)
    for word in words:
        h = mix((h ^ word) + G & MASK)
    return (h >> 11) * 2.0**-53


@kernel
def compiled(seed, kind, i, j, n, c):
    return draw(seed, kind, i, j, n, c)


@kernel
def fill(seed, kind, which, out):
    """Draws in which one word counts and the others are 1."""
    for k in range(out.shape[0]):
        i, j, n, c = 1, 1, 1, 1
        if which == 0:
            i = k
        elif which == 1:
            j = k
        elif which == 2:
            n = k
        else:
            c = k
        out[k] = draw(seed, kind, i, j, n, c)


words = st.integers(0, 2**63 - 1)


@given(st.integers(0, MASK), st.integers(1, 9), words, words, words, words)
def test_a_draw_is_that_of_the_definition_in_python_and_compiled(seed, kind, i, j, n, c):
    expected = drawn(seed, kind, i, j, n, c)
    assert draw(np.uint64(seed), kind, i, j, n, c) == expected
    assert compiled(np.uint64(seed), kind, i, j, n, c) == expected
    assert 0.0 <= expected < 1.0


def test_without_a_compiler_the_draws_are_the_same_and_nobody_warns():
    program = (
        "import numpy as np; from mtcool.field.draws import draw;"
        "print(*(draw(np.uint64(s), 9, 8, 7, 6, 5).hex() for s in (0, 2**64 - 1)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [drawn(s, 9, 8, 7, 6, 5).hex() for s in (0, MASK)]


def test_kinds_have_the_numbers_of_the_definition():
    names = ["SPEAK", "PICK", "ROUND_ROW", "ROUND_GRADIENT", "LOST_ROW", "LOST_GRADIENT"]
    names += ["DELAY_ROW", "DELAY_GRADIENT", "DELAY_LABEL"]
    assert [getattr(draws, name) for name in names] == list(range(1, 10))


def chi_square(counts):
    expected = counts.sum() / counts.size
    return ((counts - expected) ** 2 / expected).sum()


@pytest.mark.parametrize("which", range(4))
def test_draws_along_a_word_are_uniform_and_independent_of_the_next(which):
    out = np.empty(50_000)
    fill(seed_number(1), draws.PICK, which, out)
    assert chi_square(np.histogram(out, 256, (0, 1))[0]) < CHI_SQUARE
    for lag in (1, 2, 256):
        pairs = np.histogram2d(out[:-lag], out[lag:], 16, [(0, 1), (0, 1)])[0]
        assert chi_square(pairs) < CHI_SQUARE


def test_draws_of_different_words_kinds_and_seeds_are_independent():
    columns = []
    for seed, kind, which in itertools.product((1, 2), (1, 2), range(4)):
        out = np.empty(20_000)
        fill(seed_number(seed), kind, which, out)
        columns.append(np.delete(out, 1))  # where all words are 1 they are the same
    for a, b in itertools.combinations(columns, 2):
        assert chi_square(np.histogram2d(a, b, 16, [(0, 1), (0, 1)])[0]) < CHI_SQUARE


def test_a_seed_gives_the_word_of_its_sequence_and_a_generator_moves_on():
    word = seed_number(7)
    assert isinstance(word, np.uint64)
    assert word == np.random.SeedSequence(7).generate_state(1, np.uint64)[0]
    rng = np.random.default_rng(0)
    assert isinstance(seed_number(rng), np.uint64)
    assert seed_number(rng) != seed_number(rng)
    assert seed_number(np.random.default_rng(3)) == seed_number(np.random.default_rng(3))


@pytest.mark.parametrize("seed", [None, -1, 1.5, "1", True])
def test_other_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="seed must be a whole number of at least 0, got"):
        seed_number(seed)
