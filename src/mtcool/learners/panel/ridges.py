"""Ridge regression on an agent's own rows, drawn to what it has from others.

A ridge uses the products of all features, which the filters do not, and forgets nothing. It is
solved again when the rows have grown by two per cent.
"""

from __future__ import annotations

import math

from mtcool.kernels import inline, routine
from mtcool.learners.panel.constants import (
    RIDGE_VARIANCE,
    SLOPE_VARIANCE,
    SUMS_VARIANCE,
)
from mtcool.learners.panel.fields import (
    ALONE,
    APART,
    AROUND,
    CENTRE,
    DEVIATION,
    DRAWN_TO,
    FIRST_FILTER,
    FIRST_RIDGE,
    GRAPH,
    LEVEL_AND_SLOPES,
    MEAN,
    NOISE,
    OWN_SCALE,
    POOLED_ROWS,
    RIDGE_SIZE,
    ROWS,
    SCALE_OWN,
    SCALE_SHARED,
    SHARED,
    SHARED_SCALE,
    SOLUTION,
    SOLVED,
    SPREAD,
    SUMS_MEAN,
    TO_NOTHING,
    TO_SHARED,
    TO_SUMS,
)
from mtcool.learners.panel.scaling import FARTHEST, GROWTH, TINY
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

ROUNDING = 1e-14
"""A feature whose pivot is a smaller part of what it was consists of rounding errors."""
ANY_LEVEL = 1000.0
"""Variance of a level of which nothing is known."""


@inline
def predict_ridge(panel: Panel, agent: int, which: int, features: Floats) -> float:
    """The prediction of one of the agent's ridges, for features within their usual range."""
    at = FIRST_RIDGE + which * RIDGE_SIZE
    line, around = panel.vector[agent, at + LEVEL_AND_SLOPES], panel.vector[agent, at + AROUND]
    found = SCALE_OWN if which == TO_NOTHING else SCALE_SHARED
    centre, deviation = panel.work.vector[found + CENTRE], panel.work.vector[found + DEVIATION]
    prediction = line[0]
    for k in range(1, line.shape[0]):
        x = features[k - 1]
        if not math.isnan(x):
            reach = FARTHEST * deviation[k]
            x = min(centre[k] + reach, max(centre[k] - reach, x))
            prediction += line[k] * (x - around[k])
    return float(prediction)


@inline
def is_due(panel: Panel, agent: int) -> bool:
    """Whether the agent's rows have grown enough for its ridges to be solved again."""
    return bool(panel.number[agent, ROWS] >= panel.number[agent, SOLVED] * GROWTH)


@routine
def solve_ridges(panel: Panel, agent: int) -> None:
    """Solve the agent's ridges for the rows that it has."""
    drawn = panel.work.vector[DRAWN_TO]
    panel.number[agent, SOLVED] = panel.number[agent, ROWS]
    draw_to_shared(panel, agent, drawn)
    level = panel.number[agent, GRAPH + APART]
    solve_ridge(panel, agent, TO_SHARED, drawn, RIDGE_VARIANCE, level)
    for k in range(drawn.shape[0]):
        drawn[k] = 0.0
    drawn[0] = panel.vector[agent, MEAN, 0]
    solve_ridge(panel, agent, TO_NOTHING, drawn, SLOPE_VARIANCE, ANY_LEVEL)
    if panel.sums.shape[0] > 0:
        draw_to_sums(panel, agent, drawn)
        solve_ridge(panel, agent, TO_SUMS, drawn, RIDGE_VARIANCE, level)


@inline
def draw_to_shared(panel: Panel, agent: int, drawn: Floats) -> None:
    """The shared part of the slow filter: level at the centre of the scale, and slopes."""
    shared = panel.vector[agent, FIRST_FILTER + SHARED]
    number = panel.number[agent]
    if panel.logistic == 0:
        for k in range(drawn.shape[0]):
            drawn[k] = shared[k]
        return
    # Log-odds as probabilities: a slope times mu (1 - mu), which is the variance of the targets.
    mean = panel.vector[agent, SHARED_SCALE + CENTRE, 0]
    drawn[0] = 1.0 / (1.0 + math.exp(-shared[0]))
    for k in range(1, drawn.shape[0]):
        slope = 2.0 * shared[k] * mean * (1.0 - mean)
        drawn[k] = slope / number[GRAPH + SPREAD] if number[GRAPH + SPREAD] > TINY else 0.0


@inline
def draw_to_sums(panel: Panel, agent: int, drawn: Floats) -> None:
    """The ridge on the sums that have reached the agent."""
    scale = SHARED_SCALE
    deviation, centre = panel.vector[agent, scale + DEVIATION], panel.vector[agent, scale + CENTRE]
    mean, number = panel.vector[agent, SUMS_MEAN], panel.number[agent]
    spread, noise = number[GRAPH + SPREAD], number[GRAPH + NOISE]
    solution = panel.work.vector[SOLUTION]
    drawn[0] = mean[0]
    if number[POOLED_ROWS] <= 0.0 or spread <= TINY:
        for k in range(1, drawn.shape[0]):
            drawn[k] = 0.0
        return
    set_up(panel.work.matrix, panel.sums[agent], deviation, noise / SUMS_VARIANCE)
    for k in range(1, drawn.shape[0]):
        usable = deviation[k] > TINY
        solution[k] = panel.sums[agent, k, 0] / (deviation[k] * spread) if usable else 0.0
    solve(panel.work.matrix, solution)
    for k in range(1, drawn.shape[0]):
        drawn[k] = solution[k]
        if deviation[k] > TINY:
            drawn[0] += solution[k] * spread * (centre[k] - mean[k]) / deviation[k]


@inline
def solve_ridge(
    panel: Panel, agent: int, which: int, drawn: Floats, slopes: float, level: float
) -> None:
    """Solve the ridge on the agent's own rows that is drawn to a level and slopes."""
    scale, side = SHARED_SCALE, GRAPH
    if which == TO_NOTHING:
        scale, side = OWN_SCALE, ALONE
    deviation, centre = panel.vector[agent, scale + DEVIATION], panel.vector[agent, scale + CENTRE]
    mean, scatter, rows = panel.vector[agent, MEAN], panel.scatter[agent], panel.number[agent, ROWS]
    spread, noise = panel.number[agent, side + SPREAD], panel.number[agent, side + NOISE]
    at, solution = FIRST_RIDGE + which * RIDGE_SIZE, panel.work.vector[SOLUTION]
    line, around = panel.vector[agent, at + LEVEL_AND_SLOPES], panel.vector[agent, at + AROUND]
    base, width = drawn[0], drawn.shape[0]
    set_up(panel.work.matrix, scatter, deviation, noise / slopes)
    for k in range(1, width):
        around[k] = mean[k]
        solution[k] = 0.0
        if deviation[k] > TINY and spread > TINY:
            left = scatter[k, 0] / spread
            for m in range(1, width):
                if deviation[m] > TINY:
                    product = scatter[k, m] if m <= k else scatter[m, k]
                    left -= product / deviation[m] * drawn[m]
            solution[k] = left / deviation[k]
            base += drawn[k] * spread * (mean[k] - centre[k]) / deviation[k]
    solve(panel.work.matrix, solution)
    line[0] = base + (mean[0] - base) * rows / (rows + noise / level)
    for k in range(1, width):
        slope = (drawn[k] + solution[k]) * spread
        line[k] = slope / deviation[k] if deviation[k] > TINY else 0.0


@inline
def set_up(matrix: Floats, scatter: Floats, deviation: Floats, ridge: float) -> None:
    """The products of the scaled features, plus the ridge; the lower half, from index 1 on."""
    for k in range(1, matrix.shape[0]):
        for m in range(1, k + 1):
            usable = deviation[k] > TINY and deviation[m] > TINY
            matrix[k, m] = scatter[k, m] / (deviation[k] * deviation[m]) if usable else 0.0
        matrix[k, k] += ridge


@inline
def solve(matrix: Floats, right: Floats) -> None:
    """Solve a positive definite system in place by Cholesky's method, from index 1 on.

    A feature that others determine up to rounding gets nothing: its pivot counts as infinite.
    """
    width = matrix.shape[0]
    for k in range(1, width):
        for m in range(1, k + 1):
            rest = matrix[k, m]
            for q in range(1, m):
                rest -= matrix[k, q] * matrix[m, q]
            if m < k:
                matrix[k, m] = rest / matrix[m, m]
            else:
                matrix[k, k] = math.sqrt(rest) if rest > ROUNDING * matrix[k, k] else math.inf
    for k in range(1, width):
        for q in range(1, k):
            right[k] -= matrix[k, q] * right[q]
        right[k] /= matrix[k, k]
    for k in range(width - 1, 0, -1):
        for q in range(k + 1, width):
            right[k] -= matrix[q, k] * right[q]
        right[k] /= matrix[k, k]
