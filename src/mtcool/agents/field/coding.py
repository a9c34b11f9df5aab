"""Models and gradients as bytes: rounded to a few bits, or as they are."""

from __future__ import annotations

import numpy as np

from mtcool import validation
from mtcool.agents.kernels import round_vector
from mtcool.field import Messages
from mtcool.field.packing import NUMBER, pack, unpack
from mtcool.peers.field.records import Rules
from mtcool.types import Floats


class Code:
    """How agents of one network code what they send."""

    def __init__(self, messages: Messages, rules: Rules, dim: int) -> None:
        self.messages, self.rules, self.dim = messages, rules, dim
        self.in_bits = rules.bits > 0
        """Whether numbers are rounded."""

    def rounded(self, values: Floats, kind: int, i: int, j: int, n: int) -> bytes:
        """The bytes of a vector, rounded to a few bits by the draws of this kind."""
        coded, rules = np.empty(self.dim), self.rules
        scale = round_vector(values, rules.bits, rules.seed, kind, i, j, n, coded)
        return pack(coded, self.messages, scale)

    def packed(self, values: Floats) -> bytes:
        """The bytes of a vector as it is."""
        return values.astype(NUMBER, copy=False).tobytes()

    def unpacked(self, name: str, content: bytes) -> Floats:
        """The vector in these bytes; refuses what is none, and says what it was to be."""
        if not isinstance(content, bytes):
            raise ValueError(f"content of {name} must be bytes, got {content!r}")
        if not self.in_bits and len(content) == NUMBER.itemsize * self.dim:
            values = np.frombuffer(content, NUMBER).astype(np.float64)
        else:
            values = unpack(content, self.dim, self.messages)
        return validation.vector(name, values, self.dim)
