"""Binary trees in epochs that double, for unknown horizons."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mtcool.privacy.aggregators.aggregator import Blocks, known_horizon
from mtcool.privacy.aggregators.trees import DOUBLING, TreeState, make_tree, norm
from mtcool.privacy.literals import Law, Method
from mtcool.types import Floats, Integers

UNKNOWN = 2**31 - 2  # activations to be ready for when no horizon is given


@dataclass(frozen=True)
class Doubling:
    """Binary trees in epochs of 1, 2, 4, ... activations: no horizon need be known.

    A leaf lies in m + 1 nodes of its epoch m and in no other, so the noise of epoch m grows with
    m + 1 (Laplace) or its root (Gaussian). A `horizon`, if given, is only a limit.

    Examples
    --------
    >>> Doubling().growth(np.arange(1, 8), "laplace").tolist()
    [1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0]
    """

    name: ClassVar[str] = "doubling"
    title: ClassVar[str] = "doubling epochs"
    laws: ClassVar[tuple[Law, ...]] = ("laplace", "gaussian")
    calibrations: ClassVar[tuple[Method, ...]] = ("tight",)
    whole: ClassVar[bool] = True

    def check(self, law: Law, horizon: int | None) -> int:
        """Any law; without a horizon there may be two billion activations."""
        return UNKNOWN if horizon is None else known_horizon(horizon)

    def column_norm(self, horizon: int, law: Law) -> float:
        """The noise of an epoch grows as its column does."""
        return 1.0

    def growth(self, activations: Integers, law: Law) -> Floats:
        """Noise of activation t: m + 1 or its root, where 2^m <= t < 2^(m + 1)."""
        nodes = np.frexp(activations)[1].astype(float)
        return np.sqrt(nodes) if law == "gaussian" else nodes

    def spent(self, activations: int, horizon: int, law: Law) -> float:
        """All of it after the first activation: epoch 0 is a single leaf."""
        return float(activations > 0)

    def variance(self, activations: Integers, horizon: int, law: Law) -> Floats:
        """Roots of all epochs before, and m terms of epoch m."""
        scale = np.array([norm(m + 1, law) for m in range(horizon.bit_length() + 1)]) ** 2
        roots = np.concatenate(([0.0], np.cumsum(scale)))
        epoch = np.frexp(activations + 1)[1] - 1
        pure = activations == 0
        return np.where(pure, 1.0, roots[epoch] + epoch * scale[epoch])

    def make_state(self, blocks: Blocks, law: Law) -> TreeState:
        """Fresh state for the given vectors."""
        slots = np.array([(int(horizon) + 1).bit_length() for horizon in blocks.horizon])
        epochs = np.array([norm(m + 1, law) for m in range(int(slots.max()) + 1)])
        return make_tree(DOUBLING, blocks, slots, slots, np.ones_like(slots), epochs)

    def padding(self, state: TreeState) -> Integers:
        """One draw for each level, and one for the publication before the first activation."""
        return state.terms
