"""The names of the agents, in node order."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np


def compact_labels(labels: Iterable[Hashable]) -> Sequence[Hashable]:
    """The labels as a tuple, or as a range if they are 0, 1, 2, ... in order."""
    if isinstance(labels, range) and labels and labels == range(len(labels)):
        return labels
    try:
        names = tuple(labels)
    except TypeError:
        raise ValueError(f"labels must be a sequence of names, got {labels!r}") from None
    if not names:
        raise ValueError(f"labels must not be empty, got {labels!r}")
    counted = all(
        isinstance(name, int | np.integer) and not isinstance(name, bool) and name == i
        for i, name in enumerate(names)
    )
    return range(len(names)) if counted else names


def positions_of(labels: Sequence[Hashable]) -> dict[Hashable, int]:
    """The node index of every label; labels are hashable and distinct."""
    positions: dict[Hashable, int] = {}
    for i, label in enumerate(labels):
        try:
            first = positions.setdefault(label, i)
        except TypeError:
            raise ValueError(f"labels must be hashable, got {label!r}") from None
        if first != i:
            raise ValueError(f"labels must be distinct, got {label!r} twice")
    return positions
