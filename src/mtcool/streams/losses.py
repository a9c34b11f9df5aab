"""Losses as data: a *kind*, and a matrix with a row for each round.

A kind is a NamedTuple of scalar parameters, often none; what it means is said by functions that are
chosen by its type. `value` and `subgradient` are given the row of one round. They compile into the
simulator's loop and run as plain Python as well. `docs/add-a-loss.md` adds a kind from scratch.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mtcool.kernels import dispatched
from mtcool.types import Floats
from mtcool.validation import matrix, non_negative

Vector: TypeAlias = Floats
Matrix: TypeAlias = Floats
Kind: TypeAlias = tuple[Any, ...]
"""Any kind of loss: a NamedTuple of numbers."""


class Losses(NamedTuple):
    """The losses of all rounds: of one kind, with a row of float64 numbers for each round.

    Examples
    --------
    >>> Losses(Quadratic(), np.array([[1.0, 2.0]])).kind
    Quadratic()
    """

    kind: Kind
    rows: Matrix


@dispatched
def value(kind: Kind, row: Vector, x: Vector) -> float:
    """The loss at the point `x`, in the round with this row.

    Parameters
    ----------
    kind
        The kind of loss, such as `Quadratic()`.
    row
        The numbers of the round, as many as `width` says.
    x
        The point, of length dim.

    Examples
    --------
    >>> float(value(Linear(), np.array([0.0, -1.0]), np.array([3.0, 4.0])))
    -4.0
    """
    raise ValueError(f"kind must be of a type with a value, got {kind!r}")


@dispatched
def subgradient(kind: Kind, row: Vector, x: Vector, out: Vector) -> None:
    """Write a subgradient of the loss at the point `x`, in the round with this row, into `out`.

    Parameters
    ----------
    kind, row, x
        As in `value`.
    out
        Where the subgradient is written, of length dim.

    Examples
    --------
    >>> out = np.empty(2)
    >>> subgradient(Quadratic(), np.array([1.0, 2.0]), np.array([3.0, 3.0]), out)
    >>> out
    array([2., 1.])
    """
    raise ValueError(f"kind must be of a type with a subgradient, got {kind!r}")


@functools.singledispatch
def width(kind: Kind, dim: int) -> int:
    """The number of columns that rows have for points of dimension `dim`; it grows with `dim`.

    Parameters
    ----------
    kind
        As in `value`.
    dim
        Dimension of the points.

    Examples
    --------
    >>> width(Quadratic(), 3)
    3
    """
    raise ValueError(f"kind must be of a type with a width, got {kind!r}")


@functools.singledispatch
def lipschitz(kind: Kind, rows: Matrix, radius: float) -> float:
    """A constant L such that every loss is L-Lipschitz on the ball of the given radius.

    It is the largest norm that a subgradient can be seen to reach there, from the data alone.

    Parameters
    ----------
    kind
        As in `value`.
    rows
        The rows of all rounds, (rounds, width).
    radius
        Radius of the ball around the origin.

    Examples
    --------
    >>> lipschitz(Quadratic(), np.array([[3.0, 4.0], [0.0, 1.0]]), radius=1.0)
    6.0
    """
    raise ValueError(f"kind must be of a type with a Lipschitz constant, got {kind!r}")


@functools.singledispatch
def check(kind: Kind, rows: Matrix) -> None:
    """Refuse, with a ValueError, parameters or rows that make no sense for this kind of loss.

    Kinds that take all numbers need not implement it.

    Parameters
    ----------
    kind
        As in `value`.
    rows
        The rows of all rounds, (rounds, width).

    Examples
    --------
    >>> check(Quadratic(), np.array([[3.0, 4.0]]))
    """


def rounds(losses: Losses) -> int:
    """The number of rounds that the losses cover.

    Parameters
    ----------
    losses
        The losses of a stream.

    Examples
    --------
    >>> rounds(linear(np.ones((5, 2))))
    5
    """
    return int(losses.rows.shape[0])


def dim(losses: Losses) -> int:
    """The dimension of the points that the losses judge.

    Parameters
    ----------
    losses
        The losses of a stream.

    Examples
    --------
    >>> dim(linear(np.ones((5, 2))))
    2
    """
    return dim_of(losses.kind, losses.rows.shape[1])


# `typed`: kinds without parameters are equal as tuples.
@functools.lru_cache(maxsize=1024, typed=True)
def dim_of(kind: Kind, columns: int) -> int:
    """The dimension of the points that rows with this many columns judge."""
    for size in range(columns, 0, -1):
        if width(kind, size) == columns:
            return size
    raise ValueError(
        f"rows of {type(kind).__name__} must be as wide as for some dimension, got {columns} "
        f"columns; dimension 1 has {width(kind, 1)}"
    )


class Linear(NamedTuple):
    """Losses <g_t, x>; the row is g_t."""


class Quadratic(NamedTuple):
    """Losses `|x - z_t|^2 / 2`; the row is z_t."""


def linear(gradients: ArrayLike) -> Losses:
    """Linear losses <g_t, x>, one row of `gradients` for each round.

    Parameters
    ----------
    gradients
        Row t is the gradient g_t, (rounds, dim).

    Examples
    --------
    >>> linear([[1, 2], [0, -1]]).rows.shape
    (2, 2)
    """
    return Losses(Linear(), rows_of("gradients", gradients))


def quadratic(targets: ArrayLike) -> Losses:
    """Quadratic losses `|x - z_t|^2 / 2`, one row of `targets` for each round.

    Parameters
    ----------
    targets
        Row t is the target z_t, (rounds, dim).

    Examples
    --------
    >>> quadratic([[1, 2], [0, -1]]).rows.shape
    (2, 2)
    """
    return Losses(Quadratic(), rows_of("targets", targets))


@width.register
def _as_wide_as_the_point(kind: Linear | Quadratic, dim: int) -> int:
    return dim


@value.register
def _linear_value(kind: Linear, row: Vector, x: Vector) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        total += row[k] * x[k]
    return total


@subgradient.register
def _linear_subgradient(kind: Linear, row: Vector, x: Vector, out: Vector) -> None:
    for k in range(x.shape[0]):
        out[k] = row[k]


@lipschitz.register
def _linear_lipschitz(kind: Linear, rows: Matrix, radius: float) -> float:
    non_negative("radius", radius)
    return largest(norms(rows))


@value.register
def _quadratic_value(kind: Quadratic, row: Vector, x: Vector) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        gap = x[k] - row[k]
        total += gap * gap
    return 0.5 * total


@subgradient.register
def _quadratic_subgradient(kind: Quadratic, row: Vector, x: Vector, out: Vector) -> None:
    for k in range(x.shape[0]):
        out[k] = x[k] - row[k]


@lipschitz.register
def _quadratic_lipschitz(kind: Quadratic, rows: Matrix, radius: float) -> float:
    return non_negative("radius", radius) + largest(norms(rows))


def rows_of(name: str, values: ArrayLike) -> Matrix:
    """A finite matrix with a row for each round and at least one column."""
    array = matrix(name, values, (None, None))
    if array.shape[1] == 0:
        raise ValueError(f"{name} must have at least one column, got shape {array.shape}")
    return array


def norms(array: Matrix) -> Vector:
    """Euclidean norms of the rows."""
    return np.asarray(np.linalg.norm(array, axis=1), dtype=np.float64)


def largest(values: Vector) -> float:
    """The maximum, or 0 if there are no values."""
    return float(values.max(initial=0.0))
