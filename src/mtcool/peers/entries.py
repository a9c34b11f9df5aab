"""Who listens to which row of which clique, and with what weight."""

from typing import NamedTuple

import numpy as np

from mtcool.types import AnyArray, Floats, Indices, Integers


class Entries(NamedTuple):
    """Who listens to which row of which clique, as in `CliquePeers`."""

    ptr: Integers
    clique: Indices
    row: Indices
    weight: Floats

    @property
    def most(self) -> int:
        """Largest number of models that one agent fetches."""
        return int(np.diff(self.ptr).max())


def freeze(*arrays: AnyArray) -> None:
    """Read-only, as the arrays of a graph are: numba then sees one type, whoever made them."""
    for array in arrays:
        array.setflags(write=False)
