"""Generalised linear losses: a cost of the prediction <a_t, x> against a target y_t.

`value` and `subgradient` are written once for the whole family; a member is its `cost` and the
`slope` of that cost, both functions of the prediction.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mtcool.kernels import dispatched, inline
from mtcool.streams.losses import (
    Losses,
    Matrix,
    Vector,
    largest,
    lipschitz,
    norms,
    rows,
    subgradient,
    value,
)
from mtcool.validation import non_negative, vector


class SquaredLosses(NamedTuple):
    """Losses (<a_t, x> - y_t)^2 / 2."""

    features: Matrix
    target: Vector


class AbsoluteLosses(NamedTuple):
    """Losses |<a_t, x> - y_t|."""

    features: Matrix
    target: Vector


class LogisticLosses(NamedTuple):
    """Losses ln(1 + exp(-y_t <a_t, x>)) with y_t = -1 or 1."""

    features: Matrix
    target: Vector


class HingeLosses(NamedTuple):
    """Losses max(0, 1 - y_t <a_t, x>) with y_t = -1 or 1."""

    features: Matrix
    target: Vector


GeneralisedLinear: TypeAlias = SquaredLosses | AbsoluteLosses | LogisticLosses | HingeLosses


def squared(features: ArrayLike, target: ArrayLike) -> SquaredLosses:
    """Squared losses (<a_t, x> - y_t)^2 / 2 of a linear regression.

    >>> float(value(squared([[1.0, 2.0]], [3.0]), 0, np.array([1.0, 0.0])))
    2.0
    """
    return SquaredLosses(*_examples(features, target))


def absolute(features: ArrayLike, target: ArrayLike) -> AbsoluteLosses:
    """Absolute losses |<a_t, x> - y_t|, a regression to the median.

    >>> float(value(absolute([[1.0, 2.0]], [3.0]), 0, np.array([1.0, 0.0])))
    2.0
    """
    return AbsoluteLosses(*_examples(features, target))


def logistic(features: ArrayLike, target: ArrayLike) -> LogisticLosses:
    """Logistic losses ln(1 + exp(-y_t <a_t, x>)) of labels y_t = -1 or 1.

    >>> float(value(logistic([[1.0, 2.0]], [-1.0]), 0, np.array([1000.0, 0.0])))
    1000.0
    """
    return LogisticLosses(*_labelled(features, target))


def hinge(features: ArrayLike, target: ArrayLike) -> HingeLosses:
    """Hinge losses max(0, 1 - y_t <a_t, x>) of labels y_t = -1 or 1.

    >>> float(value(hinge([[1.0, 2.0]], [-1.0]), 0, np.array([1.0, 0.0])))
    2.0
    """
    return HingeLosses(*_labelled(features, target))


@dispatched
def cost(losses: Losses, prediction: float, target: float) -> float:
    """The loss as a function of the prediction <a, x>."""
    raise ValueError(f"losses must be of a type with a cost, got {losses!r}")


@dispatched
def slope(losses: Losses, prediction: float, target: float) -> float:
    """A subgradient of the cost with respect to the prediction."""
    raise ValueError(f"losses must be of a type with a slope, got {losses!r}")


@inline
def _predict(features: Matrix, t: int, x: Vector) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        total += features[t, k] * x[k]
    return total


@value.register
def _value(losses: GeneralisedLinear, t: int, x: Vector) -> float:
    return cost(losses, _predict(losses.features, t, x), losses.target[t])


@subgradient.register
def _subgradient(losses: GeneralisedLinear, t: int, x: Vector, out: Vector) -> None:
    factor = slope(losses, _predict(losses.features, t, x), losses.target[t])
    for k in range(x.shape[0]):
        out[k] = factor * losses.features[t, k]


@cost.register
def _squared_cost(losses: SquaredLosses, prediction: float, target: float) -> float:
    gap = prediction - target
    return 0.5 * gap * gap


@slope.register
def _squared_slope(losses: SquaredLosses, prediction: float, target: float) -> float:
    return prediction - target


@cost.register
def _absolute_cost(losses: AbsoluteLosses, prediction: float, target: float) -> float:
    return abs(prediction - target)


@slope.register
def _absolute_slope(losses: AbsoluteLosses, prediction: float, target: float) -> float:
    if prediction > target:
        return 1.0
    return -1.0 if prediction < target else 0.0


@cost.register
def _logistic_cost(losses: LogisticLosses, prediction: float, target: float) -> float:
    margin = target * prediction
    # The exponential of minus the absolute margin never overflows.
    return max(0.0, -margin) + math.log1p(math.exp(-abs(margin)))


@slope.register
def _logistic_slope(losses: LogisticLosses, prediction: float, target: float) -> float:
    margin = target * prediction
    small = math.exp(-abs(margin))
    return -target * (small if margin > 0.0 else 1.0) / (1.0 + small)


@cost.register
def _hinge_cost(losses: HingeLosses, prediction: float, target: float) -> float:
    return max(0.0, 1.0 - target * prediction)


@slope.register
def _hinge_slope(losses: HingeLosses, prediction: float, target: float) -> float:
    return -target if target * prediction < 1.0 else 0.0


@lipschitz.register
def _squared_lipschitz(losses: SquaredLosses, radius: float) -> float:
    lengths = norms(losses.features)
    gaps = lengths * non_negative("radius", radius) + np.abs(losses.target)
    return largest(lengths * gaps)


@lipschitz.register
def _unit_slope_lipschitz(
    losses: AbsoluteLosses | LogisticLosses | HingeLosses, radius: float
) -> float:
    non_negative("radius", radius)
    return largest(norms(losses.features))


def _examples(features: ArrayLike, target: ArrayLike) -> tuple[Matrix, Vector]:
    array = rows("features", features)
    return array, vector("target", target, array.shape[0])


def _labelled(features: ArrayLike, target: ArrayLike) -> tuple[Matrix, Vector]:
    array, labels = _examples(features, target)
    wrong = labels[np.abs(labels) != 1.0]
    if wrong.size:
        raise ValueError(f"target must hold labels -1 and 1, got {wrong[0]}")
    return array, labels
