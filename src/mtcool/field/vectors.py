"""Vectors in compiled code, which has no memory for copies of its own."""

import numpy as np

from mtcool.kernels import inline
from mtcool.types import Floats


@inline
def copy_vector(source: Floats, target: Floats) -> None:
    """Write a vector over another."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@inline
def clear_vector(target: Floats) -> None:
    """Write zeros."""
    for k in range(target.shape[0]):
        target[k] = 0.0


@inline
def whole(number: int) -> int:
    """The number as a signed one of 64 bits, whatever array it comes from.

    numba compiles a function for each type of its arguments, and one is enough.
    """
    return np.int64(number)  # type: ignore[return-value]
