"""Whether an agent speaks in a round, and to whom."""

import numpy as np

from mtcool.field.draws import PICK, SPEAK, draw
from mtcool.field.largest import find_largest
from mtcool.kernels import inline
from mtcool.types import Floats, Integers

FEW = 12  # neighbours, among whom partners are chosen by counting


@inline
def speaks(every: int, probability: float, seed: np.uint64, i: int, n: int) -> bool:
    """Whether agent i speaks in its round n, as far as its budget is not concerned."""
    return n % every == 0 and (probability >= 1.0 or draw(seed, SPEAK, i, 0, n, 0) < probability)


@inline
def choose(
    neighbours: Integers,
    scores: Floats,
    most: int,
    best: bool,
    seed: np.uint64,
    i: int,
    n: int,
    keys: Floats,
    order: Integers,
    chosen: Integers,
) -> int:
    """Write the positions of at most `most` neighbours into `chosen`, ascending; say how many.

    `neighbours` are indices of agents, ascending. The best are those with the largest score,
    infinite for one that was never heard; ties, and partners at random, are settled by draws.
    `keys` and `order` are scratch; they and `chosen` are as long as `neighbours`.
    """
    degree: int = neighbours.shape[0]
    if most >= degree:
        for position in range(degree):
            chosen[position] = position
        return degree
    for position in range(degree):
        keys[position] = -draw(seed, PICK, i, neighbours[position], n, 0)
    first = scores if best else keys
    if degree <= FEW:
        return pick_few(first, keys, degree, most, chosen)
    find_largest(first, keys, degree, most, order)
    # The draws are done with: a mark for each chosen one sorts them.
    for position in range(degree):
        keys[position] = 0.0
    for k in range(most):
        keys[order[k]] = 1.0
    count = 0
    for position in range(degree):
        if keys[position] == 1.0:
            chosen[count] = position
            count += 1
    return count


@inline
def pick_few(first: Floats, second: Floats, size: int, most: int, chosen: Integers) -> int:
    """As `find_largest`, ascending: counting those before each is faster than a heap of few."""
    count = 0
    for a in range(size):
        before, f, s = 0, first[a], second[a]
        for b in range(a):
            before += (first[b] > f) | ((first[b] == f) & (second[b] >= s))
        for b in range(a + 1, size):
            before += (first[b] > f) | ((first[b] == f) & (second[b] > s))
        chosen[count] = a
        count += before < most
    return count
