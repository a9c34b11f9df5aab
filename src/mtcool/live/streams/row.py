"""One row of a stream: an agent, and what it predicts and learns from."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import msgspec

from mtcool.graphs.labels import plain_name
from mtcool.live.offset import Offset
from mtcool.types import Label, Plain

CHECK_BYTES = 6
"""Of a checksum, which any language must be able to hold as a number."""


class Row(NamedTuple):
    """A row of a stream.

    Examples
    --------
    >>> request = Row("rome", [0.5], 2.0, number=7).request()
    >>> request.pop("offset").row
    7
    >>> request
    {'do': 'round', 'agent': 'rome', 'features': [0.5], 'target': 2.0}
    """

    agent: Label
    features: list[float] | None
    """None where agents predict points."""
    target: float | None
    """None where a loss is given."""
    loss: tuple[str, list[float]] | None = None
    """The kind of a loss, and the numbers of its round."""
    number: int = 0
    """In the stream, from 1 on: of a row in a file, the line on which it begins."""

    def request(self) -> dict[str, Plain]:
        """The row as a request to a node."""
        told: dict[str, Plain] = {"do": "round", "agent": plain_name(self.agent, "sent")}
        if self.features is not None:
            told["features"] = self.features
        if self.loss is None:
            told["target"] = self.target
        else:
            kind, numbers = self.loss
            told["loss"] = {"kind": kind, "row": numbers}
        told["offset"] = self.offset
        return told

    @property
    def offset(self) -> Offset:
        """Its place in the stream, with a checksum of what it says."""
        said = plain_name(self.agent, "sent"), self.features, self.target, self.loss
        digest = blake2b(msgspec.msgpack.encode(said), digest_size=CHECK_BYTES).digest()
        return Offset(self.number, int.from_bytes(digest))
