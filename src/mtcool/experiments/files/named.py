"""What the names in an experiment file stand for, and the code from outside that it needs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mtcool import streams
from mtcool.config import outside
from mtcool.config.algorithms import aggregator_of, learner_of
from mtcool.config.outside import is_outside
from mtcool.experiments.files import spec


def loss_kind(stream: spec.StreamSpec) -> streams.Kind:
    """The kind of loss that a stream asks for, with its parameters."""
    if not is_outside(stream.loss):
        if stream.loss not in streams.KINDS:
            raise ValueError(
                f"stream.loss must be one of {', '.join(sorted(streams.KINDS))}, "
                f'got {stream.loss!r}; a loss of your own is "module:Class"'
            )
        cls: Any = streams.KINDS[stream.loss]
    else:
        cls = outside.find("stream.loss", stream.loss, "a class")
    try:
        kind = streams.make_kind(cls, stream.parameters)
    except ValueError as error:
        raise ValueError(f"stream.loss = {stream.loss!r}: {error}") from None
    if streams.lipschitz.dispatch(cls) is streams.lipschitz.dispatch(object):
        raise ValueError(f"stream.loss must have a lipschitz constant, got {stream.loss!r}")
    return kind


def check_names_of(point: spec.Point) -> None:
    """Refuse names that stand for nothing, and parameters that do not fit them."""
    loss_kind(point.stream)
    for number, one in enumerate(point.algorithm, start=1):
        learner_of(one, f"algorithm {number}")
        aggregator_of(one, f"algorithm {number}")


def outside_names(point: spec.Point) -> Iterator[tuple[str, str]]:
    """The names of a point that stand for code from outside, each with its place in the file."""
    every: list[tuple[str, str | None]] = [("stream.loss", point.stream.loss)]
    for number, one in enumerate(point.algorithm, start=1):
        every.append((f"algorithm {number}.algorithm", one.algorithm))
        every.append((f"algorithm {number}.learner", one.learner))
        every.append((f"algorithm {number}.aggregator", one.aggregator))
    yield from ((key, name) for key, name in every if name is not None and is_outside(name))


def look_for(points: Iterable[spec.Point], folder: Path) -> None:
    """Find the modules that the points ask for, in the folder or elsewhere."""
    for name, key in _places(points).items():
        outside.look_for(key, name, folder)


def _places(points: Iterable[spec.Point]) -> dict[str, str]:
    """Where in the file the names stand that are from outside; each once."""
    return {name: key for point in points for key, name in outside_names(point)}


def code_digest(point: spec.Point) -> list[str]:
    """Names for the code from outside that makes numbers of the point, in the order of the file."""
    return [outside.digest(outside.module_of(key, name)) for key, name in outside_names(point)]


def files_beside(points: Iterable[spec.Point], folder: Path) -> dict[str, Path]:
    """The files in the folder that hold code of the points, by their place in it."""
    place = folder.resolve()
    modules = [outside.module_of(key, name) for name, key in _places(points).items()]
    files = {file for module in modules for file in outside.files_of(module)}
    return {file.relative_to(place).as_posix(): file for file in files if place in file.parents}
