"""Random numbers by name: what happened to a message depends on which message it is.

A draw is a hash of the seed, the kind of question, two agents, the number of the asker's round and
a coordinate (SplitMix64 after each word). No state moves, so an answer does not depend on who asks
first, and agents by themselves draw what their network draws.
"""

import numpy as np

from mtcool.kernels import inline, product_of_words, sum_of_words
from mtcool.seeds import Seed
from mtcool.types import Floats, Integers
from mtcool.validation import count

SPEAK, PICK, ROUND_ROW, ROUND_GRADIENT = 1, 2, 3, 4
LOST_ROW, LOST_GRADIENT = 5, 6
DELAY_ROW, DELAY_GRADIENT, DELAY_LABEL = 7, 8, 9

# numba makes floats of a sum of signed and unsigned numbers: all are words.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S11, S27, S30, S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


def seed_number(seed: Seed) -> np.uint64:
    """The word that all draws of a network start from.

    Parameters
    ----------
    seed
        A whole number, or a generator, from which one number is drawn.

    Examples
    --------
    >>> int(seed_number(0))
    15793235383387715774
    """
    if isinstance(seed, np.random.Generator):
        return np.uint64(seed.integers(2**64, dtype=np.uint64))
    sequence = np.random.SeedSequence(count("seed", seed, least=0))
    return np.uint64(sequence.generate_state(1, np.uint64)[0])


@inline
def draw(seed: np.uint64, kind: int, i: int, j: int, n: int, c: int) -> float:
    """A number in [0, 1) for this question about agents i and j in round n of i."""
    return draw_at(begin(seed, kind, i, j, n), c)


@inline
def draw_all(
    seed: np.uint64, kind: int, i: int, others: Integers, n: int, count: int, out: Floats
) -> None:
    """The draws for agent i and the first so many others, each in the same round of i."""
    for k in range(count):
        out[k] = draw(seed, kind, i, others[k], n, 0)


@inline
def begin(seed: np.uint64, kind: int, i: int, j: int, n: int) -> np.uint64:
    """What the draws of all coordinates have in common."""
    h = _mix(sum_of_words(seed, GOLDEN))
    h = _take(_take(h, kind), i)
    return _take(_take(h, j), n)


@inline
def draw_at(begun: np.uint64, c: int) -> float:
    """The draw of coordinate c."""
    return float(_take(begun, c) >> S11) * 2.0**-53


@inline
def _take(h: np.uint64, word: int) -> np.uint64:
    return _mix(sum_of_words(h ^ np.uint64(word), GOLDEN))


@inline
def _mix(z: np.uint64) -> np.uint64:
    z = product_of_words(z ^ (z >> S30), FIRST)
    z = product_of_words(z ^ (z >> S27), SECOND)
    return z ^ (z >> S31)
