"""What neighbours say, taken with care: any number may come, and predictions must stay finite."""

from __future__ import annotations

from mtcool.kernels import inline
from mtcool.kernels.lanes import Lanes, where_above
from mtcool.learners.panel.fields import ROWS
from mtcool.learners.panel.limits import MOST_ROWS
from mtcool.learners.panel.state import Panel


@inline
def between(least: float, value: float, most: float) -> float:
    """The value within bounds; what is not a number counts as the least."""
    return min(most, max(least, value))


@inline
def lanes_between(least: Lanes | float, value: Lanes, most: Lanes | float) -> Lanes:
    """The same for lanes."""
    value = where_above(value, least, value, least)
    return where_above(value, most, most, value)


@inline
def rows_of(panel: Panel, agent: int) -> float:
    """The rows of an agent, as far as they can be believed."""
    return between(0.0, panel.number[agent, ROWS], MOST_ROWS)
