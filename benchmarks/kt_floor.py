"""The floor of KT: its memory traffic, with one square root and one division per neighbour.

Both loops walk the same arrays in the same order as a round of the protocol: a pass over the active
agent's neighbours that reads their models, and one that updates them. The arithmetic is the least
that keeps the compiler from dropping an access, and stays clear of overflow and subnormal numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Run
from mtcool import Network, Stream
from mtcool.kernels import inline, kernel
from mtcool.learners.mt_ftrl_kt import CLIQUE_RECORD

Floats = NDArray[np.float64]

# Gradients so small that sums over any stream stay small.
FAINT = 1e-6


def floor_run(network: Network, stream: Stream, *, by_hand: bool = False) -> Run:
    """One pass of the floor over a stream, on the network's graph and arrays of its own.

    `by_hand`: written for d = 1, with the point and the gradient in registers.
    """
    peers, dim = network.peers, stream.dim
    graph = (peers.ptr, peers.clique, peers.row, peers.weight)
    arrays = _arrays(peers.clique, dim)
    paid, activations = np.zeros(network.graph.size), np.zeros(network.graph.size, np.int64)
    rounds = (stream.losses.rows, stream.agents, activations, paid)
    if by_hand:
        if dim != 1:
            raise ValueError(f"stream must have dim 1 for the loop by hand, got {dim}")
        return lambda: _touch_by_hand(*graph, *arrays, *rounds)
    models = np.zeros((int(network.graph.neighbourhood_sizes.max()), dim))
    rooms = (models, *np.zeros((2, dim)))
    return lambda: _touch(*graph, *arrays, *rooms, *rounds)


def _arrays(clique: NDArray[Any], dim: int) -> tuple[Floats, Floats, NDArray[np.void]]:
    """What KT keeps: a gradient sum for every row and every clique, and a record of numbers."""
    sizes = np.bincount(clique)
    numbers = np.zeros(len(sizes), CLIQUE_RECORD)
    numbers["size"], numbers["rate"], numbers["coin"] = sizes, 1.0 / sizes, np.sqrt(sizes)
    return np.zeros((int(sizes.sum()), dim)), np.zeros((len(sizes), dim)), numbers


@kernel
def _touch(
    ptr: Any,
    clique: Any,
    row: Any,
    weight: Any,
    gradients: Any,
    total: Any,
    cliques: Any,
    models: Any,
    x: Any,
    gradient: Any,
    losses: Any,
    agents: Any,
    activations: Any,
    paid: Any,
) -> None:
    dim = x.shape[0]
    for t in range(agents.shape[0]):
        i = agents[t]
        first, last = ptr[i], ptr[i + 1]
        for e in range(first, last):
            j, r = clique[e], row[e]
            c = cliques[j]
            factor = c["fraction"] + c["direction"]
            for k in range(dim):
                models[e - first, k] = factor * (gradients[r, k] + total[j, k])
        for k in range(dim):
            x[k] = 0.0
        for e in range(first, last):
            for k in range(dim):
                x[k] += weight[e] * models[e - first, k]
        for k in range(dim):
            gradient[k] = FAINT * (x[k] - losses[t, k])
        activations[i] += 1
        paid[i] += gradient[0]
        for e in range(first, last):
            j, r = clique[e], row[e]
            along = 0.0
            for k in range(dim):
                along += total[j, k]
                gradients[r, k] += weight[e] * gradient[k]
                total[j, k] += weight[e] * gradient[k]
            _touch_numbers(cliques[j], along)


@kernel
def _touch_by_hand(
    ptr: Any,
    clique: Any,
    row: Any,
    weight: Any,
    gradients: Any,
    total: Any,
    cliques: Any,
    losses: Any,
    agents: Any,
    activations: Any,
    paid: Any,
) -> None:
    for t in range(agents.shape[0]):
        i = agents[t]
        x = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            j, r = clique[e], row[e]
            c = cliques[j]
            x += weight[e] * ((c["fraction"] + c["direction"]) * (gradients[r, 0] + total[j, 0]))
        g = FAINT * (x - losses[t, 0])
        activations[i] += 1
        paid[i] += g
        for e in range(ptr[i], ptr[i + 1]):
            j, r = clique[e], row[e]
            along = total[j, 0]
            gradients[r, 0] += weight[e] * g
            total[j, 0] = along + weight[e] * g
            _touch_numbers(cliques[j], along)


@inline
def _touch_numbers(c: Any, along: float) -> None:
    """Every number of a clique read or written, one square root, one division."""
    c["deviation"] += along
    c["outcomes"] += c["direction"] * along
    c["wealth"] += c["fraction"] * along
    c["n"] += 1
    c["fraction"] = along * c["rate"]
    c["direction"] = c["coin"] / np.sqrt(c["rate"] * c["n"] + c["size"])
