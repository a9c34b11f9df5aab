"""Saved networks taken apart and put together again, with a right checksum: forged files."""

import msgspec
import numpy as np

from mtcool.network import storage


def taken_apart(path):
    """Header, as plain values, and arrays, which can be written to."""
    header, arrays, _ = storage.read(path)
    return msgspec.msgpack.decode(header), {name: array.copy() for name, array in arrays.items()}


def forge(path, header, arrays):
    """A file with this content that no checksum gives away."""
    content = {"header": np.frombuffer(msgspec.msgpack.encode(header), np.uint8), **arrays}
    content["checksum"] = np.frombuffer(storage.checksum(content), np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **content)
