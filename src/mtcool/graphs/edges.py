"""From a list of edges to the closed neighbourhoods of a graph, without a Python loop per edge."""

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mtcool import memory
from mtcool.graphs.labels import are_names, names_in
from mtcool.types import Given

Indices = NDArray[np.int64]

# Neighbours are stored as int32.
LARGEST_SIZE = 2**31 - 1

# Memory that it takes to make a graph, in bytes.
_AGENT, _EDGE = 60, 80


def check_size(name: str, value: object, agents: int, pairs: float, p: float = 1.0) -> None:
    """Refuse the argument `name` if a graph of that size cannot be made here.

    A share `p` of the pairs of agents are edges.
    """
    # Beyond that the numbers themselves would not fit.
    size = _AGENT * min(agents, 1e100) + _EDGE * p * min(pairs, 1e100)
    memory.require(name, value, size)
    if agents > LARGEST_SIZE:
        raise ValueError(f"{name} must be at most {LARGEST_SIZE}, got {value!r}")


def node_indices(name: str, values: Given, size: int) -> Indices:
    """A new array, of any shape, of whole numbers from 0 to `size` - 1."""
    try:
        array = np.asarray(values if hasattr(values, "__array__") else list(values))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of node indices, got {values!r}") from None
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers, got {array.flat[0]!r} of {array.dtype}")
    if array.size and (array.min() < 0 or array.max() >= size):
        bad = array[(array < 0) | (array >= size)].flat[0]
        raise ValueError(f"{name} must be between 0 and {size - 1}, got {bad}")
    return array.astype(np.int64)


def index_pairs(edges: Given, size: int) -> Indices:
    """Edges given by node indices, as an (E, 2) array."""
    array = node_indices("edges", edges, size)
    if array.size and array.shape[1:] != (2,):
        raise ValueError(f"edges must be pairs of nodes, got an array of shape {array.shape}")
    return array.reshape(-1, 2)


def names_of_ends(edges: Sequence[object] | NDArray[np.generic]) -> tuple[Hashable, ...] | None:
    """The names in edges by name; None if the first edge does not begin with a string."""
    if len(edges) == 0 or isinstance(edges[0], str) or not are_names(edges[0]):
        return None
    ends = (edge if isinstance(edge, Iterable) else (edge,) for edge in edges)
    return names_in("edges", itertools.chain.from_iterable(ends))


def label_pairs(edges: Given, positions: Mapping[Hashable, int]) -> Indices:
    """Edges given by labels, as an (E, 2) array of node indices."""
    if not isinstance(edges, Iterable):
        raise ValueError(f"edges must be pairs of labels, got {edges!r}")
    flat: list[int] = []
    for edge in edges:
        try:
            u, v = edge
            flat += (positions[u], positions[v])
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"edges must be pairs of labels, got {edge!r}") from None
    return np.array(flat, dtype=np.int64).reshape(-1, 2)


def closed_neighbourhoods(pairs: Indices, size: int) -> tuple[Indices, NDArray[np.int32]]:
    """CSR arrays (ptr, idx) of the closed neighbourhoods; repeated edges and loops merge."""
    u, v = pairs[:, 0], pairs[:, 1]
    itself = np.arange(size) * (size + 1)
    # Entry (i, j) as one number, so that one sort orders rows and neighbours and finds the copies.
    keys = np.concatenate((u * size + v, v * size + u, itself))
    keys.sort()
    keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
    ptr = np.searchsorted(keys, np.arange(size + 1) * size).astype(np.int64)
    return ptr, (keys % size).astype(np.int32)
