"""The axes of a state: what its arrays have an entry for.

A state says once, beside its NamedTuple, what each of its arrays runs along: cliques, rows of
cliques, experts. What takes some cliques out of a network, puts agents together, saves them or
makes a state larger works on that, for every state alike.
"""

import functools
import operator
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mtcool.types import AnyArray, Integers, State

CLIQUE = "clique"
"""The virtual clique of an agent's neighbourhood."""
ROW = "row"
"""Of a clique: one for each agent whose task the clique has a model of."""
EXPERT = "expert"
"""Of MT-FTRL with Hedge, in a clique."""
RECORD = "record"
"""Of experts: what is known of each stands in the rows of one array."""
PRODUCT = "product"
"""Of a published sum and an expert's point."""
AGENT = "agent"
"""Of a network, in the state of an aggregator or of a panel."""
LINK = "link"
"""Of an agent to a neighbour."""
FEATURE = "feature"
VECTOR = "vector"
"""Numbers for each feature: there are as many of them for all."""
COORDINATE = "coordinate"
"""Of what an agent publishes."""
SLOT = "slot"
"""Of a tree of partial sums, times coordinates."""
PADDING = "padding"
"""Draws of pure noise, times coordinates."""
BUFFER = "buffer"
"""Of a filter; an agent alone may need fewer than its network has, and the others stay zero."""

Axes: TypeAlias = tuple[str, ...]
Index: TypeAlias = slice | Integers

_AXES: dict[type, dict[str, Axes]] = {}


def set_axes(kind: type, **axes: str | Axes) -> None:
    """Say what the arrays of a state run along, once for each kind of state.

    Parameters
    ----------
    kind
        The NamedTuple.
    axes
        For each array that changes its axis, or a tuple of its first axes. A column of records
        stands as `array.column`. Arrays that are not named are constants, scratch, or views of
        other arrays.

    Examples
    --------
    >>> class Mean(NamedTuple):
    ...     total: AnyArray
    ...     n: AnyArray
    >>> set_axes(Mean, total=ROW, n=CLIQUE)
    """
    _AXES[kind] = {name: (axis,) if isinstance(axis, str) else axis for name, axis in axes.items()}


def axes_of(state: State) -> Mapping[str, Axes]:
    """What `set_axes` was called with for the state."""
    axes = _AXES.get(type(state))
    if axes is None and any(True for _ in own_arrays(state)):
        raise ValueError(
            f"state must say what its arrays run along, got {type(state).__name__}, for which "
            "mtcool.learners.set_axes was not called"
        )
    return axes or {}


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


def state_arrays(state: State, prefix: str = "state") -> Iterator[tuple[str, AnyArray]]:
    """Names and arrays of a state, nested states included: what a file must hold of it.

    Not read-only arrays, which never change, nor views of other fields, nor a field `work`, which
    is scratch.
    """
    for name, part in states(state, prefix):
        for field, array in own_arrays(part):
            yield f"{name}.{field}", array


def restore(state: State, arrays: Mapping[str, AnyArray]) -> None:
    """Copy saved arrays, which fit, into a fresh state."""
    for name, array in state_arrays(state):
        array[...] = arrays[name]


class Span(NamedTuple):
    """The entries of some cliques along one axis: for each clique a block of them."""

    first: Integers
    length: Integers

    @classmethod
    def one(cls, first: int, last: int) -> "Span":
        """One block, without its `last` entry."""
        return cls(np.array([first]), np.array([last - first]))

    @classmethod
    def between(cls, start: Integers, blocks: Index) -> "Span":
        """Blocks of which block b has the entries start[b]:start[b + 1]."""
        first = start[:-1][blocks]
        return cls(first, start[1:][blocks] - first)

    @property
    def entries(self) -> Index:
        """An index of all entries, one block after the other.

        Examples
        --------
        >>> Span.one(3, 5).entries
        slice(3, 5, None)
        >>> Span(np.array([7, 0]), np.array([2, 3])).entries
        array([7, 8, 0, 1, 2])
        """
        if len(self.first) == 1:
            return slice(int(self.first[0]), int(self.first[0] + self.length[0]))
        return counted(self.first, self.length)


def counted(first: Integers, length: Integers) -> Integers:
    """All places of blocks that begin at `first`, one block after the other.

    Examples
    --------
    >>> counted(np.array([7, 0]), np.array([2, 3]))
    array([7, 8, 0, 1, 2])
    """
    length = length.astype(np.int64)
    start = np.cumsum(length) - length
    return np.repeat(first - start, length) + np.arange(length.sum())


class Location(NamedTuple):
    """Where some cliques are in a state."""

    cliques: Span
    rows: Span

    @classmethod
    def of(cls, clique: int, first: int = 0, last: int = 0) -> "Location":
        """One clique, whose rows are first:last."""
        return cls(Span.one(clique, clique + 1), Span.one(first, last))


@functools.singledispatch
def spans(state: State, location: Location) -> dict[str, Span]:
    """The entries of some cliques along each axis of a state.

    A state with other axes than cliques and rows has an implementation of its own.
    """
    return {CLIQUE: location.cliques, ROW: location.rows, AGENT: location.cliques}


def index_of(state: State, name: str, location: Location) -> tuple[Index, ...] | None:
    """An index of what some cliques have of an array; None if it is a constant."""
    axes = axes_of(state).get(name)
    return None if axes is None else _index(axes, spans(state, location), {})


def _index(axes: Axes, found: Mapping[str, Span], lengths: Mapping[str, int]) -> tuple[Index, ...]:
    return tuple(
        found[axis].entries if axis in found else slice(lengths.get(axis)) for axis in axes
    )


class Pair(NamedTuple):
    """What some cliques have of the same array in two states."""

    name: str
    source: AnyArray
    """A view for one clique, else a copy."""
    target: AnyArray
    """The whole array."""
    where: tuple[Index, ...]
    """Index of what the cliques have in the target."""


def pairs(source: State, there: Location, target: State, here: Location) -> Iterator[Pair]:
    """What some cliques have in two states, which hold them at different places."""
    for (_, one), (_, two) in zip(states(source), states(target), strict=True):
        its, own = spans(one, there), spans(two, here)
        for name, axes in axes_of(two).items():
            field = operator.attrgetter(name.partition(".")[0])
            column = name.partition(".")[2]
            a, b = (field(part)[column] if column else field(part) for part in (one, two))
            if not b.flags.writeable:
                continue  # a constant, the same for all who have such cliques
            lengths = {BUFFER: min(len(a), len(b))}
            values, index = a[_index(axes, its, lengths)], _index(axes, own, lengths)
            if values.shape != b[index].shape:
                raise ValueError(
                    f"{name} of {type(two).__name__} must run along {', '.join(axes)}, got "
                    f"{values.shape} where a clique has {b[index].shape}"
                )
            yield Pair(name, values, b, index)


def copy_cliques(source: State, there: Location, target: State, here: Location) -> None:
    """Copy all that some cliques know to their places in another state."""
    for pair in pairs(source, there, target, here):
        pair.target[pair.where] = pair.source


def copy_along(axis: str, source: State, its: Index | int, target: State, own: Index | int) -> None:
    """Copy entries of all arrays that run along an axis first.

    Where one state has room for more along another axis, what both have is copied.
    """
    for name, axes in axes_of(target).items():
        if axes[0] == axis:
            a, b = getattr(source, name), getattr(target, name)
            both = tuple(map(slice, map(min, a.shape[1:], b.shape[1:])))
            b[(own, *both)] = a[(its, *both)]


def enlarged(state: State, lengths: Mapping[str, int]) -> State:
    """The same state with at least so many entries along each axis.

    What stands behind the part in use is never read before it is written, so it takes addresses
    and no memory until then. Arrays that are long enough are those of before.
    """
    new: dict[str, Any] = {}
    for name, field in zip(state._fields, state, strict=True):
        if hasattr(field, "_fields") and name != "work":
            new[name] = enlarged(field, lengths)
    for name, axes in axes_of(state).items():
        field = name.partition(".")[0]
        new[field] = longer(getattr(state, field), *(lengths.get(axis, 0) for axis in axes))
    blocks = {id(getattr(state, name)): name for name in new}
    for name, field in zip(state._fields, state, strict=True):
        block = blocks.get(id(getattr(field, "base", None)))
        if block is not None:
            new[name] = new[block][name]  # a column that is a field, too
    return state._replace(**new)


def longer(array: AnyArray, *lengths: int) -> AnyArray:
    """The array, if it has so many entries and can be written to, else a copy that has.

    New entries are zero.

    Examples
    --------
    >>> longer(np.array([1.0, 2.0]), 3)
    array([1., 2., 0.])
    """
    shape = tuple(map(max, array.shape, (*lengths, *array.shape[len(lengths) :])))
    if shape == array.shape and array.flags.writeable and array.flags.c_contiguous:
        return array
    new = np.zeros(shape, array.dtype)
    new[tuple(map(slice, array.shape))] = array
    return new
