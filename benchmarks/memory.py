"""Bytes: of arrays, each block of memory counted once, and of the whole process."""

import re
import resource
from collections.abc import Iterator
from pathlib import Path
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
    sums, weights = entries * network.settings.dim * 8, entries * 8
    return sums + weights + network.graph.ptr.nbytes + network.graph.idx.nbytes


def peak_bytes() -> int:
    """The most memory that this process has had.

    `getrusage` tells it too, but a child of a large process inherits the parent's number there.
    """
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    kilobytes = int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 1024 * kilobytes


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
