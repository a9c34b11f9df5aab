"""Learners: what an agent runs on the virtual clique of its neighbourhood; one file each.

`learner.py` says what a learner is, `docs/add-a-learner.md` how to add one.
"""

from mtcool.axes import CLIQUE, ROW, set_axes
from mtcool.kernels import inline
from mtcool.learners.ftrl import FTRL
from mtcool.learners.kt import KT
from mtcool.learners.learner import (
    Cliques,
    Learner,
    StateSize,
    predict_row,
    smallest_state,
    update_row,
    updates_at_once,
)
from mtcool.learners.mt_ftrl.mt_ftrl import MTFTRL
from mtcool.learners.mt_ftrl_kt import MTFTRLKT
from mtcool.learners.two_phase import first_phase

LEARNERS: dict[str, type[Learner]] = {kind.__name__: kind for kind in (FTRL, KT, MTFTRL, MTFTRLKT)}
"""The learners of the package, by name."""

__all__ = [
    "CLIQUE",
    "FTRL",
    "KT",
    "LEARNERS",
    "MTFTRL",
    "MTFTRLKT",
    "ROW",
    "Cliques",
    "Learner",
    "StateSize",
    "first_phase",
    "inline",
    "predict_row",
    "set_axes",
    "smallest_state",
    "update_row",
    "updates_at_once",
]
