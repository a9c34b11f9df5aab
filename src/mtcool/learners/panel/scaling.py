"""Features and targets in units of what has been seen, without looking ahead.

An agent scales by the means and deviations of all rows in its closed neighbourhood, which its
neighbours tell it; learning alone, by those of its own rows.
"""

from __future__ import annotations

import math

from mtcool.kernels import inline
from mtcool.learners.panel.clamp import between, rows_of
from mtcool.learners.panel.constants import OVERFLOW, RIDGE_LEVEL_VARIANCE
from mtcool.learners.panel.fields import (
    ALONE,
    APART,
    CENTRE,
    DEVIATION,
    GRAPH,
    HIGHEST,
    LISTENS,
    LOWEST,
    MEAN,
    MISSED,
    MISSES,
    NOISE,
    OWN_SCALE,
    ROWS,
    SCALE_NUMBERS,
    SCALE_OWN,
    SCALE_SHARED,
    SEEN,
    SHARED_SCALE,
    SIDE_OWN,
    SIDE_SHARED,
    SPREAD,
    STRAYS,
    X_OWN,
    X_SHARED,
)
from mtcool.learners.panel.limits import HUGE, MOST_ROWS
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

GROWTH = 1.02
"""A scale is computed anew when the rows behind it have grown by this factor."""
LEAST_NOISE = 0.02
"""Least share of the target's variance that is taken for noise."""
FARTHEST = 10.0
"""Features count as at most so many deviations from their mean."""
SHRINK = 5.0
"""With n rows behind them, features are shortened by n / (n + 5)."""
SURE_ROWS = 10.0
"""With so many rows an agent knows which targets stray."""
LONGEST_RUN = 300.0
"""Of strays that count: two to this power is still a number."""
TINY = 1e-12
ASSUMED = 20.0
"""Rows that the share of levels assumed beforehand counts for."""


@inline
def look_up_scale(panel: Panel, agent: int, side: int) -> None:
    """Write the scale of an agent into the scratch: the one kept, or a new one if it is outdated.

    `side` is GRAPH or ALONE. Nothing is kept of it, so that predictions change nothing.
    """
    first, last = panel.ptr[agent], panel.end[agent]
    kept, found, at = SHARED_SCALE, SCALE_SHARED, SIDE_SHARED
    if side == ALONE:
        last, kept, found, at = first + 1, OWN_SCALE, SCALE_OWN, SIDE_OWN
    rows = 0.0
    for e in range(first, last):
        rows += panel.link[e, LISTENS] * rows_of(panel, panel.idx[e])
    before = panel.number[agent, side + SEEN]
    number, vector = panel.work.number, panel.work.vector
    # Nothing is learned in units of a spread of zero, which ends when the targets change.
    usable = panel.logistic == 1 or rows == 0.0 or panel.number[agent, side + SPREAD] > 0.0
    if usable and rows <= before * GROWTH and rows * GROWTH >= before:
        for q in range(SCALE_NUMBERS):
            number[at + q] = panel.number[agent, side + q]
        for k in range(vector.shape[1]):
            vector[found + CENTRE, k] = panel.vector[agent, kept + CENTRE, k]
            vector[found + DEVIATION, k] = panel.vector[agent, kept + DEVIATION, k]
    else:
        new_scale(panel, agent, side, first, last, rows, found, at)


@inline
def new_scale(
    panel: Panel, agent: int, side: int, first: int, last: int, rows: float, found: int, at: int
) -> None:
    """Pool means, deviations and errors over the entries first:last."""
    number, vector = panel.work.number, panel.work.vector
    missed, misses, agents = 0.0, 0.0, 0.0
    for e in range(first, last):
        listens, j = panel.link[e, LISTENS], panel.idx[e]
        missed += listens * between(0.0, panel.number[j, side + MISSED], HUGE * HUGE)
        misses += listens * between(0.0, panel.number[j, side + MISSES], MOST_ROWS)
        if panel.number[j, ROWS] > 0.0:
            agents += listens
    for k in range(vector.shape[1]):
        centre, inside, across = 0.0, 0.0, 0.0
        for e in range(first, last):
            j = panel.idx[e]
            weight = panel.link[e, LISTENS] * rows_of(panel, j)
            centre += weight * between(-HUGE, panel.vector[j, MEAN, k], HUGE)
        centre /= rows
        for e in range(first, last):
            listens, j = panel.link[e, LISTENS], panel.idx[e]
            off = between(-HUGE, panel.vector[j, MEAN, k], HUGE) - centre
            inside += listens * between(0.0, panel.scatter[j, k, k], HUGE * HUGE)
            across += listens * rows_of(panel, j) * off * off
        vector[found + CENTRE, k] = centre
        vector[found + DEVIATION, k] = math.sqrt(max(inside + across, 0.0) / rows)
        if k == 0:
            number[at + APART] = apart(inside, across, rows, agents)
    spread = vector[found + DEVIATION, 0]
    number[at + SEEN], number[at + SPREAD], number[at + NOISE] = rows, spread, 1.0
    if spread > TINY:
        share = (missed / (spread * spread) + 1.0) / (misses + 1.0)
        number[at + NOISE] = min(1.0, max(LEAST_NOISE, share))


@inline
def apart(inside: float, across: float, rows: float, agents: float) -> float:
    """The share of the targets' variance that is between the levels of agents.

    From sums of squares within agents and between them; with few rows, what is assumed beforehand.
    """
    free = max(rows - agents, 0.0)
    if free < 1.0 or inside + across <= 0.0:
        return RIDGE_LEVEL_VARIANCE
    noise = (agents - 1.0) * inside / free  # of the levels themselves
    share = min(1.0, max(0.0, across - noise) / (inside + across))
    return (share * free + RIDGE_LEVEL_VARIANCE * ASSUMED) / (free + ASSUMED)


@inline
def keep_scale(panel: Panel, agent: int) -> None:
    """Keep the scales that were looked up."""
    number, vector = panel.work.number, panel.work.vector
    for q in range(SCALE_NUMBERS):
        panel.number[agent, GRAPH + q] = number[SIDE_SHARED + q]
        panel.number[agent, ALONE + q] = number[SIDE_OWN + q]
    for k in range(vector.shape[1]):
        panel.vector[agent, SHARED_SCALE, k] = vector[SCALE_SHARED, k]
        panel.vector[agent, SHARED_SCALE + 1, k] = vector[SCALE_SHARED + 1, k]
        panel.vector[agent, OWN_SCALE, k] = vector[SCALE_OWN, k]
        panel.vector[agent, OWN_SCALE + 1, k] = vector[SCALE_OWN + 1, k]


@inline
def scale_row(panel: Panel, features: Floats) -> None:
    """Write the scaled features, after a leading one; an unknown feature counts as average."""
    number, vector = panel.work.number, panel.work.vector
    for own in range(2):
        found, at, into = SCALE_SHARED, SIDE_SHARED, X_SHARED
        if own == 1:
            found, at, into = SCALE_OWN, SIDE_OWN, X_OWN
        rows = number[at + SEEN]
        shrink = rows / (rows + SHRINK)
        vector[into, 0] = 1.0
        for k in range(1, vector.shape[1]):
            deviation, x = vector[found + DEVIATION, k], 0.0
            if deviation > TINY and not math.isnan(features[k - 1]):
                x = (features[k - 1] - vector[found + CENTRE, k]) / deviation
                x = shrink * min(FARTHEST, max(-FARTHEST, x))
            vector[into, k] = x


@inline
def patience(panel: Panel, agent: int) -> float:
    """How much farther targets are believed after some that have strayed in a row."""
    return float(2.0 ** min(abs(panel.number[agent, STRAYS]), LONGEST_RUN))


@inline
def add_row(panel: Panel, agent: int, features: Floats, target: float) -> None:
    """Add a row to the agent's own means and products; an unknown feature changes neither.

    A wild target counts as one that is as far away as features may be: one wrong entry must not set
    the scale for good. Targets that stay there are believed twice as far with every row.
    """
    number, mean = panel.number[agent], panel.vector[agent, MEAN]
    square, strays = panel.scatter[agent, 0, 0], 0.0
    if panel.logistic == 0 and number[ROWS] >= SURE_ROWS and square > 0.0:
        reach, off = FARTHEST * math.sqrt(square / number[ROWS]), target - mean[0]
        if abs(off) > reach:
            side, run = math.copysign(1.0, off), number[STRAYS]
            farthest = reach * (patience(panel, agent) if side * run > 0.0 else 1.0)
            target = mean[0] + between(-farthest, off, farthest)
            strays = run + side if side * run > 0.0 else side
    number[STRAYS] = strays
    number[ROWS] += 1.0
    number[LOWEST] = min(number[LOWEST], target)
    number[HIGHEST] = max(number[HIGHEST], target)
    add_products(mean, panel.scatter[agent], panel.work.vector, number[ROWS], features, target)


@inline
def add_products(
    mean: Floats, scatter: Floats, scratch: Floats, rows: float, features: Floats, target: float
) -> None:
    """Welford's update of means and products of deviations; `rows` counts the new row."""
    off, width = scratch[SCALE_SHARED], mean.shape[0]  # the scale has done its service
    for k in range(width):
        value = target if k == 0 else features[k - 1]
        off[k] = 0.0
        if not math.isnan(value):
            off[k] = min(OVERFLOW, max(-OVERFLOW, value)) - mean[k]
        mean[k] += off[k] / rows
    factor = (rows - 1.0) / rows
    for k in range(width):
        for m in range(k + 1):
            scatter[k, m] += factor * off[k] * off[m]  # the lower half is enough
