"""The attack of the hostile agents: what they do to a run of mtcool."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.learn.ours import Share
from benchmarks.learn.problem import Problem
from mtcool import learn


class Attack(Protocol):
    """Play a problem in which some agents send what harms most."""

    def __call__(self, problem: Problem, hostile: NDArray[np.bool_], share: Share) -> learn.Played:
        """Predictions of all rows; those of hostile agents do not count."""


ATTACK: Attack | None = None
"""None as long as there is no attack to measure."""
