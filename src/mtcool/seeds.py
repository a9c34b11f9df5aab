"""Randomness enters as an integer seed or as a generator that the caller shares."""

from typing import TypeAlias

import numpy as np

from mtcool.validation import count

Seed: TypeAlias = int | np.random.Generator
"""A whole number, or a generator of NumPy that is drawn from."""


def generator(seed: Seed) -> np.random.Generator:
    """The generator itself, or a new one from a whole number: the same seed, the same numbers.

    Examples
    --------
    >>> float(generator(7).random()) == float(generator(7).random())
    True
    """
    if isinstance(seed, np.random.Generator):
        return seed
    # None would draw from the operating system: numbers that nobody could get again.
    return np.random.default_rng(count("seed", seed, least=0))
