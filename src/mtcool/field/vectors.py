"""Vectors in compiled code, which has no memory for copies of its own."""

import math

import numpy as np

from mtcool.kernels import inline
from mtcool.types import Floats


@inline
def length(vector: Floats) -> float:
    """Euclidean norm; infinite only if it is larger than all numbers, or what is in it."""
    square, largest = _square(vector), 0.0
    if square < math.inf:
        return math.sqrt(square)
    for k in range(vector.shape[0]):
        largest = max(largest, abs(vector[k]))
    if not largest < math.inf or square != square:
        return square
    square = 0.0
    for k in range(vector.shape[0]):
        square += (vector[k] / largest) ** 2
    return largest * math.sqrt(square)


@inline
def normalise(vector: Floats) -> bool:
    """Divide a vector by its norm, which is not zero, in place; False if it is not finite."""
    square, largest = _square(vector), 0.0
    if not square < math.inf:
        for k in range(vector.shape[0]):
            largest = max(largest, abs(vector[k]))
        if not largest < math.inf or square != square:
            return False
        for k in range(vector.shape[0]):  # the norm itself may be larger than all numbers
            vector[k] /= largest
        square = _square(vector)
    scale = 1.0 / math.sqrt(square)
    for k in range(vector.shape[0]):
        vector[k] *= scale
    return True


@inline
def _square(vector: Floats) -> float:
    square = 0.0
    for k in range(vector.shape[0]):
        square += vector[k] * vector[k]
    return square


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
