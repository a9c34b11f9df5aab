"""Counts and sums from a file, which a stranger may have made: checked before they are used."""

from typing import Any

import numpy as np

from mtcool.types import AnyArray, Floats, Integers

MOST = 2**53
"""Rows that can be counted: beyond it numbers with a point skip some."""


def stored_counts(name: str, array: AnyArray, shape: tuple[int, ...]) -> Integers:
    """A copy of whole numbers of this shape that are not negative, and not beyond counting.

    Examples
    --------
    >>> stored_counts("rows", np.array([3, 4]), (2,))
    array([3, 4])
    """
    _check_form(name, array, np.dtype(np.int64), shape)
    if array.size and not 0 <= array.min() <= array.max() <= MOST:
        raise ValueError(f"{name} must be counts, got {array.min()} to {array.max()}")
    return array.copy()


def stored_sums(name: str, array: AnyArray, shape: tuple[int, ...]) -> Floats:
    """A copy of finite numbers of this shape.

    Examples
    --------
    >>> stored_sums("losses", np.array([0.5]), (1,))
    array([0.5])
    """
    _check_form(name, array, np.dtype(np.float64), shape)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array.copy()


def check_widths(name: str, counts: Integers, widths: Integers, most: int) -> None:
    """Refuse widths that rows cut into at most `most` stretches cannot have come to.

    Widths are doubled when all stretches are full, and not before.

    Examples
    --------
    >>> check_widths("widths", np.array([0, 32, 33]), np.array([1, 1, 2]), 32)
    """
    doubled = (widths >= 1) & (widths & (widths - 1) == 0)
    needed = (widths == 1) | (2 * counts > most * widths)
    if not (doubled & needed & (counts <= most * widths)).all():
        raise ValueError(f"{name} must fit the rows, got {widths.tolist()[:5]}")


def _check_form(name: str, array: AnyArray, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(f"{name} must be {dtype} {shape}, got {array.dtype} {array.shape}")
