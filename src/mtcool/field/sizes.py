"""Bytes of messages, known without writing them: they do not depend on the numbers in them.

A message is the version of the schema and a MessagePack array: tag, sender, numbers of nine bytes,
and the content. `mtcool.agents.messages` writes them; tests compare.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from mtcool.graphs.labels import plain_name
from mtcool.types import Integers, Label, Name

HEAD = 3  # schema, array, tag
NUMBER = 9


def request_size() -> int:
    """Bytes of a request without its sender's name."""
    return HEAD + NUMBER


def row_size(content: int) -> int:
    """Bytes of an answer without its sender's name; `content` is that of the coded row."""
    return HEAD + 2 * NUMBER + content_size(content)


def gradient_size(content: int) -> int:
    """Bytes of a gradient without its sender's name; `content` is that of the coded gradient."""
    return HEAD + 3 * NUMBER + content_size(content)


def content_size(content: int) -> int:
    """Bytes of so many bytes in MessagePack, which says how many there are.

    Examples
    --------
    >>> content_size(16), content_size(800)
    (18, 803)
    """
    return content + (2 if content < 2**8 else 3 if content < 2**16 else 5)


def name_sizes(labels: Sequence[Label]) -> Integers:
    """Bytes of every agent's name in a message.

    Examples
    --------
    >>> name_sizes(["rome", ("a", 1)]).tolist()
    [5, 4]
    """
    if not isinstance(labels, range):
        return np.array([_size_of_any(label) for label in labels], np.int64)
    # MessagePack writes whole numbers with as many bytes as they need.
    longer = [2**7, 2**8, 2**16, 2**32]
    sizes = np.array([name_size(number) for number in (0, *longer)])
    return sizes[np.searchsorted(longer, np.arange(len(labels)), side="right")]


def name_size(label: Label | Name) -> int:
    """Bytes of a name that can be sent."""
    return len(msgspec.msgpack.encode(label))


def _size_of_any(label: Label) -> int:
    try:
        return name_size(label)
    except (TypeError, OverflowError):
        pass
    try:
        return name_size(plain_name(label, "sent"))  # NumPy's numbers, alone or in a tuple
    except ValueError:
        return name_size(str(label))  # a name that could not be sent as it is
