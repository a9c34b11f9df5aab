"""What an agent in the field keeps of a neighbour, as long as they are connected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mtcool import validation
from mtcool.agents.messages import FieldRow
from mtcool.graphs.labels import plain_name
from mtcool.types import Floats, Label


class Kept(NamedTuple):
    """A row that has arrived; if few coordinates are sent, the copy that both ends have."""

    number: int
    """The round of the asker that it was asked for in."""
    stamp: float
    """What the clique had received when it gave the row."""
    row: Floats


class Told(NamedTuple):
    """The last answer in few coordinates."""

    copy: Floats
    """The row that the asker has now."""
    answer: FieldRow | None
    """None if it was given before the agent was cut out of its network."""


@dataclass
class Neighbour:
    """A neighbour of an agent in the field."""

    index: int
    """Its place in the order in which agents became known: draws depend on it."""
    score: float = math.inf
    """How much its rows have helped; infinite if none was used."""
    kept: Kept | None = None
    """Its newest row, where rows may be late, lost, or of few coordinates."""
    told: Told | None = None
    memory: Floats | None = None
    """What was left out of the gradients that were sent, where they have few coordinates."""

    def keep(self, arrived: Kept) -> None:
        """Keep a row that has arrived, if it is the newest."""
        if self.kept is None or arrived.number > self.kept.number:
            self.kept = arrived

    def copy_kept(self, dim: int) -> Floats:
        """The agent's copy of the neighbour's row: the sum of what was sent of it."""
        return np.zeros(dim) if self.kept is None else self.kept.row

    def copy_told(self, dim: int) -> Floats:
        """The neighbour's copy of the agent's row."""
        return np.zeros(dim) if self.told is None else self.told.copy


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
