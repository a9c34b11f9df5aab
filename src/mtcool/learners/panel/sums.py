"""Sums of rows that travel over the whole network (`share="rows"`).

After each row an agent averages its sums with those of one neighbour, in turn. The average over all
agents stays what it is, so in time every agent holds the sums of everybody's rows, divided by the
number of agents; a ridge on them is the ridge on all rows.
"""

from __future__ import annotations

from mtcool.kernels import inline
from mtcool.learners.panel.fields import POOLED_ROWS, ROWS, SUMS_MEAN, TURN
from mtcool.learners.panel.heard import HUGE, MOST_ROWS
from mtcool.learners.panel.scaling import add_products
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats


@inline
def add_to_sums(panel: Panel, agent: int, features: Floats, target: float) -> None:
    """Add a row to the sums that the agent holds."""
    panel.number[agent, POOLED_ROWS] += 1.0
    rows, mean = panel.number[agent, POOLED_ROWS], panel.vector[agent, SUMS_MEAN]
    add_products(mean, panel.sums[agent], panel.work.vector, rows, features, target)


@inline
def next_partner(panel: Panel, agent: int) -> int:
    """Where the neighbour stands whose turn it is to swap sums: 1 for the first, 0 for nobody.

    It is the next one after the last that has learned from a row.
    """
    first, count = panel.ptr[agent], panel.ptr[agent + 1] - panel.ptr[agent]
    place = int(panel.number[agent, TURN])
    for _ in range(count - 1):
        place = place + 1 if place + 1 < count else 1
        if panel.number[panel.idx[first + place], ROWS] > 0.0:
            return place
    return 0


@inline
def swap_sums(panel: Panel, agent: int, place: int) -> None:
    """Give the agent and its neighbour at this place the average of their sums."""
    if place == 0:
        return
    panel.number[agent, TURN] = place
    partner = panel.idx[panel.ptr[agent] + place]
    a, b = panel.number[agent, POOLED_ROWS], panel.number[partner, POOLED_ROWS]
    if not (a >= 0.0 and b >= 0.0 and 0.0 < a + b <= MOST_ROWS):
        return
    if not (can_be_used(panel, agent) and can_be_used(panel, partner)):
        return
    mine, theirs = panel.vector[agent, SUMS_MEAN], panel.vector[partner, SUMS_MEAN]
    between = a * b / (a + b)
    for k in range(mine.shape[0]):
        for m in range(k + 1):
            apart = between * (mine[k] - theirs[k]) * (mine[m] - theirs[m])
            half = 0.5 * (panel.sums[agent, k, m] + panel.sums[partner, k, m] + apart)
            panel.sums[agent, k, m] = panel.sums[partner, k, m] = half
    for k in range(mine.shape[0]):
        mine[k] = theirs[k] = (a * mine[k] + b * theirs[k]) / (a + b)
    panel.number[agent, POOLED_ROWS] = panel.number[partner, POOLED_ROWS] = 0.5 * (a + b)


@inline
def can_be_used(panel: Panel, agent: int) -> bool:
    """Whether the sums that an agent holds are numbers with which one can compute."""
    mean = panel.vector[agent, SUMS_MEAN]
    for k in range(mean.shape[0]):
        if not abs(mean[k]) < HUGE:
            return False
        for m in range(k + 1):
            if not abs(panel.sums[agent, k, m]) < HUGE * HUGE:
                return False
    return True
