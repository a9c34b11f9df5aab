"""Errors on three real streams: mtcool without tuning, and rivals, some tuned in hindsight.

The number is the progressive NMSE, mean squared error over the variance of the target. All rows of
a time stamp are predicted before any of them is learned from, and a target is learned from when it
arrives. Rows predicted before any target was seen in the closed neighbourhood are left out for
everybody. Schools are means over five orders, with standard errors. mtcool has one configuration
and takes data as they are. Rivals are favoured: Vowpal Wabbit and River run twice, with targets as
they are and z-scored over the whole file, and the better run counts; online ridge and gradient
steps take targets and features z-scored; gradient steps are chosen from a grid in hindsight.

One bar is missed: schools with rows shared have .8162 where .81 was asked, .8 % too much. A part of
that is the price of the guard (`python -m benchmarks.learn.ablation`, row "no guard"); there are 45
rows a school to find out which expert is good, and only steps chosen in hindsight get below .81.
"""

from benchmarks.learn.contest import (
    RIDGE,
    RIVER,
    SPREAD,
    STEPS,
    VOWPAL,
    against,
    our_scores,
    rival_scores,
)
from benchmarks.learn.problem import STREAMS, problems
from benchmarks.result import Result, at_most

TARGETS = {"births": 0.300, "flights": 0.79, "schools": 0.81}
GRADIENTS_ONLY = 1.03
"""What rows that stay with their agents may cost."""
RIVALS = {**VOWPAL, **RIVER, **RIDGE, **STEPS, **SPREAD}
LIMITS = {name: 1.02 if name in SPREAD else 1.0 for name in RIVALS}


def run(quick: bool) -> list[Result]:
    """Each stream against its target and against each rival."""
    return [row for name in STREAMS for row in _stream(name, quick)]


def _stream(name: str, quick: bool) -> list[Result]:
    mine = our_scores(problems(name, quick))
    rows, only_gradients = mine["mtcool (rows)"], mine["mtcool (gradients)"]
    what = f"{name}, NMSE"
    return [
        Result(
            f"{what}: mtcool (rows)",
            f"{rows}; alone: {mine['alone']}",
            rows.mean,
            unit="",
            target=at_most(TARGETS[name]),
        ),
        Result(
            f"{what}: mtcool (gradients)",
            f"{only_gradients}; over rows: {only_gradients.over(rows).mean:.4f} times",
            only_gradients.mean,
            unit="",
            target=at_most(GRADIENTS_ONLY * TARGETS[name]),
        ),
        *against(what, mine, rival_scores(problems(name, quick), RIVALS), LIMITS),
    ]
