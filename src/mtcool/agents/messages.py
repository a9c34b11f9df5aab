"""What agents say to each other: small typed messages, and their bytes.

In bytes a message is the version of the schema, one byte, and a MessagePack array: what kind it is,
who sends it, and the content. Vectors are raw 64-bit little-endian numbers, so nothing is rounded
on the way, and the size of a message does not depend on the numbers in it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
import numpy as np

from mtcool.types import Floats, Label, Plain

SCHEMA = 1
NUMBER = np.dtype("<f8")


class RowRequest(msgspec.Struct, frozen=True, eq=False, array_like=True, tag=1):
    """Step 2: ask for the receiver's model of the sender's task."""

    sender: Plain
    """Name of the agent that asks."""


class Rows(msgspec.Struct, frozen=True, eq=False, array_like=True, tag=2):
    """The answer: the model of the asker's task, in units of the radius."""

    sender: Plain
    model: np.ndarray
    """(d,)."""
    experts: np.ndarray
    """Of private agents: the asker's row of every expert, one after the other; else empty."""


class Gradient(msgspec.Struct, frozen=True, eq=False, array_like=True, tag=3):
    """Step 5: a gradient, in units of `lipschitz`, and the weight that the receiver learns with."""

    sender: Plain
    weight: float
    gradient: np.ndarray


class Sums(msgspec.Struct, frozen=True, eq=False, array_like=True, tag=4):
    """Step 5 of private agents: all that the sender has published for the receiver.

    A later message replaces an earlier one.
    """

    sender: Plain
    weight: float
    total: np.ndarray
    """Noisy sum of the sender's gradients, (d,)."""
    products: np.ndarray
    """Noisy sums of their products with the rows of the receiver's experts."""


class LossShared(msgspec.Struct, frozen=True, eq=False, array_like=True, tag=5):
    """Step 5 of ST-FTRL: the loss itself, by its kind and its numbers."""

    sender: Plain
    kind: str
    """One of the package's own kinds (`streams.kinds`)."""
    parameters: list[float]
    row: np.ndarray


Message: TypeAlias = RowRequest | Rows | Gradient | Sums | LossShared


def encode(message: Message) -> bytes:
    """The bytes of a message.

    Examples
    --------
    >>> len(encode(Gradient("rome", 0.5, np.array([1.0, 2.0]))))
    35
    """
    return bytes([SCHEMA]) + _ENCODER.encode(message)


def decode(content: bytes) -> Message:
    """The message in these bytes; anything else is refused with a ValueError.

    Examples
    --------
    >>> decode(encode(Gradient("rome", 0.5, np.array([1.0, 2.0])))).gradient
    array([1., 2.])
    >>> decode(b"hello")
    Traceback (most recent call last):
    ...
    ValueError: content must be a message of schema 1, got schema 104
    """
    if not content or content[0] != SCHEMA:
        found = f"schema {content[0]}" if content else "nothing"
        raise ValueError(f"content must be a message of schema {SCHEMA}, got {found}")
    try:
        message: Message = _DECODER.decode(content[1:])
    except (msgspec.DecodeError, ValueError) as error:
        raise ValueError(f"content must be a message, got {len(content)} bytes: {error}") from error
    return message


def label_of(stored: Plain) -> Label:
    """The name of an agent as it was before it was encoded: a list can only have been a tuple."""
    return tuple(label_of(item) for item in stored) if isinstance(stored, list) else stored


def _to_bytes(value: object) -> Plain:
    if isinstance(value, np.ndarray):
        return value.astype(NUMBER, copy=False).tobytes()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be part of a message")


def _to_array(kind: type, value: bytes) -> Floats:
    return np.frombuffer(value, NUMBER).astype(np.float64)


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_to_bytes)
_DECODER: Any = msgspec.msgpack.Decoder(Message, dec_hook=_to_array)
