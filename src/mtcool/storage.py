"""One file for a saved network: a header of plain values, and arrays, bit for bit.

The file is a NumPy archive without pickles: reading one never runs code.
"""

import os
import tempfile
import zipfile
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

FORMAT = "mtcool-network-1"

Arrays = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write header and arrays to `path`, which appears only when it is complete."""
    target = Path(path)
    text = msgspec.msgpack.encode({"format": FORMAT, **header})
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, header=np.frombuffer(text, np.uint8), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file that `write` made; anything else is refused."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = msgspec.msgpack.decode(arrays.pop("header").tobytes())
        found = header["format"]
    except (
        AttributeError,
        EOFError,
        KeyError,
        TypeError,
        ValueError,
        msgspec.DecodeError,
        zipfile.BadZipFile,
    ) as error:
        raise ValueError(f"path must be a saved network, got {os.fspath(path)!r}") from error
    if found != FORMAT:
        raise ValueError(f"path must hold a file of format {FORMAT}, got {found!r}")
    return header, arrays


def state_arrays(state: Any, prefix: str = "state") -> Iterator[tuple[str, NDArray[Any]]]:
    """Names and arrays of a state, nested states included; read-only arrays never change."""
    for name, field in zip(state._fields, state, strict=True):
        if hasattr(field, "_fields"):
            yield from state_arrays(field, f"{prefix}.{name}")
        elif isinstance(field, np.ndarray) and field.flags.writeable:
            yield f"{prefix}.{name}", field


def plain_labels(labels: Sequence[Hashable]) -> list[Any] | None:
    """Labels as values that the header can hold; None for 0, ..., N - 1."""
    return None if isinstance(labels, range) else [_plain(label) for label in labels]


def labels_from(stored: Any) -> Any:
    """The labels behind `plain_labels`; a list can only have been a tuple."""
    if isinstance(stored, list):
        return tuple(labels_from(item) for item in stored)
    return stored


def _plain(label: Any) -> Any:
    if isinstance(label, tuple):
        return [_plain(item) for item in label]
    if isinstance(label, np.generic):
        label = label.item()
    fits = label is None or isinstance(label, bool | float | str)
    if fits or (isinstance(label, int) and -(2**63) <= label < 2**63):
        return label
    raise ValueError(
        f"labels must be numbers, strings or tuples of them to be saved, got {label!r}"
    )
