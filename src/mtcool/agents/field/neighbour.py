"""What an agent in the field keeps of a neighbour, as long as they are connected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mtcool import validation
from mtcool.graphs.labels import plain_name
from mtcool.types import Floats, Label


class ArrivedRow(NamedTuple):
    """A row that has arrived."""

    number: int
    """The round of the asker that it was asked for in."""
    stamp: float
    """What the clique had received when it gave the row."""
    row: Floats


@dataclass
class Neighbour:
    """A neighbour of an agent in the field."""

    index: int
    """Its place in the order in which agents became known: draws depend on it."""
    score: float = math.inf
    """How much its rows have helped; infinite if none was used."""
    kept: ArrivedRow | None = None
    """Its newest row, where rows may be late or lost."""

    def keep(self, arrived: ArrivedRow) -> None:
        """Keep a row that has arrived, if it is the newest."""
        if self.kept is None or arrived.number > self.kept.number:
            self.kept = arrived


def check_new(
    name: Label, index: int, there: Mapping[Label, Neighbour], new: Mapping[Label, int]
) -> None:
    """Refuse neighbours, by their indices, that an agent of this name and index cannot get."""
    taken = {neighbour.index: other for other, neighbour in there.items()} | {index: name}
    for other, place in new.items():
        plain_name(other, "sent")
        validation.count("index", place, least=0)
        if other == name or other in there:
            raise ValueError(f"neighbour must be a new one, got {other!r}")
        if taken.setdefault(place, other) != other:
            raise ValueError(f"index must be that of {taken[place]!r} only, got {place!r}")
