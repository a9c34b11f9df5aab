"""One file for a saved network: a header of plain values, and arrays, bit for bit.

The file is a NumPy archive without pickles and without compression: reading one never runs code,
and takes no more memory than a few times its bytes. A checksum over header and arrays tells damage.
"""

import ast
import hashlib
import io
import math
import os
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

from mtcool import memory
from mtcool.files import write_whole
from mtcool.types import AnyArray, Plain

Arrays = dict[str, AnyArray]

_LONGEST_DESCRIPTION = 10_000  # bytes that say of an array what it holds
_NUMBERS = re.compile(r"[<>|][iuf][1248]")


def write(
    path: str | os.PathLike[str], header: bytes, arrays: Mapping[str, AnyArray], secret: bool
) -> None:
    """Write header and arrays to `path`, which appears only when it is complete.

    A secret file can be read by its owner only.
    """
    content = {"header": np.frombuffer(header, np.uint8)}
    content |= {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    content["checksum"] = np.frombuffer(checksum(content), np.uint8)

    def fill(file: BinaryIO) -> None:
        np.savez(file, allow_pickle=False, **content)

    write_whole(path, fill, secret=secret)


def read(path: str | os.PathLike[str]) -> tuple[bytes, Arrays, bytes]:
    """Header and arrays of a file that `write` made, and its checksum, which is not compared yet.

    A file of another version may have another one: look at the header first.
    """
    if not isinstance(path, str | os.PathLike):  # an integer would be the number of an open file
        raise ValueError(f"path must be the path of a file, got {path!r}")
    found = os.stat(path)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):  # a pipe would wait
        raise ValueError(f"path must be a file, not a device or a pipe, got {os.fspath(path)!r}")
    memory.require("path", repr(os.fspath(path)), found.st_size)
    with open(path, "rb") as file:
        content = file.read()
    try:
        arrays = dict(_arrays(content))
        header, stored = (arrays.pop(name) for name in ("header", "checksum"))
    except Exception as error:  # of zipfile or NumPy: damage shows in many ways
        raise ValueError(f"path must be a saved network, got {os.fspath(path)!r}") from error
    return header.tobytes(), arrays, stored.tobytes()


def checksum(arrays: Mapping[str, AnyArray]) -> bytes:
    """SHA-256 of names, types, shapes and bytes, whatever the order."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(repr((name, array.dtype.descr, array.shape)).encode())
        if array.size:
            digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.digest()


def _arrays(content: bytes) -> Iterator[tuple[str, AnyArray]]:
    left = len(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        # Models are archives within archives: of a file that was cut off, zipfile finds one inside.
        if not members or members[0].header_offset != 0:
            raise ValueError("archive must begin where the file begins")
        names = [member.filename.removesuffix(".npy") for member in members]
        if len(set(names)) < len(names):
            raise ValueError(f"arrays must have different names, got {names}")
        for member, name in zip(members, names, strict=True):
            # Without compression and without overlap no file is larger inside than outside.
            left -= member.file_size
            if member.compress_type != zipfile.ZIP_STORED or left < 0:
                raise ValueError(f"arrays must be stored as they are, got {name}")
            yield name, _array(archive.read(member))


def _array(content: bytes) -> AnyArray:
    """The array in the bytes of an .npy file, as a view of them; NumPy's reader trusts shapes."""
    stream = io.BytesIO(content)
    major, _ = np.lib.format.read_magic(stream)
    length = int.from_bytes(stream.read(2 if major == 1 else 4), "little")
    if length > _LONGEST_DESCRIPTION:
        raise ValueError(f"description of an array must be short, got {length} bytes")
    text = stream.read(length).decode("ascii")
    if "\\" in text:
        raise ValueError(f"description of an array must be plain, got {text!r}")
    description = ast.literal_eval(text.strip())
    if set(description) != {"descr", "fortran_order", "shape"} or description["fortran_order"]:
        raise ValueError(f"array must be stored row by row, got {text!r}")
    shape, dtype = description["shape"], _dtype(description["descr"])
    count = math.prod(shape)
    if min(shape, default=0) < 0 or len(content) != stream.tell() + count * dtype.itemsize:
        raise ValueError(f"array must be as long as its shape, got {text!r}")
    if count == 0:
        return np.zeros(shape, dtype)
    return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape)


def _dtype(description: Plain) -> np.dtype[Any]:
    """Numbers, or records of numbers: nothing that NumPy would have to unpickle."""
    types = [description] if isinstance(description, str) else [kind for _, kind in description]
    for kind in types:
        if not _NUMBERS.fullmatch(kind):
            raise ValueError(f"arrays must hold numbers, got {kind!r}")
    dtype: np.dtype[Any] = np.dtype(description)
    return dtype
