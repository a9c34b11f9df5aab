"""What aggregators can have come to."""

import math

import numpy as np

from mtcool.network.saved_states.checks import (
    LARGEST_SUM,
    Saved,
    check_numbers,
    check_state,
    within,
)
from mtcool.privacy.aggregators.filters import FilterState
from mtcool.privacy.aggregators.trees import DOUBLING, SMOOTH, TreeState
from mtcool.types import Integers


@check_state.register
def _(state: TreeState, saved: Saved) -> None:
    check_numbers(state, saved, LARGEST_SUM)
    count, word = saved["activations"], saved["word"]
    if state.kind == SMOOTH:
        within("ones of a word", np.bitwise_count(word), state.terms, state.terms)
        within("number of a word", _rank(word), count, count)
    else:
        first = 1 if state.kind == DOUBLING else 0
        within("word", word, count + first, count + first)
    # A leaf has numbers of at most one; more only by rounding.
    most = np.repeat(count, np.diff(state.slot)) * (1.0 + 1e-9)
    within("node", saved["node"], -most, most)


@check_state.register
def _(state: FilterState, saved: Saved) -> None:
    check_numbers(state, saved, LARGEST_SUM)


def _rank(word: Integers) -> Integers:
    """How many words with as many ones are smaller, for words below 2^62."""
    rank, ones = np.zeros_like(word), np.zeros_like(word)
    for b in range(62):
        bit = (word >> b) & 1
        ones += bit
        rank += bit * _BINOMIALS[b, ones]
    return rank


_BINOMIALS = np.array([[math.comb(b, k) for k in range(64)] for b in range(62)])
