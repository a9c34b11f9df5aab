"""The binary tree of the paper, Algorithm `TreeBasedAgg`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mtcool.privacy.aggregators.aggregator import Blocks, known_horizon
from mtcool.privacy.aggregators.trees import BINARY, TreeState, make_tree, norm
from mtcool.privacy.literals import Law, Method
from mtcool.types import Floats, Integers


@dataclass(frozen=True)
class BinaryTree:
    """The binary tree of the paper (`TreeBasedAgg`), completed to the same noise at every time.

    A leaf lies in K = floor(log2 T) + 1 nodes; with completion a published sum has K noise terms.

    Examples
    --------
    >>> tree = BinaryTree()
    >>> tree.column_norm(1000, "laplace"), tree.variance(np.arange(4), 7, "laplace").tolist()
    (10.0, [3.0, 3.0, 3.0, 3.0])
    >>> BinaryTree(completed=False).variance(np.arange(8), 7, "laplace").tolist()
    [0.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 3.0]
    """

    completed: bool = True
    name: ClassVar[str] = "binary_tree"
    title: ClassVar[str] = "binary tree"
    laws: ClassVar[tuple[Law, ...]] = ("laplace", "gaussian")
    calibrations: ClassVar[tuple[Method, ...]] = ("tight", "paper")
    whole: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.completed, bool):
            raise ValueError(f"completed must be True or False, got {self.completed!r}")

    def check(self, law: Law, horizon: int | None) -> int:
        """Any law; the horizon must be known."""
        return known_horizon(horizon)

    def column_norm(self, horizon: int, law: Law) -> float:
        """A leaf lies in one node of each level."""
        return norm(horizon.bit_length(), law)

    def growth(self, activations: Integers, law: Law) -> Floats:
        """All nodes have the same noise."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: Law) -> float:
        """After t activations the first leaf lies in bit_length(t) nodes."""
        return norm(activations.bit_length(), law) / norm(horizon.bit_length(), law)

    def variance(self, activations: Integers, horizon: int, law: Law) -> Floats:
        """K at all times, or the number of ones of t without completion."""
        if self.completed:
            return np.full(len(activations), float(horizon.bit_length()))
        return np.bitwise_count(activations).astype(float)

    def make_state(self, blocks: Blocks, law: Law) -> TreeState:
        """Fresh state for the given vectors."""
        slots = np.array([int(horizon).bit_length() for horizon in blocks.horizon])
        terms = slots if self.completed else np.zeros_like(slots)
        return make_tree(BINARY, blocks, slots, terms, np.zeros_like(slots))

    def padding(self, state: TreeState) -> Integers:
        """One draw for each level."""
        return state.terms
