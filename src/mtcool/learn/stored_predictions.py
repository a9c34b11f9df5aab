"""What was said when rows were predicted, kept until they are learned from.

An agent books what it said, not what it would say now: its neighbours may have learned since, even
from rows of the same moment, or may have answered otherwise (`docs/learning-promises.md`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mtcool.learners.panel.fields import SAID, SAID_ALONE, SAID_EXPERTS, SAID_PLAYED
from mtcool.learners.panel.limits import LARGEST_TOLD
from mtcool.types import Floats, Given


class RowPrediction(NamedTuple):
    """What an agent said of one row, as scores: log-odds in classification.

    Examples
    --------
    >>> RowPrediction(5.0, 4.0, (5.0, 5.0, 5.5, 0.0, 4.0, 4.0, 4.0, 4.0, 4.0)).score
    5.0
    """

    score: float
    """The prediction."""
    alone: float
    """That of learning alone; NaN if the agent had no row of its own."""
    experts: tuple[float, ...]
    """What each expert said, first those that share, then those of learning alone."""

    @classmethod
    def of(cls, numbers: Floats) -> RowPrediction:
        """What stands in a row of numbers.

        Parameters
        ----------
        numbers
            The prediction, that of learning alone, and those of the experts.
        """
        first, alone, *experts = numbers.tolist()
        return cls(first, alone, tuple(experts))

    def numbers(self) -> list[float]:
        """The same as numbers in a row."""
        return [self.score, self.alone, *self.experts]


def nothing_said(rows: int) -> Floats:
    """Of rows that were not predicted yet.

    Examples
    --------
    >>> nothing_said(1).shape
    (1, 11)
    """
    return np.full((rows, SAID), np.nan)


def checked_said(given: Given, rows: int) -> Floats:
    """A copy of what was said of each row, or NaN.

    Examples
    --------
    >>> bool(np.isnan(checked_said(nothing_said(2), 2)).all())
    True
    """
    said = np.array(given, dtype=np.float64)
    if said.shape != (rows, SAID):
        raise ValueError(f"said must have {SAID} scores for each of {rows} rows, got {said.shape}")
    missing = np.isnan(said)
    few = missing[:, SAID_PLAYED] & ~missing.all(axis=1)
    few |= ~missing[:, SAID_ALONE] & missing[:, SAID_EXPERTS:].any(axis=1)
    wrong = (np.abs(said) > LARGEST_TOLD).any(axis=1) | few
    if wrong.any():
        raise ValueError(f"said must be scores that were predicted, got {said[wrong][0].tolist()}")
    return said
