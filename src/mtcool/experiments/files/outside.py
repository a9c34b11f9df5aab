"""Losses that an experiment file brings along, as "module:Class"."""

import functools
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from mtcool import streams
from mtcool.experiments.files.spec import Point, Stream
from mtcool.kernels import code_of
from mtcool.types import Given

FUNCTIONS = (
    streams.value,
    streams.subgradient,
    streams.width,
    streams.lipschitz,
    streams.check,
)


def is_outside(stream: Stream) -> bool:
    """Whether the file brings this loss along."""
    return ":" in stream.loss


def look_in(folder: str | Path) -> None:
    """Let modules be found in the folder of the experiment file, after all other places."""
    place = str(Path(folder).resolve())
    if place not in sys.path:
        sys.path.append(place)
        importlib.invalidate_caches()


def look_for(points: Sequence[Point], folder: Path) -> None:
    """Find the modules that the points ask for, in the folder or elsewhere."""
    for stream in (point.stream for point in points if is_outside(point.stream)):
        look_in(folder)
        file, module = module_file(stream, folder), stream.loss.partition(":")[0]
        found = getattr(_module("stream.loss", stream.loss), "__file__", None)
        if file is not None and (found is None or not file.samefile(found)):
            raise ValueError(
                f"stream.loss must name a module that is there once, got {stream.loss!r}, and "
                f"{module} is {file} and {found}"
            )


def loss_kind(stream: Stream) -> streams.Kind:
    """The kind of loss that a stream asks for, with its parameters."""
    if not is_outside(stream):
        if stream.loss not in streams.KINDS:
            raise ValueError(
                f"stream.loss must be one of {', '.join(sorted(streams.KINDS))}, "
                f'got {stream.loss!r}; a loss of your own is "module:Class"'
            )
        cls: Any = streams.KINDS[stream.loss]
    else:
        cls = find("stream.loss", stream.loss)
    try:
        kind = streams.make_kind(cls, stream.parameters)
    except ValueError as error:
        raise ValueError(f"stream.loss = {stream.loss!r}: {error}") from None
    if streams.lipschitz.dispatch(cls) is streams.lipschitz.dispatch(object):
        raise ValueError(f"stream.loss must have a lipschitz constant, got {stream.loss!r}")
    return kind


def find(key: str, name: str) -> Given:
    """What the name "module:Class" stands for; the module is imported, which runs it."""
    module, _, attribute = name.partition(":")
    found = getattr(_module(key, name), attribute, None)
    if found is None:
        raise ValueError(f"{key} must name a class of the module {module}, got {name!r}")
    return found


def _module(key: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(name.partition(":")[0])
    except Exception as error:  # whatever goes wrong in a module of the user's
        raise ValueError(
            f"{key} must name a module that can be imported, got {name!r}: "
            f"{type(error).__name__}: {error}"
        ) from None


def code_digest(stream: Stream) -> str | None:
    """A name for the code of a loss from outside: its results are not those of other code."""
    return _digest(find("stream.loss", stream.loss)) if is_outside(stream) else None


@functools.cache
def _digest(cls: type) -> str:
    return code_of(tuple(function.dispatch(cls) for function in FUNCTIONS))


def module_file(stream: Stream, folder: Path) -> Path | None:
    """The file of a module that stands next to the experiment file."""
    file = folder / f"{stream.loss.partition(':')[0]}.py"
    return file if is_outside(stream) and file.is_file() else None
