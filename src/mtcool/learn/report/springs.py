"""Places for the nodes of a graph: as far from each other as the path between them is long."""

import numpy as np

from mtcool.graphs import Graph
from mtcool.types import Floats

ROUNDS = 200
"""Of the improvement of the places; none makes them worse."""


def places_of(graph: Graph) -> Floats:
    """Places in the plane at which straight distances are nearly those on the graph.

    Classical scaling gives a first guess, which majorisation improves: each round solves for
    springs of the lengths of the paths (Gansner, Koren and North 2004). Parts of the graph that no
    path joins are two steps farther apart than anything else.

    Examples
    --------
    >>> import mtcool
    >>> at = places_of(mtcool.graphs.ring(4))
    >>> sides = np.linalg.norm(at - np.roll(at, 1, axis=0), axis=1)
    >>> bool(np.ptp(sides) < 1e-6)
    True
    """
    far = distances(graph)
    size = graph.size
    square = far**2
    centred = square - square.mean(axis=0) - square.mean(axis=1)[:, np.newaxis] + square.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    widest = [-1, -2]
    at: Floats = vectors[:, widest] * np.sqrt(np.maximum(values[widest], 1e-9))
    apart = far + np.eye(size)
    pull = 1.0 / apart**2
    np.fill_diagonal(pull, 0.0)
    inverse = np.linalg.inv(np.diag(pull.sum(axis=1)) - pull + 1.0 / size)  # but for a shift
    for _ in range(ROUNDS):
        now = np.linalg.norm(at[:, np.newaxis] - at, axis=2)
        ratio = pull * apart / np.maximum(now, 1e-9)
        np.fill_diagonal(ratio, 0.0)
        at = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ at
    return at


def distances(graph: Graph) -> Floats:
    """The number of edges between any two nodes."""
    near = np.zeros((graph.size, graph.size), np.float32)
    for node in range(graph.size):
        near[node, graph.neighbours(node)] = 1.0  # itself is among them
    found, reached, steps = np.zeros((graph.size, graph.size)), np.eye(graph.size) > 0, 0
    while True:
        farther = (reached.astype(np.float32) @ near > 0) & ~reached
        if not farther.any():
            break
        steps += 1
        found[farther] = steps
        reached |= farther
    found[~reached] = steps + 2
    return found
