"""What is kept of agents, in plain values: arrays as raw bytes, and what was taken of senders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Annotated, NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np

from mtcool.agents.received import MOST, Position
from mtcool.graphs.labels import label_of, plain_name
from mtcool.types import AnyArray, Label, Name, Plain

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Index: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
Contents: TypeAlias = dict[str, bytes]
_Value = TypeVar("_Value")


class PackedPosition(NamedTuple):
    """What was taken of a sender."""

    name: Name
    last: Count
    beyond: list[Count]


def packed_positions(heard: Mapping[Label, Position]) -> Plain:
    """What was taken of each sender."""
    return [
        [plain_name(name, "kept"), position.last, sorted(position.beyond)]
        for name, position in heard.items()
    ]


def positions_in(
    packed: Sequence[PackedPosition], known: Set[Label] | None = None
) -> dict[Label, Position]:
    """What was taken of each sender; refuses senders that are not known, if all are."""
    heard: dict[Label, Position] = {}
    for name, (_, last, beyond) in by_name([(one.name, one) for one in packed], known).items():
        if any(number <= last + 1 for number in beyond):
            raise ValueError(f"numbers beyond {last} must not follow it at once, got {beyond}")
        position = heard[name] = Position()
        position.last, position.beyond = last, set(beyond)
    return heard


def by_name(
    pairs: Iterable[tuple[Name, _Value]], known: Set[Label] | None = None
) -> dict[Label, _Value]:
    """Values by the names of agents; refuses names that come twice, and those of strangers."""
    found: dict[Label, _Value] = {}
    for name, value in pairs:
        label = label_of(name)
        plain_name(label, "kept")  # refuses what cannot be written again
        if label in found or (known is not None and label not in known):
            raise ValueError(f"agents must be known, and named once, got {label!r}")
        found[label] = value
    return found


def bytes_of(arrays: Iterable[tuple[str, AnyArray]]) -> Contents:
    """The contents of arrays by their names."""
    return {name: array.tobytes() for name, array in arrays}


def arrays_in(
    arrays: Iterable[tuple[str, AnyArray]], kept: Mapping[str, bytes]
) -> dict[str, AnyArray]:
    """The arrays in kept bytes, of the types and shapes of these; refuses those of others."""
    found: dict[str, AnyArray] = {}
    for name, array in arrays:
        content = kept.get(name, b"")
        if len(content) != array.nbytes:
            raise ValueError(
                f"{name} must have {array.nbytes} bytes, got {len(content)}: it was kept by a "
                "network with other settings"
            )
        found[name] = np.frombuffer(content, array.dtype).reshape(array.shape)
    return found
