"""Functions of the learner that variants replace, before anything that calls them is imported."""

import math

from mtcool.kernels import inline
from mtcool.learners.panel import constants, filters, guard, regression, ridges, scaling
from mtcool.learners.panel.fields import (
    ALONE,
    BETWEEN,
    HIGHEST,
    LOWEST,
    ROWS,
    SLOW,
    TO_ITSELF,
)
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

# Rows of `Scratch.expert`, as in `play.py`, which must not be imported yet.
WITH_OTHERS, BY_ONESELF = 0, 3

predict_ridge, pool, pool_rows = ridges.predict_ridge, scaling.new_scale, regression.pool
draw_to_filter, own_unit = ridges.draw_to_filter, guard.unit_of
range_of_all = guard.range_of_neighbours


def own_scale() -> None:
    """Scale by one's own rows, and by the neighbours' only before there is one."""

    @inline
    def new_scale(
        panel: Panel, agent: int, side: int, first: int, last: int, rows: float, found: int, at: int
    ) -> None:
        own = panel.number[agent, ROWS]
        if own > 0.0:
            pool(panel, agent, side, first, first + 1, own, found, at)
        else:
            pool(panel, agent, side, first, last, rows, found, at)

    scaling.new_scale = new_scale


def assumed_levels() -> None:
    """Take the differences between levels as they are assumed beforehand."""
    assumed = constants.RIDGE_LEVEL_VARIANCE

    @inline
    def apart(inside: float, across: float, rows: float, agents: float) -> float:
        return assumed

    scaling.apart = apart


def no_lessons() -> None:
    """Take no lessons: a clique whose variance is nothing would learn as it drifts."""

    @inline
    def nothing(panel: Panel, agent: int, entry: int, lesson: Floats) -> None:
        return

    filters.take_lesson = nothing


def no_ridges() -> None:
    """Predict with the slow filter wherever a ridge would."""

    @inline
    def slow(panel: Panel, agent: int, which: int, features: Floats) -> float:
        return float(panel.work.expert[BY_ONESELF if which == TO_ITSELF else WITH_OTHERS, SLOW])

    ridges.predict_ridge = slow


def no_ridge_alone() -> None:
    """The same for learning alone only."""

    @inline
    def slow(panel: Panel, agent: int, which: int, features: Floats) -> float:
        if which == TO_ITSELF:
            return float(panel.work.expert[BY_ONESELF, SLOW])
        return predict_ridge(panel, agent, which, features)

    ridges.predict_ridge = slow


def any_range() -> None:
    """Leave predictions as they are, however far from the agent's targets."""

    @inline
    def as_it_is(panel: Panel, agent: int, prediction: float) -> float:
        return prediction

    guard.within_own_range = as_it_is


def levels_alike() -> None:
    """Take all agents' levels for one in the regression on the neighbourhood's rows."""

    @inline
    def alike(panel: Panel, agent: int, products: Floats, mean: Floats) -> None:
        measured = panel.number[agent, BETWEEN]
        panel.number[agent, BETWEEN] = 0.0
        pool_rows(panel, agent, products, mean)
        panel.number[agent, BETWEEN] = measured

    regression.pool = alike


def slow_at_first() -> None:
    """Before its first row an agent predicts with its filters, and not with the regression."""
    from mtcool.learners.panel import play

    @inline
    def slow(panel: Panel, agent: int) -> float:
        return float(panel.work.expert[WITH_OTHERS, SLOW])

    play.predict_by_neighbours = slow


def nothing_kept() -> None:
    """Judge experts and sharing by what they would say when a row is learned from."""
    from mtcool.learners.panel import play

    @inline
    def nothing(panel: Panel, agent: int, played: float, alone: float, said: Floats) -> None:
        return

    play.keep_said = nothing


def alone_drawn_to_nothing() -> None:
    """Draw the ridge of learning alone to slopes of zero."""

    @inline
    def draw(panel: Panel, agent: int, side: int, drawn: Floats) -> None:
        draw_to_filter(panel, agent, side, drawn)
        if side == ALONE:
            for k in range(1, drawn.shape[0]):
                drawn[k] = 0.0

    ridges.draw_to_filter = draw


def unit_of_neighbours() -> None:
    """With few rows, the unit of accounts is the neighbours' median, however the agent varies."""
    few = guard.FEW_ROWS

    @inline
    def unit(panel: Panel, agent: int) -> float:
        rows, found = panel.number[agent, ROWS], 0.0
        if 1.0 < rows < few:
            panel.number[agent, ROWS] = 1.0  # nothing is known of its own variance
            found = own_unit(panel, agent)
            panel.number[agent, ROWS] = rows
        else:
            found = own_unit(panel, agent)
        return found

    guard.unit_of = filters.unit_of = unit


def range_of_others() -> None:
    """First predictions stay within the neighbours' range, whatever the agent's own targets."""

    @inline
    def others(panel: Panel, agent: int) -> tuple[float, float]:
        low, high = panel.number[agent, LOWEST], panel.number[agent, HIGHEST]
        panel.number[agent, LOWEST], panel.number[agent, HIGHEST] = math.inf, -math.inf
        found = range_of_all(panel, agent)
        panel.number[agent, LOWEST], panel.number[agent, HIGHEST] = low, high
        return found

    guard.range_of_neighbours = others
