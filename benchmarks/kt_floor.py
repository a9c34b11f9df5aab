"""The floor of KT: its memory traffic, with one square root and one division per neighbour.

Both loops walk the same arrays in the same order as a round of the protocol: a pass over the active
agent's neighbours that reads their models, and one that updates them. The arithmetic is the least
that keeps the compiler from dropping an access, and stays clear of overflow and subnormal numbers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Run
from mtcool import Network, Stream
from mtcool.kernels import kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Gradients so small that sums over any stream stay small.
FAINT = 1e-6


class Arrays(NamedTuple):
    """What KT keeps: a gradient sum for every row, and these numbers for every clique."""

    start: Integers
    gradients: Floats
    total: Floats
    deviation: Floats
    direction: Floats
    bet: Floats
    outcomes: Floats
    reward: Floats
    n: Integers
    rate: Floats
    coin: Floats


def floor_run(network: Network, stream: Stream, *, by_hand: bool = False) -> Run:
    """One pass of the floor over a stream, on the network's graph and arrays of its own.

    `by_hand`: written for d = 1, with the point, the gradient and the messages in registers.
    """
    peers, dim = network.peers, stream.dim
    graph = (peers.ptr, peers.clique, peers.row, peers.weight)
    arrays = _arrays(peers.clique, dim)
    paid, activations = np.zeros(network.graph.size), np.zeros(network.graph.size, np.int64)
    rounds = (stream.losses[0], stream.agents, activations, paid)
    if by_hand:
        if dim != 1:
            raise ValueError(f"stream must have dim 1 for the loop by hand, got {dim}")
        return lambda: _touch_by_hand(*graph, *arrays, *rounds)
    models = np.zeros((int(network.graph.neighbourhood_sizes.max()), dim))
    rooms = (models, *np.zeros((3, dim)))
    return lambda: _touch(*graph, *arrays, *rooms, *rounds)


def _arrays(clique: NDArray[Any], dim: int) -> Arrays:
    sizes = np.bincount(clique)
    start = np.concatenate(([0], np.cumsum(sizes)))
    numbers = {name: np.zeros(len(sizes)) for name in Arrays._fields[3:]}
    numbers |= {"n": np.zeros(len(sizes), np.int64), "rate": 1.0 / sizes, "coin": np.sqrt(sizes)}
    gradients, total = np.zeros((start[-1], dim)), np.zeros((len(sizes), dim))
    return Arrays(start, gradients, total, **numbers)


@kernel
def _touch(
    ptr: Any,
    clique: Any,
    row: Any,
    weight: Any,
    start: Any,
    gradients: Any,
    total: Any,
    deviation: Any,
    direction: Any,
    bet: Any,
    outcomes: Any,
    reward: Any,
    n: Any,
    rate: Any,
    coin: Any,
    models: Any,
    message: Any,
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
            c, r = clique[e], row[e]
            factor = bet[c] + direction[c]
            for k in range(dim):
                models[e - first, k] = factor * (gradients[r, k] + total[c, k])
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
            c, r = clique[e], row[e]
            for k in range(dim):
                message[k] = weight[e] * gradient[k]
            along = 0.0
            for k in range(dim):
                along += total[c, k]
                gradients[r, k] += message[k]
                total[c, k] += message[k]
            deviation[c] += along
            outcomes[c] += direction[c] * along
            reward[c] += bet[c] * along
            n[c] += 1
            bet[c] = along * rate[c]
            size = start[c + 1] - start[c]
            direction[c] = coin[c] / np.sqrt(rate[c] * n[c] + size)


@kernel
def _touch_by_hand(
    ptr: Any,
    clique: Any,
    row: Any,
    weight: Any,
    start: Any,
    gradients: Any,
    total: Any,
    deviation: Any,
    direction: Any,
    bet: Any,
    outcomes: Any,
    reward: Any,
    n: Any,
    rate: Any,
    coin: Any,
    losses: Any,
    agents: Any,
    activations: Any,
    paid: Any,
) -> None:
    for t in range(agents.shape[0]):
        i = agents[t]
        x = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            c, r = clique[e], row[e]
            x += weight[e] * ((bet[c] + direction[c]) * (gradients[r, 0] + total[c, 0]))
        g = FAINT * (x - losses[t, 0])
        activations[i] += 1
        paid[i] += g
        for e in range(ptr[i], ptr[i + 1]):
            c, r = clique[e], row[e]
            along = total[c, 0]
            gradients[r, 0] += weight[e] * g
            total[c, 0] = along + weight[e] * g
            deviation[c] += along
            outcomes[c] += direction[c] * along
            reward[c] += bet[c] * along
            n[c] += 1
            bet[c] = along * rate[c]
            size = start[c + 1] - start[c]
            direction[c] = coin[c] / np.sqrt(rate[c] * n[c] + size)
