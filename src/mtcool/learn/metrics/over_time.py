"""Sums over stretches of a stream of any length: at most 256 of them, with equally many rows."""

from collections.abc import Mapping
from typing import final

import numpy as np

from mtcool.learn.metrics.stored import check_widths, stored_counts, stored_sums
from mtcool.learn.metrics.sums import add_in_order
from mtcool.types import AnyArray, Floats, Integers

BUCKETS = 256


@final
class OverTime:
    """Sums of rows in stretches; when all are full, neighbours are merged in pairs.

    Examples
    --------
    >>> curve = OverTime(groups=2, columns=1)
    >>> curve.add(np.arange(1000.0), np.arange(1000) % 2, np.ones((1000, 1)))
    >>> curve.width, curve.sums().shape, curve.times()[0]
    (4, (250, 2, 1), array([0., 3.]))
    """

    def __init__(self, groups: int, columns: int) -> None:
        self.width, self._count = 1, 0
        self._sums: Floats = np.zeros((BUCKETS, groups, columns))
        self._times: Floats = np.tile([np.inf, -np.inf], (BUCKETS, 1))

    def add(self, time: Floats, groups: Integers, values: Floats) -> None:
        """Add rows, in the order of the stream, each to the sums of its group."""
        if time.size == 0:
            return
        # Rows are cut where stretches are merged, so that the same numbers are added in the same
        # order however the rows are cut into calls.
        while time.size > (room := BUCKETS * self.width - self._count):
            if room:
                self._add(time[:room], groups[:room], values[:room])
            time, groups, values = time[room:], groups[room:], values[room:]
            self._merge()
        self._add(time, groups, values)

    def _add(self, time: Floats, groups: Integers, values: Floats) -> None:
        stretches = (self._count + np.arange(time.size)) // self.width
        self._count += time.size
        _, count, columns = self._sums.shape
        add_in_order(self._sums.reshape(-1, columns), stretches * count + groups, values)
        used, begins = np.unique(stretches, return_index=True)
        earliest = np.minimum.reduceat(time, begins)
        latest = np.maximum.reduceat(time, begins)
        self._times[used, 0] = np.minimum(self._times[used, 0], earliest)
        self._times[used, 1] = np.maximum(self._times[used, 1], latest)

    def sums(self) -> Floats:
        """The sums of each stretch that has rows."""
        return self._sums[: self._filled]

    def times(self) -> Floats:
        """The first and the last time of each of them."""
        return self._times[: self._filled]

    def arrays(self) -> dict[str, AnyArray]:
        """All that it knows, for a file."""
        size = np.array([self.width, self._count])
        return {"size": size, "sums": self._sums, "times": self._times}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], groups: int, columns: int, rows: int
    ) -> "OverTime":
        """The sums that `arrays` came from, of so many rows."""
        found = cls(groups, columns)
        size = stored_counts("size over time", arrays["size"], (2,))
        check_widths("width over time", size[1:], size[:1], BUCKETS)
        found.width, found._count = size.tolist()
        if found._count != rows:
            raise ValueError(f"rows over time must be {rows}, got {found._count}")
        found._sums = stored_sums("sums over time", arrays["sums"], found._sums.shape)
        filled = found._filled
        found._times[:filled] = stored_sums("times", arrays["times"][:filled], (filled, 2))
        return found

    @property
    def _filled(self) -> int:
        return -(-self._count // self.width)

    def _merge(self) -> None:
        half = BUCKETS // 2
        self._sums[:half] = self._sums[::2] + self._sums[1::2]
        self._times[:half, 0] = np.minimum(self._times[::2, 0], self._times[1::2, 0])
        self._times[:half, 1] = np.maximum(self._times[::2, 1], self._times[1::2, 1])
        self._sums[half:] = 0.0
        self._times[half:] = [np.inf, -np.inf]
        self.width *= 2
