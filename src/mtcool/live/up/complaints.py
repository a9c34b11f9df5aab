"""Complaints about rows: a few of each kind are told, each once, and all are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

FEW = 5
"""Different complaints of one kind that are told."""


class Complaints:
    """Tells what is wrong with rows.

    Parameters
    ----------
    tell
        Takes sentences for people.

    Examples
    --------
    >>> complaints = Complaints(print)
    >>> for line in range(1, 9):
    ...     complaints.tell("left out", f"line {line} is left out")
    line 1 is left out
    line 2 is left out
    line 3 is left out
    line 4 is left out
    line 5 is left out, and so on
    >>> complaints.counted["left out"]
    8
    >>> for _ in range(9):
    ...     complaints.tell("waiting", "agent rome waits")
    agent rome waits
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.counted: Counter[str] = Counter()
        """How many there were of each kind."""
        self._told: dict[str, set[str]] = {}

    def tell(self, kind: str, sentence: str) -> None:
        """Complain."""
        self.counted[kind] += 1
        told = self._told.setdefault(kind, set())
        if sentence not in told and len(told) < FEW:
            told.add(sentence)
            self._tell(sentence + (", and so on" if len(told) == FEW else ""))
