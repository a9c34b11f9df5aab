"""How a file begins, by which one that has grown since is told from another in its place."""

import hashlib
import os

import msgspec

LOOKED_AT = 1 << 16
"""Bytes at the beginning of a file: more than a header, so that other rows are other bytes."""


class Beginning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number of bytes that were looked at, and their digest."""

    size: int
    digest: str


def beginning_of(path: str | os.PathLike[str], size: int = LOOKED_AT) -> Beginning:
    """The beginning of a file.

    Parameters
    ----------
    path
        The file.
    size
        At most so many bytes are looked at.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "sales.csv"
    ...     _ = path.write_text("day,sales\\n1,20\\n")
    ...     before = beginning_of(path)
    ...     _ = path.write_text("day,sales\\n1,20\\n2,30\\n")
    ...     beginning_of(path, before.size) == before
    True
    """
    with open(path, "rb") as file:
        content = file.read(size)
    return Beginning(len(content), hashlib.sha256(content).hexdigest())
