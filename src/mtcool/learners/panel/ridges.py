"""Ridge regression on an agent's own rows, drawn to what it has from others.

A ridge uses the products of all features, which the filters do not, and forgets nothing. It is
solved again when the rows have grown by two per cent.
"""

from __future__ import annotations

import math

from mtcool.kernels import inline, routine
from mtcool.learners.panel.constants import RIDGE_VARIANCE, SLOPE_VARIANCE
from mtcool.learners.panel.fields import (
    ALONE,
    APART,
    AROUND,
    BETWEEN,
    BY_ITSELF,
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
    RIDGE_SIZE,
    ROWS,
    SCALE_OWN,
    SCALE_SHARED,
    SHARED,
    SHARED_SCALE,
    SOLUTION,
    SOLVED,
    SPREAD,
    TO_ITSELF,
    TO_NEIGHBOURS,
    TO_SHARED,
)
from mtcool.learners.panel.filters import LOG_ODDS_SPREAD
from mtcool.learners.panel.regression import SYSTEM, draw_to_neighbours, level_ratio
from mtcool.learners.panel.scaling import FARTHEST, GROWTH, TINY
from mtcool.learners.panel.solving import set_up, solve
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

ANY_LEVEL = 1000.0
"""Variance of a level of which nothing is known."""


@inline
def predict_ridge(panel: Panel, agent: int, which: int, features: Floats) -> float:
    """The prediction of one of the agent's ridges, for features within their usual range."""
    at = FIRST_RIDGE + which * RIDGE_SIZE
    line, around = panel.vector[agent, at + LEVEL_AND_SLOPES], panel.vector[agent, at + AROUND]
    found = SCALE_OWN if which == TO_ITSELF else SCALE_SHARED
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
    drawn, number = panel.work.vector[DRAWN_TO], panel.number[agent]
    number[SOLVED] = number[ROWS]
    draw_to_filter(panel, agent, ALONE, drawn)
    solve_ridge(panel, agent, TO_ITSELF, drawn, SLOPE_VARIANCE, ANY_LEVEL)
    draw_to_filter(panel, agent, GRAPH, drawn)
    solve_ridge(panel, agent, TO_SHARED, drawn, RIDGE_VARIANCE, number[GRAPH + APART])
    if panel.rows == 1:
        scale = panel.vector[agent, SHARED_SCALE : SHARED_SCALE + 2]
        spread, noise = number[GRAPH + SPREAD], number[GRAPH + NOISE]
        draw_to_neighbours(panel, agent, scale, spread, noise, drawn)
        number[BETWEEN] = level_ratio(panel, agent, scale, spread, drawn)
        level = number[BETWEEN] * noise
        solve_ridge(panel, agent, TO_NEIGHBOURS, drawn, RIDGE_VARIANCE, level)


@inline
def draw_to_filter(panel: Panel, agent: int, side: int, drawn: Floats) -> None:
    """The slow filter's shared part, or the one that learns alone: level at the centre, slopes."""
    part, scale = SHARED, SHARED_SCALE
    if side == ALONE:
        part, scale = BY_ITSELF, OWN_SCALE
    told = panel.vector[agent, FIRST_FILTER + part]
    if panel.logistic == 0:
        for k in range(drawn.shape[0]):
            drawn[k] = told[k]
        return
    # Log-odds as probabilities: a slope times mu (1 - mu), which is the variance of the targets.
    mean, spread = panel.vector[agent, scale + CENTRE, 0], panel.number[agent, side + SPREAD]
    drawn[0] = 1.0 / (1.0 + math.exp(-told[0]))
    for k in range(1, drawn.shape[0]):
        slope = LOG_ODDS_SPREAD * told[k] * mean * (1.0 - mean)
        drawn[k] = slope / spread if spread > TINY else 0.0


@inline
def solve_ridge(
    panel: Panel, agent: int, which: int, drawn: Floats, slopes: float, level: float
) -> None:
    """Solve the ridge on the agent's own rows that is drawn to a level and slopes."""
    scale, side = SHARED_SCALE, GRAPH
    if which == TO_ITSELF:
        scale, side = OWN_SCALE, ALONE
    deviation, centre = panel.vector[agent, scale + DEVIATION], panel.vector[agent, scale + CENTRE]
    mean, scatter, rows = panel.vector[agent, MEAN], panel.scatter[agent], panel.number[agent, ROWS]
    spread, noise = panel.number[agent, side + SPREAD], panel.number[agent, side + NOISE]
    at, solution = FIRST_RIDGE + which * RIDGE_SIZE, panel.work.vector[SOLUTION]
    line, around = panel.vector[agent, at + LEVEL_AND_SLOPES], panel.vector[agent, at + AROUND]
    base, width = drawn[0], drawn.shape[0]
    set_up(panel.work.matrix[SYSTEM], scatter, deviation, noise / slopes)
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
    solve(panel.work.matrix[SYSTEM], solution)
    line[0] = base + (mean[0] - base) * rows / (rows + noise / level)
    for k in range(1, width):
        slope = (drawn[k] + solution[k]) * spread
        line[k] = slope / deviation[k] if deviation[k] > TINY else 0.0
