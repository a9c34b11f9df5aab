"""One file for a saved network: a header of plain values, and arrays, bit for bit.

The file is a NumPy archive without pickles: reading one never runs code.
"""

import os
import secrets
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

FORMAT = "mtcool-network-1"

Arrays = dict[str, NDArray[Any]]


def write(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays, secret: bool = False
) -> None:
    """Write header and arrays to `path`, which appears only when it is complete.

    A secret file can be read by its owner only.
    """
    target = Path(path)
    text = _encoded({"format": FORMAT, **header})
    # Not tempfile's: its files are readable by their owner only, whatever the umask.
    temporary = target.with_name(f"mtcool-{secrets.token_hex(8)}.tmp")
    try:
        mode = 0o600 if secret else 0o666
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            np.savez(file, allow_pickle=False, header=np.frombuffer(text, np.uint8), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str], *names: str) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays, `names` among them, of a file that `write` made; others are refused."""
    with open(Path(path), "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            header = msgspec.msgpack.decode(arrays.pop("header").tobytes())
            found, missing = header["format"], set(names) - set(arrays)
        except Exception as error:  # of zipfile, NumPy or msgspec: damage shows in many ways
            raise ValueError(f"path must be a saved network, got {str(path)!r}") from error
    if found != FORMAT:
        raise ValueError(f"path must hold a file of format {FORMAT}, got {found!r}")
    if missing:
        raise ValueError(f"path must hold the arrays {', '.join(names)}, got {str(path)!r}")
    return header, arrays


def state_arrays(state: Any, prefix: str = "state") -> Iterator[tuple[str, NDArray[Any]]]:
    """Names and arrays of a state, nested states included: what a file must hold of it.

    Not read-only arrays, which never change, nor views of other fields, nor a field `work`, which
    is scratch.
    """
    blocks = {id(field) for field in state if isinstance(field, np.ndarray)}
    for name, field in zip(state._fields, state, strict=True):
        if name == "work" or (isinstance(field, np.ndarray) and id(field.base) in blocks):
            continue
        if hasattr(field, "_fields"):
            yield from state_arrays(field, f"{prefix}.{name}")
        elif isinstance(field, np.ndarray) and field.flags.writeable:
            yield f"{prefix}.{name}", field


def restore(state: Any, arrays: Arrays) -> None:
    """Copy saved arrays into a state of the same learner; refused unless they fit exactly."""
    own = dict(state_arrays(state))
    saved = {name: array for name, array in arrays.items() if name.startswith("state.")}
    shapes, wanted = (
        {name: (a.dtype, a.shape) for name, a in part.items()} for part in (own, saved)
    )
    if shapes != wanted:
        strange = min(name for name, _ in shapes.items() ^ wanted.items())
        raise ValueError(
            f"learner must have the state that was saved, got {shapes.get(strange)} for "
            f"{strange} in place of {wanted.get(strange)}"
        )
    for name, array in own.items():
        array[...] = saved[name]


def plain(value: Any) -> Any:
    """A value as it comes back from a file: tuples are lists."""
    return msgspec.msgpack.decode(_encoded(value))


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.msgpack.encode(value)
    except TypeError as error:
        raise ValueError(
            f"learner and settings must be plain values to be saved, got {value!r}"
        ) from error


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
    if isinstance(label, np.generic) and label.dtype.kind in "biufU":
        label = label.item()
    fits = label is None or (isinstance(label, bool | float | str) and label == label)
    if fits or (isinstance(label, int) and -(2**63) <= label < 2**63):
        return label
    raise ValueError(
        f"labels must be numbers, strings or tuples of them to be saved, got {label!r}"
    )
