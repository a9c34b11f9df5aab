"""Learners: what an agent runs on the virtual clique of its neighbourhood; one file each.

`learner.py` says what a learner is, `docs/add-a-learner.md` how to add one.
"""

from mtcool.axes import CLIQUE, ROW, set_axes
from mtcool.kernels import inline
from mtcool.learners.adaptive.rescale import rescale
from mtcool.learners.changing import (
    Layout,
    begin_clique,
    clear_rows,
    grow_clique,
    move_rows,
    raise_bound,
)
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
    "Layout",
    "Learner",
    "StateSize",
    "begin_clique",
    "clear_rows",
    "first_phase",
    "grow_clique",
    "inline",
    "move_rows",
    "predict_row",
    "raise_bound",
    "rescale",
    "set_axes",
    "smallest_state",
    "update_row",
    "updates_at_once",
]
