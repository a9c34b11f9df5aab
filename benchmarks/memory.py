"""Bytes of arrays, each block of memory counted once."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mtcool import Network


def state_bytes(network: Network) -> int:
    """All that a network keeps: graph, weights, peers and the learner's state."""
    graph = network.graph
    kept = (graph.ptr, graph.idx, graph.neighbourhood_sizes, network.weights, network.peers)
    blocks = {id(block): block.nbytes for block in map(_block, _arrays(kept))}
    return sum(blocks.values())


def raw_bytes(network: Network) -> int:
    """What no implementation can do without: gradient sums, the graph's rows, the weights."""
    entries = network.peers.weight.size
    sums, weights = entries * network.setup.dim * 8, entries * 8
    return sums + weights + network.graph.ptr.nbytes + network.graph.idx.nbytes


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _arrays(item)


def _block(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
