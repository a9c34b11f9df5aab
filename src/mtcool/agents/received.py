"""Which messages have come: late and repeated ones are not taken twice."""

from __future__ import annotations

from mtcool import validation

MOST = 2**53  # numbers travel as doubles, which are exact up to here


class Position:
    """The numbers of one sender that were taken: all up to `last`, and those `beyond` it.

    Messages may overtake each other, so numbers may be missing in between.

    Examples
    --------
    >>> position = Position()
    >>> [position.take(number) for number in (1, 3, 3, 2, 1, 4)]
    [True, True, False, True, False, True]
    >>> position.last, position.beyond
    (4, set())
    """

    __slots__ = ("beyond", "last")

    def __init__(self) -> None:
        self.last = 0
        self.beyond: set[int] = set()

    def has(self, number: int) -> bool:
        """Whether the message of this number was taken."""
        return number <= self.last or number in self.beyond

    def take(self, number: int) -> bool:
        """Note the message of this number; False if it was taken before."""
        if self.has(number):
            return False
        self.beyond.add(number)
        while self.last + 1 in self.beyond:
            self.last += 1
            self.beyond.remove(self.last)
        return True

    def give_up(self, window: int) -> None:
        """Wait no longer for numbers that are so far behind the newest: many may never come.

        Examples
        --------
        >>> position = Position()
        >>> position.take(100), position.give_up(10), position.last, position.take(50)
        (True, None, 90, False)
        """
        newest = max(self.beyond, default=0)
        if newest - self.last <= window:
            return
        self.last = newest - window
        self.beyond = {number for number in self.beyond if number > self.last}
        while self.last + 1 in self.beyond:
            self.last += 1
            self.beyond.remove(self.last)


def checked_number(number: float, least: int = 1) -> int:
    """The number of a message as a whole number; refuses what no agent sends."""
    if type(number) is float and least <= number <= MOST and number.is_integer():
        return int(number)
    found = validation.finite("number", number)
    if not (least <= found <= MOST and found.is_integer()):
        raise ValueError(f"number must be a whole number from {least} to {MOST}, got {number!r}")
    return int(found)
