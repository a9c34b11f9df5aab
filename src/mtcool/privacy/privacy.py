"""`Privacy`: how private the agents of a network are to be, as a caller writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from mtcool import validation
from mtcool.privacy.accountant import proper
from mtcool.privacy.aggregators import AGGREGATORS, DEFAULT, Aggregator
from mtcool.privacy.aggregators.aggregator import check_law
from mtcool.privacy.calibration import Budget, share_of
from mtcool.privacy.literals import Adjacency, Law, Method, Source
from mtcool.privacy.settings import PrivacySettings
from mtcool.types import Given, Label

N = TypeVar("N", int, float)

Levels: TypeAlias = (
    float | Sequence[float] | NDArray[np.floating | np.integer] | Mapping[Label, float]
)
"""One number, or one for each agent, in node order or by name."""
Horizons: TypeAlias = int | Sequence[int] | NDArray[np.integer] | Mapping[Label, int]


@dataclass(frozen=True)
class Privacy:
    """Privacy levels of the agents, and the mechanism that keeps them (`docs/privacy.md`).

    What can be checked without a graph is checked at once. One value serves any number of networks;
    the seed of the noise is an argument of `mtcool.dpmt_co2ol`.

    Parameters
    ----------
    epsilon, delta
        Privacy levels: one number, or one for each agent, as a sequence in node order or as a
        mapping by name. Without `delta` privacy is pure and the noise is Laplace; with it the noise
        is Gaussian.
    horizon
        The most activations of an agent, one number or one for each; beyond it `update` refuses.
        The horizon of `rates="estimated"` is another number: it counts all rounds.
    rho
        Zero-concentrated privacy in place of epsilon and delta; the noise is Gaussian.
    aggregator
        `BinaryTree()`, the paper's and the default; `SmoothTree()`, less noise; `BLT()`, much less,
        Gaussian; `PerGradient()`; `Doubling()` for an unknown horizon; `NoNoise()`.
    calibration
        "tight" spends exactly the budget; "paper" is the published noise, whose true epsilon the
        network's `repr` and `ledger` tell.
    adjacency
        "replace" protects against replacing one loss by any other, "zero-out" against removing it.
    split
        Share of the budget for the gradients; "optimal" has the least regret bound.
    noise
        "simulated": NumPy's generator, for simulation; "exact": OpenDP's samplers, for deployment.

    Examples
    --------
    >>> Privacy(epsilon=1.0, horizon=100)
    Privacy(epsilon=1.0, horizon=100)
    >>> Privacy(epsilon={"rome": 1.0, "milan": 0.5}, horizon=100, delta=1e-6).law
    'gaussian'
    >>> Privacy(epsilon=0.0, horizon=100)
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be positive, got 0.0
    """

    epsilon: Levels | None = None
    horizon: Horizons | None = None
    _: KW_ONLY
    delta: Levels | None = None
    rho: Levels | None = None
    aggregator: Aggregator = DEFAULT
    calibration: Method = "tight"
    adjacency: Adjacency = "replace"
    split: float | Literal["optimal"] = "optimal"
    noise: Source = "simulated"

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            object.__setattr__(self, name, _plain(name, getattr(self, name), check))
        if (self.epsilon is None) == (self.rho is None):
            got = "neither" if self.rho is None else "both"
            raise ValueError(f"one of epsilon and rho must be given, got {got}")
        if self.rho is not None and self.delta is not None:
            raise ValueError(f"delta has no meaning with rho, got {self.delta!r}")
        kind = type(self.aggregator)
        if AGGREGATORS.get(getattr(kind, "name", "")) is not kind:
            kinds = ", ".join(f"{known.__name__}()" for known in AGGREGATORS.values())
            raise ValueError(f"aggregator must be one of {kinds}, got {self.aggregator!r}")
        validation.one_of("calibration", self.calibration, get_args(Method))
        validation.one_of("adjacency", self.adjacency, get_args(Adjacency))
        validation.one_of("noise", self.noise, get_args(Source))
        share_of(self.split)
        check_law(self.aggregator, self.law)
        for horizon in set(_listed(self.horizon)):
            self.aggregator.check(self.law, horizon)
        if self.calibration == "paper":
            self._check_published()

    def _check_published(self) -> None:
        """Refuse what `th:privacy` says nothing about."""
        if "paper" not in self.aggregator.calibrations:
            known = [kind for kind in AGGREGATORS.values() if "paper" in kind.calibrations]
            names = ", ".join(kind.__name__ for kind in known)
            raise ValueError(
                f'calibration must be "tight" except for {names}, '
                f'got "paper" with {self.aggregator!r}'
            )
        if self.law != "laplace":
            raise ValueError('calibration="paper" needs an epsilon and no delta, got other levels')
        if self.split != "optimal":
            raise ValueError(f'split has no meaning for calibration="paper", got {self.split!r}')
        if self.adjacency != "replace":
            raise ValueError(
                f'adjacency must be "replace" for calibration="paper", got {self.adjacency!r}'
            )
        shortest = min(_listed(self.horizon))
        if shortest < 2:
            raise ValueError(f'horizon must be at least 2 for calibration="paper", got {shortest}')

    def __repr__(self) -> str:
        given = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        )
        return f"Privacy({', '.join(given)})"

    @property
    def law(self) -> Law:
        """Law of the noise.

        Examples
        --------
        >>> Privacy(rho=0.5, horizon=100).law
        'gaussian'
        """
        if self.aggregator.laws == ("none",):
            return "none"
        return "laplace" if self.delta is None and self.rho is None else "gaussian"

    def of_agents(self, labels: Sequence[Label]) -> PrivacySettings:
        """The settings of every agent of a network with these names, in node order.

        Parameters
        ----------
        labels
            The agents' names, in node order.

        Examples
        --------
        >>> levels = Privacy(epsilon={"rome": 1.0, "milan": 0.5}, horizon=9)
        >>> levels.of_agents(["milan", "rome"]).budget.epsilon
        (0.5, 1.0)
        """
        horizon = _each("horizon", self.horizon, labels) or (None,) * len(labels)
        plan = {number: self.aggregator.check(self.law, number) for number in set(horizon)}
        return PrivacySettings(
            budget=Budget(
                epsilon=_each("epsilon", self.epsilon, labels),
                delta=_each("delta", self.delta, labels),
                rho=_each("rho", self.rho, labels),
            ),
            horizon=tuple(plan[number] for number in horizon),
            law=self.law,
            aggregator=self.aggregator,
            calibration=self.calibration,
            adjacency=self.adjacency,
            split=self.split,
            noise=self.noise,
        )


def privacy_of_agents(privacy: Privacy, labels: Sequence[Label]) -> PrivacySettings:
    """`privacy.of_agents(labels)`, for an argument that may be something else."""
    if not isinstance(privacy, Privacy):
        raise ValueError(
            f"privacy must be a Privacy, such as Privacy(epsilon=1.0, horizon=100), got {privacy!r}"
        )
    return privacy.of_agents(labels)


_CHECKS: dict[str, Callable[[str, Given], Given]] = {
    "epsilon": validation.positive,
    "delta": proper,
    "rho": validation.positive,
    "horizon": validation.count,
}


def _plain(name: str, value: Given, check: Callable[[str, Given], N]) -> Given:
    """The numbers that were given, checked: one, a tuple, or a dictionary; None stays None."""
    if value is None:
        return None
    several = isinstance(value, Sequence | Mapping) or getattr(value, "ndim", 0) > 0
    if several and len(value) == 0:
        raise ValueError(f"{name} must be one number or one for each agent, got {value!r}")
    if isinstance(value, Mapping):
        return {label: check(f"{name} of agent {label!r}", one) for label, one in value.items()}
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | bytes):
        return check(name, value)
    if getattr(value, "ndim", 1) == 0:
        return check(name, value)
    if any(isinstance(one, Sequence | np.ndarray) and not isinstance(one, str) for one in value):
        raise ValueError(f"{name} must be one number or one for each agent, got {value!r}")
    return tuple(check(f"{name} of agent {k}", one) for k, one in enumerate(value))


def _listed(value: Given) -> tuple[Given, ...]:
    """All numbers that were given."""
    if isinstance(value, dict):
        return tuple(value.values())
    return value if isinstance(value, tuple) else (value,)


def _each(name: str, value: Given, labels: Sequence[Label]) -> tuple[Given, ...] | None:
    """One number for each agent."""
    if value is None:
        return None
    if isinstance(value, dict):
        strange = set(value) ^ set(labels)
        if strange:
            raise ValueError(f"{name} must have every agent as a key, and no other, got {strange}")
        return tuple(value[label] for label in labels)
    if not isinstance(value, tuple):
        return (value,) * len(labels)
    if len(value) != len(labels):
        raise ValueError(
            f"{name} must be one number or one for each of the {len(labels)} agents, "
            f"got {len(value)}"
        )
    return value
