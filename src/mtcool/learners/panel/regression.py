"""Regression on all rows of a neighbourhood, with a level for each agent (`share="rows"`).

Agents tell their neighbours how many rows they have, their means, and their sums of products. From
these an agent computes what a statistician calls generalised least squares with random levels:
differences between the agents' means count in full if levels are alike, and hardly at all if they
differ much or if there are many rows within each agent.
"""

from __future__ import annotations

from mtcool.kernels import inline
from mtcool.learners.panel.clamp import between, rows_of
from mtcool.learners.panel.constants import POOLED_VARIANCE, RIDGE_LEVEL_VARIANCE
from mtcool.learners.panel.fields import (
    BETWEEN,
    CENTRE,
    DEVIATION,
    LISTENS,
    MEAN,
    POOLED_MEAN,
    SOLUTION,
)
from mtcool.learners.panel.limits import HUGE
from mtcool.learners.panel.scaling import ASSUMED, TINY
from mtcool.learners.panel.solving import set_up, solve
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

PRODUCTS, SYSTEM = 0, 1
"""The two matrices of the scratch."""
LARGEST_RATIO = 1e6
"""Levels differ by at most so many variances within agents."""


@inline
def draw_to_neighbours(
    panel: Panel, agent: int, scale: Floats, spread: float, noise: float, drawn: Floats
) -> None:
    """The regression's level at the centre of the scale, and its slopes in units of the scale."""
    products, mean = panel.work.matrix[PRODUCTS], panel.work.vector[POOLED_MEAN]
    pool(panel, agent, products, mean)
    width, deviation, centre = drawn.shape[0], scale[DEVIATION], scale[CENTRE]
    drawn[0] = mean[0]
    system, solution = panel.work.matrix[SYSTEM], panel.work.vector[SOLUTION]
    set_up(system, products, deviation, noise / POOLED_VARIANCE)
    for k in range(1, width):
        usable = deviation[k] > TINY and spread > TINY
        solution[k] = products[k, 0] / (deviation[k] * spread) if usable else 0.0
    solve(system, solution)
    for k in range(1, width):
        drawn[k] = solution[k]
        if deviation[k] > TINY:
            drawn[0] += solution[k] * spread * (centre[k] - mean[k]) / deviation[k]


@inline
def pool(panel: Panel, agent: int, products: Floats, mean: Floats) -> None:
    """Means and sums of products over the neighbourhood, the lower half of them.

    An agent with n rows whose level varies has a mean that counts as n / (1 + n ratio) rows.
    """
    ratio, total, width = panel.number[agent, BETWEEN], 0.0, mean.shape[0]
    for k in range(width):
        mean[k] = 0.0
        for m in range(k + 1):
            products[k, m] = 0.0
    for e in range(panel.ptr[agent], panel.end[agent]):
        j = panel.idx[e]
        rows = panel.link[e, LISTENS] * rows_of(panel, j)
        weight = rows / (1.0 + rows * ratio)
        total += weight
        for k in range(width):
            mean[k] += weight * between(-HUGE, panel.vector[j, MEAN, k], HUGE)
    for k in range(width):
        mean[k] /= max(total, TINY)
    for e in range(panel.ptr[agent], panel.end[agent]):
        j = panel.idx[e]
        rows = panel.link[e, LISTENS] * rows_of(panel, j)
        if rows > 0.0:
            weight = rows / (1.0 + rows * ratio)
            for k in range(width):
                off = weight * (between(-HUGE, panel.vector[j, MEAN, k], HUGE) - mean[k])
                for m in range(k + 1):
                    across = off * (between(-HUGE, panel.vector[j, MEAN, m], HUGE) - mean[m])
                    products[k, m] += product(panel, j, k, m) + across


@inline
def product(panel: Panel, agent: int, k: int, m: int) -> float:
    """A sum of products as its agent tells it."""
    return between(-HUGE * HUGE, panel.scatter[agent, k, m], HUGE * HUGE)


@inline
def level_ratio(panel: Panel, agent: int, scale: Floats, spread: float, drawn: Floats) -> float:
    """The variance between levels over that within agents, both given the features.

    By the sums of squares of an analysis of variance; with few rows, what is assumed beforehand.
    """
    width, deviation, slope = drawn.shape[0], scale[DEVIATION], panel.work.vector[SOLUTION]
    slope[0] = -1.0
    for k in range(1, width):
        slope[k] = drawn[k] * spread / deviation[k] if deviation[k] > TINY else 0.0
    rows, agents, inside, middle = 0.0, 0.0, 0.0, 0.0
    for e in range(panel.ptr[agent], panel.end[agent]):
        j = panel.idx[e]
        count = panel.link[e, LISTENS] * rows_of(panel, j)
        if count > 0.0:
            rows += count
            agents += 1.0
            middle += count * level_of(panel, j, slope)
            for k in range(width):
                for m in range(k + 1):
                    twice = 1.0 if k == m else 2.0
                    inside += twice * slope[k] * slope[m] * product(panel, j, k, m)
    free, across = rows - agents, 0.0
    for e in range(panel.ptr[agent], panel.end[agent]):
        j = panel.idx[e]
        off = level_of(panel, j, slope) - middle / max(rows, 1.0)
        across += panel.link[e, LISTENS] * rows_of(panel, j) * off * off
    whole = inside + across
    if not (free >= 1.0 and inside >= 0.0 and TINY * TINY < whole < HUGE * HUGE * HUGE):
        return RIDGE_LEVEL_VARIANCE
    within = max(inside / free, whole / rows / LARGEST_RATIO)
    share = max(0.0, across - (agents - 1.0) * inside / free) / rows
    assumed = RIDGE_LEVEL_VARIANCE * whole / rows
    return (share * free + assumed * ASSUMED) / (free + ASSUMED) / within


@inline
def level_of(panel: Panel, agent: int, slope: Floats) -> float:
    """An agent's mean target less what its mean features explain."""
    level = 0.0
    for k in range(slope.shape[0]):
        level -= slope[k] * between(-HUGE, panel.vector[agent, MEAN, k], HUGE)
    return level
