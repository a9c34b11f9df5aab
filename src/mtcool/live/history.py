"""The history of a link in one number: both of its ends keep one, and they must be the same."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from mtcool.types import Name

NOTHING = 0
"""The digest before the first message."""

SIZE = 8
_ENCODER = msgspec.msgpack.Encoder()


def chained(digest: int, messages: Iterable[tuple[Name, bytes]]) -> int:
    """The digest of a history that goes on with these messages: their receivers and contents.

    Examples
    --------
    >>> one, two = ("rome", b"gradient"), ("milan", b"gradient")
    >>> chained(chained(NOTHING, [one]), [two]) == chained(NOTHING, [one, two])
    True
    >>> chained(NOTHING, [two, one]) == chained(NOTHING, [one, two])
    False
    """
    for to, content in messages:
        before = digest.to_bytes(SIZE)
        found = blake2b(before + _ENCODER.encode(to) + content, digest_size=SIZE).digest()
        digest = int.from_bytes(found) >> 1  # SQLite has integers of 63 bits and a sign
    return digest
