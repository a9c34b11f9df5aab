"""The private settings of a network, checked and plain, as a file keeps them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.privacy.accountant import proper
from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.aggregators.filters import BLT, NoNoise, PerGradient
from mtcool.privacy.aggregators.trees import BinaryTree, Doubling, SmoothTree
from mtcool.privacy.calibration import ADJACENCIES, METHODS, Budget
from mtcool.privacy.noise import NOISES

AGGREGATORS = {
    kind.__name__: kind for kind in (BinaryTree, SmoothTree, BLT, PerGradient, Doubling, NoNoise)
}


@dataclass(frozen=True, kw_only=True)
class Privacy:
    """Levels, horizons and mechanism of all agents; refuses wrong ones."""

    budget: Budget
    horizon: tuple[int, ...]
    aggregator: Aggregator
    calibration: str = "tight"
    adjacency: str = "replace"
    split: float | str = "optimal"
    noise: str = "simulated"

    def __post_init__(self) -> None:
        validation.one_of("calibration", self.calibration, METHODS)
        validation.one_of("adjacency", self.adjacency, tuple(ADJACENCIES))
        validation.one_of("noise", self.noise, NOISES)
        if self.calibration == "paper" and self.split != "optimal":
            raise ValueError(f'split has no meaning for calibration="paper", got {self.split!r}')
        if self.calibration == "paper" and self.adjacency != "replace":
            raise ValueError(
                f'adjacency must be "replace" for calibration="paper", got {self.adjacency!r}'
            )

    @property
    def law(self) -> str:
        """Law of the noise."""
        return "none" if isinstance(self.aggregator, NoNoise) else self.budget.law


def make_privacy(
    labels: Sequence[Hashable],
    *,
    epsilon: ArrayLike | None,
    horizon: ArrayLike | None,
    delta: ArrayLike | None,
    rho: ArrayLike | None,
    aggregator: Aggregator,
    **rest: Any,
) -> Privacy:
    """Settings from what a caller writes: one number, or one for each agent, listed or by name."""
    kind = type(aggregator)
    if AGGREGATORS.get(kind.__name__) is not kind:
        raise ValueError(
            f"aggregator must be one of {', '.join(AGGREGATORS)}, such as BinaryTree(), "
            f"got {aggregator!r}"
        )
    budget = Budget(
        epsilon=_each("epsilon", epsilon, labels, validation.positive),
        delta=_each("delta", delta, labels, proper),
        rho=_each("rho", rho, labels, validation.positive),
    )
    law = "none" if isinstance(aggregator, NoNoise) else budget.law
    given = _each("horizon", horizon, labels, validation.count)
    horizons = (None,) * len(labels) if given is None else given
    return Privacy(
        budget=budget,
        horizon=tuple(aggregator.check(law, number) for number in horizons),
        aggregator=aggregator,
        **rest,
    )


def _each(name: str, value: Any, labels: Sequence[Hashable], check: Any) -> tuple[Any, ...] | None:
    """One checked value for each agent."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        strange = set(value) ^ set(labels)
        if strange:
            raise ValueError(f"{name} must have every agent as a key, and no other, got {strange}")
        value = [value[label] for label in labels]
    if not isinstance(value, list | tuple | np.ndarray) or getattr(value, "ndim", 1) == 0:
        return (check(name, value),) * len(labels)
    if len(value) != len(labels):
        raise ValueError(
            f"{name} must be one number or one for each of the {len(labels)} agents, "
            f"got {len(value)}"
        )
    return tuple(
        check(f"{name} of agent {label!r}", one) for label, one in zip(labels, value, strict=True)
    )
