"""The check of a panel's numbers that come from a file: what no rows lead to is refused.

Compiled code does not ask whether what it computes is a number. From a state within these bounds
it comes to finite predictions, whatever rows follow; the bounds are wide, so that every state of
an honest run is within them (`tests/learn/test_checked_states.py`). Numbers that neighbours have
told may be any: they are cut off where they are used (`clamp.py`).
"""

from __future__ import annotations

import numpy as np

from mtcool.learners.panel.constants import OVERFLOW
from mtcool.learners.panel.fields import (
    ALONE,
    ALONE_EXPERTS,
    APART,
    AROUND,
    BALANCE,
    BETWEEN,
    BY_ITSELF,
    CENTRE,
    CLIQUE,
    CLIQUE_VARIANCE,
    DEVIATION,
    EVIDENCE,
    EXPERTS,
    FILTER_SIZE,
    FILTERS,
    FIRST_FILTER,
    FIRST_RIDGE,
    GRAPH,
    HIGHEST,
    ITS_PRECISION,
    LARGEST,
    LEVEL_AND_SLOPES,
    LISTENS,
    LOWEST,
    MEAN,
    MISSED,
    MISSES,
    NOISE,
    NUMBERS,
    OWN,
    OWN_SCALE,
    OWN_VARIANCE,
    PRECISION,
    REGRET,
    RIDGE_SIZE,
    ROWS,
    SEEN,
    SHARED,
    SHARED_SCALE,
    SOLVED,
    SPREAD,
    SQUARES,
    STRAYS,
    TO_ITSELF,
    VECTORS,
    WORST,
)
from mtcool.learners.panel.limits import (
    HUGE,
    LARGEST_PRODUCT,
    LARGEST_TOLD,
    MOST_EVIDENCE,
    ROUNDED,
)
from mtcool.learners.panel.mixing import SMALLEST
from mtcool.learners.panel.regression import LARGEST_RATIO
from mtcool.learners.panel.scaling import LEAST_NOISE
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

MOST = 2.0**53
"""Rows that can be counted: beyond it numbers with a point skip some."""
LARGEST_SCALE = 10.0 * HUGE
"""What neighbours say of means and squares counts as at most `HUGE` and its square."""
LARGEST_SLOPE = 1e30
"""Of a filter, in units of the target's deviation: steps are limited."""
LARGEST_RIDGE = 1e200
"""Of a ridge, in units of the target over those of a feature, which may be tiny."""
LARGEST_VARIANCE = 1e13
"""They grow by the drift with every row."""
LEAST_PRECISION, LARGEST_PRECISION = 1e-30, 1e7
"""The drift bounds it above; it may also be zero."""
AT_ONCE = 1 << 20
"""Sums of products that are checked at once: as many as need little memory."""
SLACK = 1e-6
"""Of the correlations of features, for the rounding of many rows."""


def panel_shapes(agents: int, entries: int, width: int) -> dict[str, tuple[int, ...]]:
    """The arrays that a panel keeps, for features and target together `width`."""
    return {
        "link": (entries, 2),
        "number": (agents, NUMBERS),
        "vector": (agents, VECTORS, width),
        "scatter": (agents, width, width),
        "mixer": (agents, 3, EXPERTS),
        "alone": (agents, 3, ALONE_EXPERTS),
    }


def check_panel(panel: Panel, own: int | None = None) -> None:
    """Refuse a panel with numbers that no rows lead to.

    `own` says how many of the first agents are no copies of what neighbours have told; all if it is
    not given.
    """
    whole = slice(own)
    _check_links(panel, len(panel.number[whole]))
    _check_numbers(panel.number[whole])
    _check_vectors(panel, whole)
    for name, state in (("mixer", panel.mixer[whole]), ("alone", panel.alone[whole])):
        _check_mixture(name, state, panel.number[whole, ROWS])
    scatter, width = panel.scatter[whole], panel.scatter.shape[1]
    some = max(1, AT_ONCE // width**2)
    for start in range(0, len(scatter), some):
        with np.errstate(all="ignore"):  # what is too large for a number is refused
            _check_products(scatter[start : start + some])
    for name in panel_shapes(0, 0, 0):
        if np.isnan(getattr(panel, name)).any():
            raise ValueError(f"{name} must hold numbers, got nan")


def _check_links(panel: Panel, own: int) -> None:
    _within("account", panel.link[:, 1], -OVERFLOW, OVERFLOW)
    if not np.isin(panel.link[:, LISTENS], (0.0, 1.0)).all():
        raise ValueError("link must say 0 or 1")
    if (panel.link[panel.ptr[:own], LISTENS] != 1.0).any():
        raise ValueError("link must say that agents listen to themselves")


def _check_numbers(number: Floats) -> None:
    rows, begun = number[:, ROWS], number[:, ROWS] > 0.0
    _within("rows", rows, 0.0, MOST)
    if (rows != np.floor(rows)).any():
        raise ValueError(f"rows must be whole numbers, got {rows[rows != np.floor(rows)][0]}")
    low, high = number[:, LOWEST], number[:, HIGHEST]
    _within("smallest target", low[begun], -OVERFLOW, high[begun])
    _within("largest target", high[begun], low[begun], OVERFLOW)
    _within("smallest target of nobody", low[~begun], np.inf, np.inf)
    _within("largest target of nobody", high[~begun], -np.inf, -np.inf)
    most = np.where(begun, LARGEST_SCALE, 0.0)  # a scale is kept with the first row
    for side in (GRAPH, ALONE):
        _within("rows behind a scale", number[:, side + SEEN], 0.0, most)
        _within("spread", number[:, side + SPREAD], 0.0, LARGEST_SCALE)
        _within("noise", number[:, side + NOISE], LEAST_NOISE, 1.0)
        _within("share of levels", number[:, side + APART], 0.0, 1.0 + SLACK)
        _within("squared errors", number[:, side + MISSED], 0.0, LARGEST_PRODUCT)
        _within("number of errors", number[:, side + MISSES], 0.0, MOST)
    _within("worst error", number[:, WORST], 0.0, LARGEST_TOLD)
    _within("balance", number[:, BALANCE], -LARGEST_PRODUCT, LARGEST_PRODUCT)
    _within("rows when ridges were solved", number[:, SOLVED], 0.0, rows)
    _within("variance between levels", number[:, BETWEEN], 1.0 / MOST**2, 10.0 * LARGEST_RATIO)
    _within("strays", number[:, STRAYS], -MOST, MOST)
    _within("evidence", number[:, EVIDENCE:], -MOST_EVIDENCE, 0.0)


def _check_vectors(panel: Panel, whole: slice) -> None:
    vector, first = panel.vector[whole], panel.number[whole, ROWS] < 2.0
    _within("mean", vector[:, MEAN], -ROUNDED * OVERFLOW, ROUNDED * OVERFLOW)
    for scale in (SHARED_SCALE, OWN_SCALE):
        _within("centre", vector[:, scale + CENTRE], -LARGEST_SCALE, LARGEST_SCALE)
        _within("deviation", vector[:, scale + DEVIATION], 0.0, LARGEST_SCALE)
    for f in range(FILTERS):
        part = vector[:, FIRST_FILTER + f * FILTER_SIZE : FIRST_FILTER + (f + 1) * FILTER_SIZE]
        for field in (OWN, CLIQUE, SHARED, BY_ITSELF):
            _within("level", part[:, field, 0], -LARGEST_TOLD, LARGEST_TOLD)
            _within("slope", part[:, field, 1:], -LARGEST_SLOPE, LARGEST_SLOPE)
        for field in (OWN_VARIANCE, CLIQUE_VARIANCE):
            _within("variance", part[:, field], 0.0, LARGEST_VARIANCE)
        for field in (PRECISION, ITS_PRECISION):
            known = part[:, field][part[:, field] != 0.0]
            _within("precision", known, LEAST_PRECISION, LARGEST_PRECISION)
        if panel.logistic == 0:  # its first target is the level
            _within("slope after a row", part[first, BY_ITSELF, 1:], 0.0, 0.0)
    ridges = vector[:, FIRST_RIDGE:]
    for which in range(0, ridges.shape[1], RIDGE_SIZE):
        lines, around = ridges[:, which + LEVEL_AND_SLOPES], ridges[:, which + AROUND]
        _within("ridge", lines, -LARGEST_RIDGE, LARGEST_RIDGE)
        _within("centre of a ridge", around, -ROUNDED * OVERFLOW, ROUNDED * OVERFLOW)
    if panel.logistic == 0:
        _within("ridge after a row", ridges[first, RIDGE_SIZE * TO_ITSELF, 1:], 0.0, 0.0)


def _check_mixture(name: str, state: Floats, rows: Floats) -> None:
    """Sums over the losses of experts, of which there are at most as many as rows."""
    regret, squares, largest = state[:, REGRET], state[:, SQUARES], state[:, LARGEST]
    count = rows[:, None]
    known = largest != 0.0
    _within(f"largest loss of {name}", largest[known], SMALLEST, OVERFLOW)
    most = count * largest**2 / (1.0 - SLACK)
    _within(f"squared losses of {name}", squares, (1.0 - SLACK) * largest**2, most)
    most = 2.0 * count * largest  # a loss and half of it at most
    _within(f"regret of {name}", regret, -most, most)


def _check_products(scatter: Floats) -> None:
    """Sums of products of deviations: no feature varies less than others explain."""
    squares = np.diagonal(scatter, axis1=1, axis2=2)
    _within("squares", squares, 0.0, LARGEST_PRODUCT)
    _within("upper products", np.triu(scatter, 1), 0.0, 0.0)
    length = np.sqrt(squares) + 1.0 / LARGEST_TOLD  # squares may have vanished
    correlation = np.tril(scatter, -1) / length[:, :, None] / length[:, None, :]
    _within("products", correlation, -ROUNDED, ROUNDED)
    each = np.arange(squares.shape[1])
    correlation[:, each, each] = squares / length**2 + SLACK * len(each)
    try:  # which reads the lower half
        np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError:
        raise ValueError("products must be sums over rows, got none that rows can have") from None


def _within(name: str, values: Floats, low: Floats | float, high: Floats | float) -> None:
    """Refuse numbers that are not between these, both included; a NaN is between none."""
    wrong = ~((values >= low) & (values <= high))
    if wrong.any():
        raise ValueError(f"{name} must be what rows lead to, got {values[wrong].flat[0]}")
