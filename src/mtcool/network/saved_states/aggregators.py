"""Checks of the saved states of aggregators."""

import numpy as np

from mtcool.network.saved_states.checks import (
    Longest,
    Saved,
    check_numbers,
    check_state,
    within,
)
from mtcool.privacy.aggregators.filters import FilterState
from mtcool.privacy.aggregators.trees import TreeState, activations_of
from mtcool.validation import LARGEST_SUM


@check_state.register
def _(state: TreeState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, saved, LARGEST_SUM)
    count, word = saved["activations"], saved["word"]
    within("number of a word", activations_of(state, word), count, count)
    # A leaf has numbers of at most one; more only by rounding.
    most = np.repeat(count, np.diff(state.slot)) * (1.0 + 1e-9)
    within("node", saved["node"], -most, most)


@check_state.register
def _(state: FilterState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, saved, LARGEST_SUM)
