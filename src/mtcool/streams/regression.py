"""Generalised linear losses: a cost of the prediction <a_t, x> against a target y_t.

The row of a round is a_t, then y_t. `value` and `subgradient` are written once for the whole
family; a member is its `cost` and the `slope` of that cost, both functions of the prediction.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mtcool.kernels import dispatched, inline
from mtcool.streams.losses import (
    Kind,
    Losses,
    Matrix,
    Vector,
    check,
    largest,
    lipschitz,
    norms,
    rows_of,
    subgradient,
    value,
    width,
)
from mtcool.validation import non_negative, vector


class Squared(NamedTuple):
    """Losses (<a_t, x> - y_t)^2 / 2."""


class Absolute(NamedTuple):
    """Losses `|<a_t, x> - y_t|`."""


class Logistic(NamedTuple):
    """Losses ln(1 + exp(-y_t <a_t, x>)) with y_t = -1 or 1."""


class Hinge(NamedTuple):
    """Losses max(0, 1 - y_t <a_t, x>) with y_t = -1 or 1."""


GeneralisedLinear: TypeAlias = Squared | Absolute | Logistic | Hinge


def squared(features: ArrayLike, target: ArrayLike) -> Losses:
    """Squared losses (<a_t, x> - y_t)^2 / 2 of a linear regression.

    Parameters
    ----------
    features, target
        As in `examples`.

    Examples
    --------
    >>> losses = squared([[1.0, 2.0]], [3.0])
    >>> float(value(losses.kind, losses.rows[0], np.array([1.0, 0.0])))
    2.0
    """
    return Losses(Squared(), examples(features, target))


def absolute(features: ArrayLike, target: ArrayLike) -> Losses:
    """Absolute losses `|<a_t, x> - y_t|`, a regression to the median.

    Parameters
    ----------
    features, target
        As in `examples`.

    Examples
    --------
    >>> losses = absolute([[1.0, 2.0]], [3.0])
    >>> float(value(losses.kind, losses.rows[0], np.array([1.0, 0.0])))
    2.0
    """
    return Losses(Absolute(), examples(features, target))


def logistic(features: ArrayLike, target: ArrayLike) -> Losses:
    """Logistic losses ln(1 + exp(-y_t <a_t, x>)) of labels y_t = -1 or 1.

    Parameters
    ----------
    features, target
        As in `examples`; targets are -1 or 1.

    Examples
    --------
    >>> losses = logistic([[1.0, 2.0]], [-1.0])
    >>> float(value(losses.kind, losses.rows[0], np.array([1000.0, 0.0])))
    1000.0
    """
    return _checked(Losses(Logistic(), examples(features, target)))


def hinge(features: ArrayLike, target: ArrayLike) -> Losses:
    """Hinge losses max(0, 1 - y_t <a_t, x>) of labels y_t = -1 or 1.

    Parameters
    ----------
    features, target
        As in `examples`; targets are -1 or 1.

    Examples
    --------
    >>> losses = hinge([[1.0, 2.0]], [-1.0])
    >>> float(value(losses.kind, losses.rows[0], np.array([1.0, 0.0])))
    2.0
    """
    return _checked(Losses(Hinge(), examples(features, target)))


def examples(features: ArrayLike, target: ArrayLike) -> Matrix:
    """Rows of a regression: the features of each round, and its target in the last column.

    Parameters
    ----------
    features
        Row t holds the features a_t of round t, (rounds, dim).
    target
        The target y_t of each round, (rounds,).

    Examples
    --------
    >>> examples([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0])
    array([[1., 2., 5.],
           [3., 4., 6.]])
    """
    array = rows_of("features", features)
    return np.column_stack((array, vector("target", target, array.shape[0])))


@dispatched
def cost(kind: Kind, prediction: float, target: float) -> float:
    """The loss as a function of the prediction <a, x>."""
    raise ValueError(f"kind must be of a type with a cost, got {kind!r}")


@dispatched
def slope(kind: Kind, prediction: float, target: float) -> float:
    """A subgradient of the cost with respect to the prediction."""
    raise ValueError(f"kind must be of a type with a slope, got {kind!r}")


@width.register
def _features_and_target(kind: GeneralisedLinear, dim: int) -> int:
    return dim + 1


@inline
def _predict(row: Vector, x: Vector) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        total += row[k] * x[k]
    return total


@value.register
def _value(kind: GeneralisedLinear, row: Vector, x: Vector) -> float:
    return cost(kind, _predict(row, x), row[x.shape[0]])


@subgradient.register
def _subgradient(kind: GeneralisedLinear, row: Vector, x: Vector, out: Vector) -> None:
    factor = slope(kind, _predict(row, x), row[x.shape[0]])
    for k in range(x.shape[0]):
        out[k] = factor * row[k]


@cost.register
def _squared_cost(kind: Squared, prediction: float, target: float) -> float:
    gap = prediction - target
    return 0.5 * gap * gap


@slope.register
def _squared_slope(kind: Squared, prediction: float, target: float) -> float:
    return prediction - target


@cost.register
def _absolute_cost(kind: Absolute, prediction: float, target: float) -> float:
    return abs(prediction - target)


@slope.register
def _absolute_slope(kind: Absolute, prediction: float, target: float) -> float:
    if prediction > target:
        return 1.0
    return -1.0 if prediction < target else 0.0


@cost.register
def _logistic_cost(kind: Logistic, prediction: float, target: float) -> float:
    margin = target * prediction
    # The exponential of minus the absolute margin never overflows.
    return max(0.0, -margin) + math.log1p(math.exp(-abs(margin)))


@slope.register
def _logistic_slope(kind: Logistic, prediction: float, target: float) -> float:
    margin = target * prediction
    small = math.exp(-abs(margin))
    return -target * (small if margin > 0.0 else 1.0) / (1.0 + small)


@cost.register
def _hinge_cost(kind: Hinge, prediction: float, target: float) -> float:
    return max(0.0, 1.0 - target * prediction)


@slope.register
def _hinge_slope(kind: Hinge, prediction: float, target: float) -> float:
    return -target if target * prediction < 1.0 else 0.0


@lipschitz.register
def _squared_lipschitz(kind: Squared, rows: Matrix, radius: float) -> float:
    lengths = norms(rows[:, :-1])
    gaps = lengths * non_negative("radius", radius) + np.abs(rows[:, -1])
    return largest(lengths * gaps)


@lipschitz.register
def _unit_slope_lipschitz(kind: Absolute | Logistic | Hinge, rows: Matrix, radius: float) -> float:
    non_negative("radius", radius)
    return largest(norms(rows[:, :-1]))


@check.register
def _labels_are_signs(kind: Logistic | Hinge, rows: Matrix) -> None:
    labels = rows[:, -1]
    wrong = labels[np.abs(labels) != 1.0]
    if wrong.size:
        raise ValueError(f"target must hold labels -1 and 1, got {wrong[0]}")


def _checked(losses: Losses) -> Losses:
    check(losses.kind, losses.rows)
    return losses
