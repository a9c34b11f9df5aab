"""Standard errors of means of autocorrelated series, in constant memory: batch means.

Errors of consecutive rows are alike: a bad week is bad all week. The usual standard error takes
rows for independent and promises too much. Means of long batches of consecutive rows are nearly
independent, so their spread tells how sure the mean is. Batches grow with the series: when all
are full, neighbours are merged in pairs, so there are always between 16 and 32 of them; a series
of fewer than 32 rows has batches of one row each.
"""

from collections.abc import Mapping
from typing import NamedTuple, final

import numpy as np

from mtcool.learn.metrics.stored import check_widths, stored_counts, stored_sums
from mtcool.learn.metrics.sums import add_in_order
from mtcool.types import AnyArray, Floats, Integers

BATCHES = 32
FEWEST = 8
"""Full batches below which a spread says nothing."""
CONFIDENCE = 0.95
STUDENT: Floats = np.array(
    [
        2.364624251592784,
        2.306004135204166,
        2.262157162798205,
        2.228138851986274,
        2.200985160091639,
        2.1788128296672284,
        2.1603686564627913,
        2.144786687917804,
        2.131449545559776,
        2.1199052992212546,
        2.1098155778333156,
        2.1009220402410382,
        2.0930240544083087,
        2.085963447265864,
        2.0796138447276795,
        2.0738730679040254,
        2.0686576104190486,
        2.0638985616280245,
        2.0595385527532972,
        2.0555294386428735,
        2.0518305164802846,
        2.0484071417952454,
        2.045229642132703,
        2.0422724563012378,
        2.039513446396408,
    ]
)
"""Quantiles of Student's t for intervals of this confidence, with 7 to 31 degrees of freedom: from
FEWEST to BATCHES batches. scipy.special has them all, and takes long to import."""


class Estimates(NamedTuple):
    """Means with their standard errors, and half the length of their 95 % intervals."""

    mean: Floats
    error: Floats
    margin: Floats
    rows: Integers

    @property
    def clear(self) -> "np.typing.NDArray[np.bool_]":
        """Where the interval does not cover zero; never where there are too few rows."""
        return np.abs(self.mean) > self.margin


@final
class BatchMeans:
    """Batch means of many series at once, each with several columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = np.repeat(rng.normal(size=500), 20)      # every value stands twenty times
    >>> means = BatchMeans(columns=1)
    >>> means.add(np.zeros(10_000, int), 0.1 + noise[:, np.newaxis])
    >>> found = means.estimates()
    >>> rows_taken_for_independent = noise.std() / 100
    >>> bool(found.error[0, 0] > 3 * rows_taken_for_independent)
    True
    """

    def __init__(self, columns: int) -> None:
        self._sums: Floats = np.zeros((0, BATCHES, columns))
        self._counts: Integers = np.zeros(0, np.int64)
        self._widths: Integers = np.ones(0, np.int64)

    def add(self, series: Integers, values: Floats) -> None:
        """Add rows, the next of their series in this order; `values` has a column for each."""
        if series.size == 0:
            return
        self._grow(int(series.max()) + 1)
        places = self._counts[series] + _ranks(series)
        self._counts += np.bincount(series, minlength=self._counts.size)
        # Batches are merged when they are full, and not before, so that the same numbers are
        # added in the same order however the rows are cut into calls.
        while series.size:
            fits = places < BATCHES * self._widths[series]
            cells = series[fits] * BATCHES + places[fits] // self._widths[series[fits]]
            add_in_order(self._sums.reshape(-1, self._sums.shape[2]), cells, values[fits])
            series, places, values = series[~fits], places[~fits], values[~fits]
            self._merge(np.unique(series))

    def estimates(self, size: int | None = None, contrast: Floats | None = None) -> Estimates:
        """Mean, standard error and margin of every series (rows) and column.

        Series beyond those that were added to, up to `size`, have no rows: their mean is NaN.
        With a contrast, one factor for each column, it is their sum that is estimated.
        """
        if size is not None:
            self._grow(size)
        sums = self._sums if contrast is None else self._sums @ contrast[:, np.newaxis]
        counts, widths = self._counts[:, np.newaxis], self._widths[:, np.newaxis]
        batches = counts // widths
        full = np.arange(BATCHES) < batches
        means = np.where(full[:, :, np.newaxis], sums / widths[:, :, np.newaxis], 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = sums.sum(axis=1) / counts
            centre = means.sum(axis=1) / batches
            spread = np.where(full[:, :, np.newaxis], means - centre[:, np.newaxis], 0.0)
            error = np.sqrt((spread**2).sum(axis=1) / (batches - 1) / batches)
        error[(batches < FEWEST)[:, 0]] = np.inf
        wide = STUDENT[np.clip(batches, FEWEST, BATCHES) - FEWEST]
        return Estimates(mean, error, wide * error, self._counts.copy())

    def batches(self) -> tuple[Integers, Integers, Floats]:
        """Series, number of rows and column sums of every batch that has rows, in order."""
        begun = np.arange(BATCHES) * self._widths[:, np.newaxis]
        rows = np.clip(self._counts[:, np.newaxis] - begun, 0, self._widths[:, np.newaxis])
        series, place = np.nonzero(rows)
        return series, rows[series, place], self._sums[series, place]

    def arrays(self) -> dict[str, AnyArray]:
        """All that it knows, for a file."""
        return {"sums": self._sums, "counts": self._counts, "widths": self._widths}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], columns: int, rows: Integers
    ) -> "BatchMeans":
        """The batch means that `arrays` came from, of so many rows in each series."""
        size = arrays["counts"].size
        means = cls(columns)
        means._sums = stored_sums("sums of batches", arrays["sums"], (size, BATCHES, columns))
        means._counts = stored_counts("counts of batches", arrays["counts"], (size,))
        means._widths = stored_counts("widths of batches", arrays["widths"], (size,))
        check_widths("widths of batches", means._counts, means._widths, BATCHES)
        if size > len(rows) or (means._counts != rows[:size]).any() or rows[size:].any():
            raise ValueError("counts of batches must be those of the rows that are compared")
        return means

    def _merge(self, series: Integers) -> None:
        """Merge neighbouring batches of these series in pairs, which leaves half of them empty."""
        half = BATCHES // 2
        pairs = self._sums[series].reshape(-1, half, 2, self._sums.shape[2])
        self._sums[series, :half] = pairs[:, :, 0] + pairs[:, :, 1]
        self._sums[series, half:] = 0.0
        self._widths[series] *= 2

    def _grow(self, size: int) -> None:
        more = size - self._counts.size
        if more > 0:
            self._sums = np.concatenate([self._sums, np.zeros((more, *self._sums.shape[1:]))])
            self._counts = np.concatenate([self._counts, np.zeros(more, np.int64)])
            self._widths = np.concatenate([self._widths, np.ones(more, np.int64)])


def _ranks(series: Integers) -> Integers:
    """For each row, how many rows of its series stand before it."""
    order = np.argsort(series, kind="stable")
    ordered = series[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, series.size])
    ranks = np.empty(series.size, np.int64)
    ranks[order] = np.arange(series.size) - np.repeat(starts, lengths)
    return ranks
