"""Noise on every gradient by itself."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mtcool.privacy.aggregators.aggregator import Blocks, known_horizon
from mtcool.privacy.aggregators.filters import PLAIN, FilterState, make_filter
from mtcool.privacy.literals import Law, Method
from mtcool.types import Floats, Integers


@dataclass(frozen=True)
class PerGradient:
    """Noise on every gradient by itself: the baseline that the paper warns against.

    Examples
    --------
    >>> PerGradient().variance(np.arange(4), 3, "laplace").tolist()
    [1.0, 1.0, 2.0, 3.0]
    """

    name: ClassVar[str] = "per_gradient"
    title: ClassVar[str] = "per-gradient noise"
    laws: ClassVar[tuple[Law, ...]] = ("laplace", "gaussian")
    calibrations: ClassVar[tuple[Method, ...]] = ("tight",)
    whole: ClassVar[bool] = True

    def check(self, law: Law, horizon: int | None) -> int:
        """Any law; the horizon must be known, although the noise does not depend on it."""
        return known_horizon(horizon)

    def column_norm(self, horizon: int, law: Law) -> float:
        """A leaf is one node."""
        return 1.0

    def growth(self, activations: Integers, law: Law) -> Floats:
        """All nodes have the same noise."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: Law) -> float:
        """The budget of a leaf is spent once it is published."""
        return float(activations > 0)

    def variance(self, activations: Integers, horizon: int, law: Law) -> Floats:
        """A sum of t leaves carries t terms."""
        return np.maximum(activations, 1.0)

    def make_state(self, blocks: Blocks, law: Law) -> FilterState:
        """Fresh state for the given vectors."""
        return make_filter(blocks, [PLAIN] * len(blocks.width))

    def padding(self, state: FilterState) -> Integers:
        """One draw for the publication before the first activation."""
        return np.ones_like(state.width)
