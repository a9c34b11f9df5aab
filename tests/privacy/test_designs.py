"""BLT's coefficients are those that the search in `designs` finds."""

import numpy as np
import pytest
from designs.blt import find_design, largest_error

from mtcool.privacy.aggregators.blt import DESIGNS, filter_columns
from mtcool.privacy.aggregators.filters import Recurrence

SMALLEST = min(DESIGNS)


@pytest.mark.parametrize("n", [SMALLEST, 100_000])
def test_the_closed_form_of_the_error_is_that_of_the_sequences(n):
    column, rows = filter_columns(DESIGNS[n], n)
    assert largest_error(DESIGNS[n], n) == pytest.approx(
        (column**2).sum() * (rows**2).sum(), rel=1e-10
    )


def test_the_search_finds_the_smallest_design():
    """`make blt` does so for all of them, from several starts."""
    committed = DESIGNS[SMALLEST]
    found = find_design(SMALLEST, len(committed.theta), starts=1)
    assert largest_error(committed, SMALLEST) == pytest.approx(found.error, rel=1e-9)
    assert found.recurrence.theta == pytest.approx(committed.theta, rel=1e-4)
    assert found.recurrence.coupling == pytest.approx(committed.coupling, rel=1e-4)


@pytest.mark.parametrize("n", DESIGNS)
def test_every_change_of_a_coefficient_makes_the_error_larger(n):
    best = largest_error(DESIGNS[n], n)
    theta, coupling = map(np.array, DESIGNS[n])
    for b in range(len(theta)):
        for factor in (0.99, 1.01):
            longer = np.ones(len(theta))
            longer[b] = factor
            # A buffer's memory is 1 / (1 - theta).
            moved = Recurrence(tuple(1 - (1 - theta) * longer), tuple(coupling))
            assert largest_error(moved, n) > best * (1 + 1e-9)
            moved = Recurrence(tuple(theta), tuple(coupling * longer))
            assert largest_error(moved, n) > best * (1 + 1e-9)
