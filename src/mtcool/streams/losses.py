"""Losses as data: arrays whose leading axis is the round, and functions chosen by their type.

`value` and `subgradient` compile into the simulator's loop and run as plain Python as well. A new
loss is a NamedTuple whose first field has shape (rounds, dim), and an implementation of each of
`value`, `subgradient` and `lipschitz`.
"""

from __future__ import annotations

import functools
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtcool.kernels import dispatched
from mtcool.validation import matrix, non_negative

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Losses: TypeAlias = tuple[NDArray[np.float64], ...]
"""Any of the loss types: a NamedTuple of float64 arrays, the first of shape (rounds, dim)."""


@dispatched
def value(losses: Losses, t: int, x: Vector) -> float:
    """The loss of round `t` at the point `x`.

    >>> float(value(linear([[1.0, 2.0], [0.0, -1.0]]), 1, np.array([3.0, 4.0])))
    -4.0
    """
    raise ValueError(f"losses must be of a type with a value, got {losses!r}")


@dispatched
def subgradient(losses: Losses, t: int, x: Vector, out: Vector) -> None:
    """Write a subgradient of the loss of round `t` at the point `x` into `out`.

    >>> out = np.empty(2)
    >>> subgradient(quadratic([[1.0, 2.0]]), 0, np.array([3.0, 3.0]), out)
    >>> out
    array([2., 1.])
    """
    raise ValueError(f"losses must be of a type with a subgradient, got {losses!r}")


@functools.singledispatch
def lipschitz(losses: Losses, radius: float) -> float:
    """A constant L such that every loss is L-Lipschitz on the ball of the given radius.

    It is the largest norm that a subgradient can be seen to reach there, from the data alone.

    >>> lipschitz(quadratic([[3.0, 4.0], [0.0, 1.0]]), radius=1.0)
    6.0
    """
    raise ValueError(f"losses must be of a type with a Lipschitz constant, got {losses!r}")


def rounds(losses: Losses) -> int:
    """The number of rounds that the losses cover.

    >>> rounds(linear(np.ones((5, 2))))
    5
    """
    return int(losses[0].shape[0])


def dim(losses: Losses) -> int:
    """The dimension of the points that the losses judge.

    >>> dim(linear(np.ones((5, 2))))
    2
    """
    return int(losses[0].shape[1])


class LinearLosses(NamedTuple):
    """Losses <g_t, x>."""

    gradients: Matrix


class QuadraticLosses(NamedTuple):
    """Losses |x - z_t|^2 / 2."""

    targets: Matrix


def linear(gradients: ArrayLike) -> LinearLosses:
    """Linear losses <g_t, x>, one row of `gradients` for each round.

    >>> linear([[1, 2], [0, -1]]).gradients.shape
    (2, 2)
    """
    return LinearLosses(rows("gradients", gradients))


def quadratic(targets: ArrayLike) -> QuadraticLosses:
    """Quadratic losses |x - z_t|^2 / 2, one row of `targets` for each round.

    >>> quadratic([[1, 2], [0, -1]]).targets.shape
    (2, 2)
    """
    return QuadraticLosses(rows("targets", targets))


@value.register
def _linear_value(losses: LinearLosses, t: int, x: Vector) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        total += losses.gradients[t, k] * x[k]
    return total


@subgradient.register
def _linear_subgradient(losses: LinearLosses, t: int, x: Vector, out: Vector) -> None:
    for k in range(x.shape[0]):
        out[k] = losses.gradients[t, k]


@lipschitz.register
def _linear_lipschitz(losses: LinearLosses, radius: float) -> float:
    non_negative("radius", radius)
    return largest(norms(losses.gradients))


@value.register
def _quadratic_value(losses: QuadraticLosses, t: int, x: Vector) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        gap = x[k] - losses.targets[t, k]
        total += gap * gap
    return 0.5 * total


@subgradient.register
def _quadratic_subgradient(losses: QuadraticLosses, t: int, x: Vector, out: Vector) -> None:
    for k in range(x.shape[0]):
        out[k] = x[k] - losses.targets[t, k]


@lipschitz.register
def _quadratic_lipschitz(losses: QuadraticLosses, radius: float) -> float:
    return non_negative("radius", radius) + largest(norms(losses.targets))


def rows(name: str, values: ArrayLike) -> Matrix:
    """A finite matrix with a row for each round and at least one column."""
    array = matrix(name, values, (None, None))
    if array.shape[1] == 0:
        raise ValueError(f"{name} must have at least one column, got shape {array.shape}")
    return array


def norms(array: Matrix) -> Vector:
    """Euclidean norms of the rows."""
    return np.asarray(np.linalg.norm(array, axis=1), dtype=np.float64)


def largest(values: Vector) -> float:
    """The maximum, and 0 of no values: no losses are 0-Lipschitz."""
    return float(values.max(initial=0.0))
