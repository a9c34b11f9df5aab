"""The area under the ROC curve of a stream of any length, from a histogram of the log odds."""

from typing import final

import numpy as np

from mtcool.learn.metrics.stored import stored_counts
from mtcool.types import AnyArray, Floats, Integers

BINS = 4096
LARGEST = 16.0
"""Log odds beyond this count as this: a probability of one in nine million."""


@final
class Ranking:
    """How often a row of class 1 is given a higher probability than one of class 0.

    Log odds from -16 to 16 are counted in 4096 bins, each 1/128 wide; two rows in one bin count
    as equal, which is half. The area is wrong by at most half the share of such pairs.

    Examples
    --------
    >>> ranking = Ranking(predictors=1)
    >>> ranking.add(np.array([0.0, 1.0, 0.0, 1.0]), np.array([[0.1], [0.4], [0.6], [0.8]]))
    >>> ranking.area()
    array([0.75])
    """

    def __init__(self, predictors: int) -> None:
        self.counts: Integers = np.zeros((predictors, 2, BINS), np.int64)

    def add(self, target: Floats, probability: Floats) -> None:
        """Count rows: their class, 0 or 1, and a column of probabilities for each predictor."""
        with np.errstate(divide="ignore"):
            odds = np.log(probability) - np.log1p(-probability)
        place = (np.clip(odds, -LARGEST, LARGEST) + LARGEST) * (BINS / (2 * LARGEST))
        bins = np.minimum(place, BINS - 1).astype(np.int64)
        start = BINS * target.astype(np.int64)
        for predictor, found in enumerate(bins.T):
            self.counts[predictor] += np.bincount(start + found, minlength=2 * BINS).reshape(2, -1)

    def area(self) -> Floats:
        """The area under the curve of each predictor; NaN where only one class was seen."""
        zeros, ones = self.counts[:, 0].astype(float), self.counts[:, 1].astype(float)
        below = np.cumsum(zeros, axis=1) - zeros / 2
        pairs = zeros.sum(axis=1) * ones.sum(axis=1)
        with np.errstate(invalid="ignore"):
            found: Floats = (ones * below).sum(axis=1) / pairs
        return found

    @classmethod
    def from_counts(cls, counts: AnyArray, predictors: int, rows: int) -> "Ranking":
        """The ranking with these counts of so many rows, as a file keeps them."""
        ranking = cls(predictors)
        ranking.counts = stored_counts("counts of a ranking", counts, ranking.counts.shape)
        if (ranking.counts.sum(axis=(1, 2)) != rows).any():
            raise ValueError(f"counts of a ranking must be those of {rows} rows")
        return ranking
