"""Models and gradients in fewer bytes: rounded to a few bits.

`kappa` bounds the norm of what is received, and `power` its mean square, of a vector in the unit
ball; that is what learning rates must be prepared for.
"""

import math

import numpy as np

from mtcool.field.draws import begin, draw_at
from mtcool.field.messages import Messages
from mtcool.kernels import inline
from mtcool.types import Floats

LARGEST_SINGLE = float(np.finfo(np.float32).max)


@inline
def scale_of(values: Floats) -> float:
    """The largest absolute value, rounded up to a 32-bit float.

    Above the largest of those, 3.4e38, it is the value itself, which `pack` refuses to send.
    """
    m = 0.0
    for c in range(values.shape[0]):
        m = max(m, abs(values[c]))
    if m > LARGEST_SINGLE:
        return m
    single = np.float32(m)
    if float(single) < m:
        single = np.nextafter(single, np.float32(np.inf))
    return float(single)


@inline
def step_of(scale: float, bits: int) -> float:
    """The distance of two levels."""
    return 2.0 * scale / (2.0**bits - 1.0)


@inline
def round_to_bits(
    values: Floats, bits: int, seed: np.uint64, kind: int, i: int, j: int, n: int, out: Floats
) -> None:
    """Write the values to `out`, each at random one of the two levels around it, right on average.

    The 2^bits levels lie evenly between minus and plus `scale_of(values)`.
    """
    m = scale_of(values)
    if m == 0.0:
        out[:] = 0.0
        return
    step, last = step_of(m, bits), 2.0**bits - 1.0
    begun = begin(seed, kind, i, j, n)
    for c in range(values.shape[0]):
        level = math.floor((values[c] + m) / step + draw_at(begun, c))
        out[c] = -m + step * min(max(float(level), 0.0), last)


def kappa(messages: Messages, dim: int) -> float:
    """How long a vector of the unit ball may be as it is received, at most.

    Parameters
    ----------
    messages
        What agents may say.
    dim
        Length of the vectors.

    Examples
    --------
    >>> kappa(Messages(), 4), kappa(Messages(bits=1), 4)
    (1.0, 2.0)
    """
    if messages.bits is None:
        return 1.0
    root = math.sqrt(dim)
    return max(1.0, min(root, 1.0 + 2.0 * root / (2.0**messages.bits - 1.0)))


def power(messages: Messages, dim: int) -> float:
    """The mean square of a vector of the unit ball as it is received, at most.

    Parameters
    ----------
    messages
        What agents may say.
    dim
        Length of the vectors.

    Examples
    --------
    >>> power(Messages(), 4), power(Messages(bits=2), 9)
    (1.0, 2.0)
    """
    if messages.bits is None:
        return 1.0
    return min(1.0 + dim / (2.0**messages.bits - 1.0) ** 2, kappa(messages, dim) ** 2)


def content_bytes(messages: Messages, dim: int) -> int:
    """How many bytes a model or a gradient takes, apart from names and numbers of rounds.

    Parameters
    ----------
    messages
        What agents may say.
    dim
        Length of the vectors.

    Examples
    --------
    >>> content_bytes(Messages(), 100), content_bytes(Messages(bits=4), 100)
    (800, 54)
    """
    return 8 * dim if messages.bits is None else 4 + -(-dim * messages.bits // 8)
