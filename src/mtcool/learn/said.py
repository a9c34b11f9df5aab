"""What was said when rows were predicted, kept until they are learned from.

An agent books what it said, not what it would say now: a neighbour may have answered otherwise when
the row was predicted (`docs/learning-promises.md`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mtcool.learn.told import LARGEST_TOLD
from mtcool.types import Floats, Given


class Said(NamedTuple):
    """What an agent said of one row, as scores: log-odds in classification.

    Examples
    --------
    >>> Said(5.0, 4.0).score
    5.0
    """

    score: float
    """The prediction."""
    alone: float
    """That of learning alone; NaN if the agent had no row of its own."""


def nothing_said(rows: int) -> Floats:
    """Of rows that were not predicted yet.

    Examples
    --------
    >>> nothing_said(1)
    array([[nan, nan]])
    """
    return np.full((rows, 2), np.nan)


def checked_said(given: Given, rows: int) -> Floats:
    """A copy of what was said of each row: its score and that of learning alone, or NaN.

    Examples
    --------
    >>> checked_said([Said(5.0, 4.0)], 1)
    array([[5., 4.]])
    """
    said = np.array(given, dtype=np.float64)
    if said.shape != (rows, 2):
        raise ValueError(f"said must have two scores for each of {rows} rows, got {said.shape}")
    wrong = (np.abs(said) > LARGEST_TOLD).any(axis=1) | (
        np.isnan(said[:, 0]) & ~np.isnan(said[:, 1])
    )
    if wrong.any():
        raise ValueError(f"said must be scores that were predicted, got {said[wrong][0]}")
    return said
