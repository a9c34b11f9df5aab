"""Linear systems of the ridges: scaled features, Cholesky's method, the lower half only."""

from __future__ import annotations

import math

from mtcool.kernels import inline
from mtcool.learners.panel.scaling import TINY
from mtcool.types import Floats

ROUNDING = 1e-14
"""A feature whose pivot is a smaller part of what it was consists of rounding errors."""


@inline
def set_up(matrix: Floats, scatter: Floats, deviation: Floats, ridge: float) -> None:
    """The products of the scaled features, plus the ridge; the lower half, from index 1 on."""
    for k in range(1, matrix.shape[0]):
        for m in range(1, k + 1):
            usable = deviation[k] > TINY and deviation[m] > TINY
            matrix[k, m] = scatter[k, m] / (deviation[k] * deviation[m]) if usable else 0.0
        matrix[k, k] += ridge


@inline
def solve(matrix: Floats, right: Floats) -> None:
    """Solve a positive definite system in place by Cholesky's method, from index 1 on.

    A feature that others determine up to rounding gets nothing: its pivot counts as infinite.
    """
    width = matrix.shape[0]
    for k in range(1, width):
        for m in range(1, k + 1):
            rest = matrix[k, m]
            for q in range(1, m):
                rest -= matrix[k, q] * matrix[m, q]
            if m < k:
                matrix[k, m] = rest / matrix[m, m]
            else:
                matrix[k, k] = math.sqrt(rest) if rest > ROUNDING * matrix[k, k] else math.inf
    for k in range(1, width):
        for q in range(1, k):
            right[k] -= matrix[k, q] * right[q]
        right[k] /= matrix[k, k]
    for k in range(width - 1, 0, -1):
        for q in range(k + 1, width):
            right[k] -= matrix[q, k] * right[q]
        right[k] /= matrix[k, k]
