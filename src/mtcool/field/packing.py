"""The bytes of coded models and gradients: as many as `content_bytes` says, and nothing is lost.

- exact: 64-bit floats, little-endian;
- `bits`: the scale, a 32-bit float, then the levels, so many bits each, the lowest first.
"""

import numpy as np
from numpy.typing import NDArray

from mtcool import validation
from mtcool.field.codes import LARGEST_SINGLE, content_bytes, step_of
from mtcool.field.messages import Messages
from mtcool.types import Floats

NUMBER, SCALE = np.dtype("<f8"), np.dtype("<f4")
# (value + m) / step is within rounding of a level; of 52 bits, rounding is a level or two.
NEAR = (0, -1, 1, -2, 2, -3, 3)


def pack(values: Floats, messages: Messages, scale: float | None = None) -> bytes:
    """The bytes of a vector that was coded.

    Parameters
    ----------
    values
        The vector as it is received, (d,).
    messages
        How it was coded.
    scale
        With `bits`: `scale_of` the vector before it was coded, which the levels do not tell.

    Examples
    --------
    >>> len(pack(np.array([1.0, -1.0, 1.0]), Messages(bits=1), scale=1.0))
    5
    """
    values = validation.numbers("values", values)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"values must be a vector, got shape {values.shape}")
    if messages.bits is None:
        return values.astype(NUMBER, copy=False).tobytes()
    if scale is None:
        raise ValueError(f"scale must be given with bits={messages.bits}, got None")
    return _pack_levels(values, messages.bits, validation.non_negative("scale", scale))


def unpack(content: bytes, dim: int, messages: Messages) -> Floats:
    """The vector in these bytes, to the bit; what `pack` cannot have written is refused.

    Parameters
    ----------
    content
        What `pack` returned.
    dim
        Length of the vector.
    messages
        How it was coded.

    Examples
    --------
    >>> unpack(pack(np.array([0.0, 0.5]), Messages()), 2, Messages())
    array([0. , 0.5])
    """
    if len(content) != content_bytes(messages, dim):
        expected = content_bytes(messages, dim)
        raise ValueError(f"content must have {expected} bytes, got {len(content)}")
    if messages.bits is not None:
        return _unpack_levels(content, dim, messages.bits)
    return np.frombuffer(content, NUMBER).astype(np.float64)


def _pack_levels(values: Floats, bits: int, scale: float) -> bytes:
    if scale > LARGEST_SINGLE or float(np.float32(scale)) != scale:
        raise ValueError(f"scale must be a 32-bit float, got {scale!r}")
    levels = _levels_of(values, bits, scale)
    digits = (levels[:, None] >> np.arange(bits, dtype=np.uint64)) & np.uint64(1)
    packed = np.packbits(digits.astype(np.uint8).ravel(), bitorder="little")
    return np.array(scale, SCALE).tobytes() + packed.tobytes()


def _levels_of(values: Floats, bits: int, scale: float) -> NDArray[np.uint64]:
    """The levels whose values these are, to the bit."""
    levels = np.zeros(values.size)
    if scale == 0.0:
        found = values == 0.0
    else:
        last = 2.0**bits - 1.0
        near = np.rint((values + scale) / step_of(scale, bits))
        found = np.zeros(values.size, np.bool_)
        for shift in NEAR:
            tried = np.clip(near + shift, 0.0, last)
            fits = ~found & (_values_of(tried, bits, scale) == values)
            levels[fits] = tried[fits]
            found |= fits
    if not found.all():
        value = float(values[~found][0])
        raise ValueError(
            f"values must be levels of {bits} bits with scale {scale!r}, got {value!r}"
        )
    return levels.astype(np.uint64)


def _values_of(levels: Floats, bits: int, scale: float) -> Floats:
    """As `round_to_bits` computes them."""
    return -scale + step_of(scale, bits) * levels


def _unpack_levels(content: bytes, dim: int, bits: int) -> Floats:
    scale = float(np.frombuffer(content, SCALE, count=1)[0])
    if not np.isfinite(scale) or scale < 0.0:
        raise ValueError(f"content must have a scale that is finite and not negative, got {scale}")
    packed = np.frombuffer(content, np.uint8, offset=SCALE.itemsize)
    digits = np.unpackbits(packed, bitorder="little")
    if digits[dim * bits :].any():
        raise ValueError(f"content must end with zeros after {dim * bits} bits, got others")
    weights = np.uint64(1) << np.arange(bits, dtype=np.uint64)
    levels = digits[: dim * bits].reshape(dim, bits) @ weights
    return np.zeros(dim) if scale == 0.0 else _values_of(levels.astype(np.float64), bits, scale)
