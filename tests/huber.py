"""A kind of loss from outside the package, with parameters."""

from typing import NamedTuple

import numpy as np

from mtcool.streams import check, lipschitz, subgradient, value, width


class Huber(NamedTuple):
    """Quadratic in the error <a, x> - y up to `delta`, linear beyond."""

    delta: float = 1.0


class Distance(NamedTuple):
    """`scale` |x - z|: neither smooth nor a regression."""

    scale: float


@width.register
def _(kind: Huber, dim: int) -> int:
    return dim + 1


@value.register
def _(kind: Huber, row, x):
    error = -row[x.shape[0]]
    for k in range(x.shape[0]):
        error += row[k] * x[k]
    if abs(error) <= kind.delta:
        return 0.5 * error * error
    return kind.delta * (abs(error) - 0.5 * kind.delta)


@subgradient.register
def _(kind: Huber, row, x, out):
    error = -row[x.shape[0]]
    for k in range(x.shape[0]):
        error += row[k] * x[k]
    slope = min(max(error, -kind.delta), kind.delta)
    for k in range(x.shape[0]):
        out[k] = slope * row[k]


@lipschitz.register
def _(kind: Huber, rows, radius):
    return kind.delta * np.linalg.norm(rows[:, :-1], axis=1).max(initial=0.0)


@check.register
def _(kind: Huber, rows):
    if kind.delta <= 0.0:
        raise ValueError(f"Huber.delta must be positive, got {kind.delta!r}")


@width.register
def _(kind: Distance, dim: int) -> int:
    return dim


@value.register
def _(kind: Distance, row, x):
    square = 0.0
    for k in range(x.shape[0]):
        square += (x[k] - row[k]) ** 2
    return kind.scale * np.sqrt(square)


@subgradient.register
def _(kind: Distance, row, x, out):
    square = 0.0
    for k in range(x.shape[0]):
        square += (x[k] - row[k]) ** 2
    for k in range(x.shape[0]):
        out[k] = kind.scale * (x[k] - row[k]) / np.sqrt(square) if square > 0.0 else 0.0


@lipschitz.register
def _(kind: Distance, rows, radius):
    return kind.scale
