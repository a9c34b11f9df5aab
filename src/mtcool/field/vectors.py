"""Vectors in compiled code, which has no memory for copies of its own."""

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
