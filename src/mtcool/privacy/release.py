"""The way out: everything that leaves an agent passes here, clipped and with noise.

`clip` and `clipped_product` shorten what the agent saw and what it was sent, so that nobody, not
even a malicious neighbour, can make a leaf larger than the noise is made for. `release` adds the
noise: what is published is computed from what it returns.
"""

import math

import numpy as np

from mtcool.field.vectors import length, normalise
from mtcool.kernels import inline
from mtcool.types import Floats

GRID = 2.0**-20
"""Values of exact releases are whole multiples of this: their sums are exact in doubles."""


@inline
def clip(vector: Floats, bound: float) -> bool:
    """Divide by `bound`, or by its norm if that is larger, in place; False if it is not finite."""
    if not length(vector) <= bound:
        return normalise(vector)
    scale = 1.0 / bound
    for k in range(vector.shape[0]):
        vector[k] *= scale
    return True


@inline
def clipped_product(row: Floats, gradient: Floats) -> float:
    """<row, gradient> with the row shortened to norm one; a row that is not finite counts as 0."""
    square, product = 0.0, 0.0
    for k in range(row.shape[0]):
        square += row[k] * row[k]
        product += row[k] * gradient[k]
    if square <= 1.0:
        return product
    return product / math.sqrt(square) if square < math.inf else 0.0


@inline
def clipped_number(x: float) -> float:
    """A row of one number shortened to norm one; one that is not finite counts as 0."""
    short = 1.0 if x > 0.0 else -1.0
    short = short if abs(x) < math.inf else 0.0
    return x if abs(x) <= 1.0 else short


@inline
def truncate(leaf: Floats, grid: float) -> None:
    """Round toward zero to multiples of `grid`, so that no norm grows; 0 leaves all as it is."""
    if grid > 0.0:
        for k in range(leaf.shape[0]):
            leaf[k] = grid * np.trunc(leaf[k] / grid)


@inline
def release(value: Floats, noise: Floats, grid: float, noisy: Floats) -> None:
    """Write value + noise into `noisy`: the only way out. On a grid, the value is rounded first."""
    for k in range(value.shape[0]):
        # The value itself stays as it is: rounding that went back into a filter would add up.
        leaving = grid * np.rint(value[k] / grid) if grid > 0.0 else value[k]
        noisy[k] = leaving + noise[k]
