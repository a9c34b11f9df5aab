"""The names of the agents, in node order."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mtcool.types import Given, Name

Indices = NDArray[np.int64]


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
    return range(len(names)) if _counted(names, 0) else names


def continued(labels: Sequence[Hashable], more: Sequence[Hashable]) -> Sequence[Hashable]:
    """Compact labels and some more, compact again; a range of a million is not looked through.

    Examples
    --------
    >>> continued(range(3), [3, 4]), continued(range(2), ["new"])
    (range(0, 5), (0, 1, 'new'))
    """
    if not more:
        return labels
    if isinstance(labels, range) and _counted(more, len(labels)):
        return range(len(labels) + len(more))
    return (*labels, *more)


def _counted(names: Sequence[Hashable], first: int) -> bool:
    """Whether the names are the whole numbers from the first on, in order."""
    return all(
        isinstance(name, int | np.integer) and not isinstance(name, bool) and name == i
        for i, name in enumerate(names, first)
    )


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


ENDLESS = "labels must not be tuples in tuples without end, got one that is"


def plain_name(label: Hashable | Name, purpose: str) -> Name:
    """A label as files and messages hold it, a tuple as a list; refuses what they cannot hold.

    Examples
    --------
    >>> plain_name(("rome", 1), "saved")
    ['rome', 1]
    """
    if type(label) is str or (type(label) is int and -(2**63) <= label < 2**63):
        return label  # nearly all of them
    if isinstance(label, tuple | list):
        try:
            return [plain_name(item, purpose) for item in label]
        except RecursionError:
            raise ValueError(ENDLESS) from None
    if isinstance(label, np.generic) and label.dtype.kind in "biufU":
        label = label.item()
    if label is None or (isinstance(label, bool | float | str) and label == label):
        return label
    if isinstance(label, int) and -(2**63) <= label < 2**63:
        return label
    raise ValueError(
        f"labels must be numbers, strings or tuples of them to be {purpose}, got {label!r}"
    )


def label_of(name: Name) -> Hashable:
    """The label behind a `plain_name`: a list can only have been a tuple.

    Examples
    --------
    >>> label_of(["rome", 1])
    ('rome', 1)
    """
    if not isinstance(name, list):
        return name
    try:
        return tuple(label_of(item) for item in name)
    except RecursionError:
        raise ValueError(ENDLESS) from None


def are_names(values: Given) -> bool:
    """Whether agents are given by name: the first of them is a string, and not an index."""
    try:
        return isinstance(next(iter(values), None), str)
    except TypeError:
        return False


def names_in(name: str, agents: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The names that occur, all of them strings, in the order in which they first do."""
    names = {}
    for agent in agents:
        if not isinstance(agent, str):
            raise ValueError(f"{name} must be strings if labels are not given, got {agent!r}")
        names[str(agent)] = True  # NumPy has strings of its own
    return tuple(names)


def indices_of(name: str, agents: Iterable[Hashable], labels: Sequence[Hashable]) -> Indices:
    """The node indices of agents that are given by name."""
    positions, indices = positions_of(labels), []
    for agent in agents:
        try:
            indices.append(positions[agent])
        except (KeyError, TypeError):
            raise ValueError(f"{name} must be among the labels, got {agent!r}") from None
    return np.array(indices, dtype=np.int64)
