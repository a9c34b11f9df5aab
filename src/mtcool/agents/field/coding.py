"""Models and gradients as bytes: rounded to a few bits, in few coordinates, or as they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mtcool import validation
from mtcool.agents.kernels import largest_of, round_vector
from mtcool.field import Messages
from mtcool.field.packing import pack, unpack
from mtcool.peers.field.records import Rules
from mtcool.types import Floats


class Code(NamedTuple):
    """How agents of one network code what they send."""

    messages: Messages
    rules: Rules
    dim: int

    @property
    def in_bits(self) -> bool:
        """Whether numbers are rounded."""
        return self.rules.bits > 0

    @property
    def in_coordinates(self) -> bool:
        """Whether only some coordinates are sent, and both ends keep copies."""
        return self.rules.coordinates > 0

    def rounded(self, values: Floats, kind: int, i: int, j: int, n: int) -> bytes:
        """The bytes of a vector, rounded to a few bits by the draws of this kind."""
        coded, rules = np.empty(self.dim), self.rules
        scale = round_vector(values, rules.bits, rules.seed, kind, i, j, n, coded)
        return pack(coded, self.messages, scale)

    def largest(self, values: Floats) -> Floats:
        """The vector with zeros for all coordinates but the largest."""
        coded = np.empty(self.dim)
        largest_of(values, self.rules.coordinates, np.empty(self.dim, np.int64), coded)
        return coded

    def packed(self, values: Floats) -> bytes:
        """The bytes of a vector that needs no rounding."""
        return pack(values, self.messages)

    def unpacked(self, name: str, content: bytes) -> Floats:
        """The vector in these bytes; refuses what is none, and says what it was to be."""
        if not isinstance(content, bytes):
            raise ValueError(f"content of {name} must be bytes, got {content!r}")
        return validation.vector(name, unpack(content, self.dim, self.messages), self.dim)
