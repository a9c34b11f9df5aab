"""Exact sums: no noise, and no privacy."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mtcool.privacy.aggregators.aggregator import Blocks, known_horizon
from mtcool.privacy.aggregators.filters import PLAIN, FilterState, make_filter
from mtcool.privacy.literals import Law, Method
from mtcool.types import Floats, Integers


@dataclass(frozen=True)
class NoNoise:
    """The identity: sums go out as they are. No privacy; DPMT-CO2OL is then MT-CO2OL.

    Examples
    --------
    >>> NoNoise().variance(np.arange(3), 2, "none").tolist()
    [0.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "none"
    title: ClassVar[str] = "no noise"
    laws: ClassVar[tuple[Law, ...]] = ("none",)
    calibrations: ClassVar[tuple[Method, ...]] = ("tight",)
    whole: ClassVar[bool] = True

    def check(self, law: Law, horizon: int | None) -> int:
        """The horizon must be known, although no noise depends on it."""
        return known_horizon(horizon)

    def column_norm(self, horizon: int, law: Law) -> float:
        """A leaf is one node."""
        return 1.0

    def growth(self, activations: Integers, law: Law) -> Floats:
        """All nodes have the same noise, none."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: Law) -> float:
        """The budget of a leaf is spent once it is published."""
        return float(activations > 0)

    def variance(self, activations: Integers, horizon: int, law: Law) -> Floats:
        """Zero at all times."""
        return np.zeros(len(activations))

    def make_state(self, blocks: Blocks, law: Law) -> FilterState:
        """Fresh state for the given vectors."""
        return make_filter(blocks, [PLAIN] * len(blocks.width))

    def padding(self, state: FilterState) -> Integers:
        """Zero is published before the first activation."""
        return np.zeros_like(state.width)
