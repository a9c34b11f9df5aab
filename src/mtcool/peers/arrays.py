"""The arrays of a state: what a file keeps of it, and what belongs to one agent."""

from collections.abc import Iterator, Mapping

import numpy as np

from mtcool.types import AnyArray, State

LARGEST_SUM = 1e140
"""Of gradients and noise, whose scale is at most 1e100: squares are finite."""


def state_arrays(state: State, prefix: str = "state") -> Iterator[tuple[str, AnyArray]]:
    """Names and arrays of a state, nested states included: what a file must hold of it.

    Not read-only arrays, which never change, nor views of other fields, nor a field `work`, which
    is scratch.
    """
    for name, part in states(state, prefix):
        for field, array in own_arrays(part):
            yield f"{name}.{field}", array


def states(state: State, prefix: str = "state") -> Iterator[tuple[str, State]]:
    """A state and the states inside it, with their names."""
    yield prefix, state
    for name, field in zip(state._fields, state, strict=True):
        if hasattr(field, "_fields") and name != "work":
            yield from states(field, f"{prefix}.{name}")


def own_arrays(state: State) -> Iterator[tuple[str, AnyArray]]:
    """Fields and arrays of a state that a file must hold, without those of states inside it."""
    blocks = {id(field) for field in state if isinstance(field, np.ndarray)}
    for name, field in zip(state._fields, state, strict=True):
        own = isinstance(field, np.ndarray) and field.flags.writeable
        if own and name != "work" and id(field.base) not in blocks:
            yield name, field


def restore(state: State, arrays: Mapping[str, AnyArray]) -> None:
    """Copy saved arrays, which fit, into a fresh state."""
    for name, array in state_arrays(state):
        array[...] = arrays[name]
