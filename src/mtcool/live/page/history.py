"""Rows over time in a bounded room: the newest one by one, older ones ever more thinly."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

Row = TypeVar("Row")
NEW, OLD = 300, 600
"""Rows that are kept one by one; older ones, of which every second goes when there are more."""


class History(Generic[Row]):
    """Rows in the order in which they came.

    Examples
    --------
    >>> history = History(new=2, old=3)
    >>> for k in range(9):
    ...     history.add(k)
    >>> history.rows
    [0, 4, 7, 8]
    """

    def __init__(self, new: int = NEW, old: int = OLD) -> None:
        self._new, self._old = new, old
        self._newest: deque[Row] = deque()
        self._older: list[Row] = []
        self._step, self._aged = 1, 0

    @property
    def rows(self) -> list[Row]:
        """All that are kept."""
        return [*self._older, *self._newest]

    def add(self, row: Row) -> None:
        """Add a row."""
        self._newest.append(row)
        if len(self._newest) <= self._new:
            return
        aged = self._newest.popleft()
        if self._aged % self._step == 0:
            self._older.append(aged)
            if len(self._older) > self._old:
                self._older = self._older[::2]
                self._step *= 2
        self._aged += 1

    def latest(self, count: int) -> list[Row]:
        """The newest rows, at most so many."""
        rows = self._newest if count <= len(self._newest) else self.rows
        return list(rows)[-count:] if count else []
