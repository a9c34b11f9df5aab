"""Functions of the learner that variants replace, before anything that calls them is imported."""

from mtcool.kernels import inline
from mtcool.learners.panel import constants, filters, promises, ridges, scaling
from mtcool.learners.panel.fields import ROWS, SLOW, TO_ITSELF
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

# Rows of `Scratch.expert`, as in `play.py`, which must not be imported yet.
WITH_OTHERS, BY_ONESELF = 0, 2

predict_ridge, pool = ridges.predict_ridge, scaling.new_scale


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

    promises.within_own_range = as_it_is
