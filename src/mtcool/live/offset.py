"""How far the rows of a stream were fed to an agent; it is kept with what the agent has learned."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from mtcool import validation
from mtcool.agents.received import MOST

Place: TypeAlias = "Offset | tuple[int, int]"


class Offset(NamedTuple):
    """The last row of a stream that an agent has learned from.

    Examples
    --------
    >>> Offset(12, 8123).row
    12
    """

    row: int
    """Its number in the stream, from 1 on; 0 before the first."""
    check: int
    """Any number that tells it from other rows, such as a checksum."""


START = Offset(0, 0)


class Repeated(ValueError):
    """An agent has learned from a row before."""


def checked_offset(given: Place) -> Offset:
    """The offset of a row that an agent is to learn from.

    Examples
    --------
    >>> checked_offset((12, 8123))
    Offset(row=12, check=8123)
    """
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ValueError(f"offset must be two numbers, got {given!r}")
    row, check = given
    most = validation.count("offset", row), validation.count("offset", check, 0)
    if max(most) > MOST:
        raise ValueError(f"offset must be numbers of at most {MOST}, got {given!r}")
    return Offset(*most)
