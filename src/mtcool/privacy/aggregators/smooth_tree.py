"""The smooth tree (Andersson and Pagh, 2023): the same noise at every time, and less of it."""

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mtcool.kernels import kernel
from mtcool.privacy.aggregators.aggregator import Blocks, known_horizon
from mtcool.privacy.aggregators.trees import (
    SMOOTH,
    TreeState,
    lowest_one,
    make_tree,
    next_word,
    nodes_of,
    norm,
)
from mtcool.privacy.literals import Law, Method
from mtcool.types import Floats, Integers


@dataclass(frozen=True)
class SmoothTree:
    """The smooth tree: z nodes for each leaf and k noise terms for each sum, whatever the time.

    z and k are chosen for the horizon and the law: least k z^2 (Laplace) or k z (Gaussian).

    Examples
    --------
    >>> SmoothTree().shape(1000, "laplace"), SmoothTree().shape(1_000_000, "laplace")
    ((3, 17), (6, 27))
    """

    name: ClassVar[str] = "smooth_tree"
    title: ClassVar[str] = "smooth tree"
    laws: ClassVar[tuple[Law, ...]] = ("laplace", "gaussian")
    calibrations: ClassVar[tuple[Method, ...]] = ("tight",)
    whole: ClassVar[bool] = True

    def check(self, law: Law, horizon: int | None) -> int:
        """Any law; the horizon must be known."""
        return known_horizon(horizon)

    def shape(self, horizon: int, law: Law) -> tuple[int, int]:
        """(z, k): zeros and ones of the words; there must be horizon + 1 words."""
        return _shape(horizon, 1 if law == "gaussian" else 2)

    def column_norm(self, horizon: int, law: Law) -> float:
        """A leaf lies in a node for each zero of its word."""
        return norm(self.shape(horizon, law)[0], law)

    def growth(self, activations: Integers, law: Law) -> Floats:
        """All nodes have the same noise."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: Law) -> float:
        """Most nodes that a leaf lies in so far, over z."""
        z, k = self.shape(horizon, law)
        nodes = int(_deepest((1 << k) - 1, activations, np.zeros(64, np.int64)))
        return norm(nodes, law) / norm(z, law)

    def variance(self, activations: Integers, horizon: int, law: Law) -> Floats:
        """k at all times."""
        return np.full(len(activations), float(self.shape(horizon, law)[1]))

    def make_state(self, blocks: Blocks, law: Law) -> TreeState:
        """Fresh state for the given vectors."""
        shapes = np.array([self.shape(int(horizon), law) for horizon in blocks.horizon])
        ones = shapes[:, 1]
        return make_tree(SMOOTH, blocks, shapes.sum(1), ones, 2**ones - 1)

    def padding(self, state: TreeState) -> Integers:
        """One draw for each one of a word."""
        return state.terms


@functools.lru_cache(maxsize=1024)
def _shape(horizon: int, power: int) -> tuple[int, int]:
    """Zeros z and ones k of words of at most 62 bits, with the least k z^power."""
    shapes = []
    for z in range(1, 62):
        k = 1
        while z + k <= 62 and math.comb(z + k, z) <= horizon:
            k += 1
        if z + k <= 62:
            shapes.append((k * z**power, z, k))
    _, z, k = min(shapes)
    return z, k


@kernel
def _deepest(word: int, activations: int, depth: Integers) -> int:
    """Most nodes of a smooth tree that contain one leaf after so many activations."""
    deepest = 0
    for _ in range(activations):
        old = nodes_of(SMOOTH, word)
        word = next_word(SMOOTH, word)
        p = lowest_one(nodes_of(SMOOTH, word))
        most = 0
        for b in range(p):
            if (old >> b) & 1:
                most = max(most, depth[b])
        depth[p] = most + 1
        deepest = max(deepest, most + 1)
    return deepest
