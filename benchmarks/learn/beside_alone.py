"""A result about several runs: mtcool's loss over that of learning alone."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.learn.problem import Problem
from benchmarks.learn.score import Score
from benchmarks.result import Result, at_most
from mtcool import learn

Run: TypeAlias = tuple[Problem, learn.Played, NDArray[np.bool_] | None]
"""What was played, what came out, and which rows count (None for all)."""


def over_alone(what: str, runs: Iterable[Run], limit: float) -> Result:
    """The mean ratio, with its standard error and the largest."""
    learned, alone = [], []
    for problem, played, among in runs:
        learned.append(problem.loss(played.prediction, among))
        alone.append(problem.loss(played.alone, among))
    ratio = Score(tuple(learned)).over(Score(tuple(alone)))
    return Result(
        f"{what} over alone",
        f"{ratio}; largest: {max(ratio.losses):.4f}; alone: {Score(tuple(alone))}",
        ratio.mean,
        target=at_most(limit),
    )
