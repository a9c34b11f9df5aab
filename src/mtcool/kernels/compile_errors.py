"""A mistake in a function from outside the package, in a sentence.

numba tells of an undefined name in hundreds of lines, most of them about the functions that call
the one with the mistake. Here are the function, the line, and what is wrong with it.
"""

import linecache
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

PACKAGE = str(Path(__file__).parents[1])
LONGEST = 300  # characters of numba's message: types of large states are long

_PIPELINE = "Failed in nopython mode pipeline"
_REASON = "specific error:"
_PLACE = re.compile(r"^( *)During: .* at (\S.*) \((\d+)\)$")


class CompileError(ValueError):
    """A function from outside the package that cannot be compiled."""

    function = ""
    """The dispatched function that it implements, such as "update_row"."""


class Chosen(NamedTuple):
    """An implementation that the compiler asked for."""

    name: str
    """Of the dispatched function, such as "update_row"."""
    kind: type
    """The state or peers that it is for."""
    function: FunctionType

    @property
    def outside(self) -> bool:
        """Whether it was written outside the package."""
        return not self.function.__code__.co_filename.startswith(PACKAGE)

    def has(self, path: str, line: int) -> bool:
        """Whether the line of the file is part of it."""
        lines = self._lines()
        return self.function.__code__.co_filename == path and lines[0] <= line <= lines[-1]

    def place_of(self, what: str) -> tuple[str, int]:
        """The file, and the first line with the name that a message quotes, or that of the def."""
        path, lines = self.function.__code__.co_filename, self._lines()
        for name in re.findall(r"'(\w+)'", what):
            for line in lines:
                if re.search(rf"\b{name}\b", linecache.getline(path, line)):
                    return path, line
        return path, lines[0]

    def _lines(self) -> list[int]:
        found = self.function.__code__.co_lines()
        return sorted({line for *_, line in found if line is not None})


chosen: list[Chosen] = []
"""All implementations that were asked for, the latest last."""
missing: list[tuple[str, type]] = []
"""Functions that were asked for, and the types that they are not implemented for."""


def explained(error: Exception, arguments: tuple[object, ...]) -> CompileError | None:
    """What is wrong in the outside function that could not be compiled for the arguments.

    None if there is no such function among those that the arguments choose.
    """
    kinds = set(_kinds(arguments))
    for name, kind in missing:
        if kind in kinds:
            return _about(
                name,
                f"{name} is not implemented for {kind.__name__}: register a function with "
                f"@{name}.register and the annotation {kind.__name__}",
            )
    candidates = [one for one in reversed(chosen) if one.outside and one.kind in kinds]
    if not candidates:
        return None
    lines = str(error).splitlines()
    messages = list(_messages(lines))
    for number, text in enumerate(lines):
        found = _PLACE.match(text)
        if found is None or not _is_strange(found[2]):
            continue
        before = [m for n, indent, m in messages if n < number and indent == len(found[1])]
        where = next((one for one in candidates if one.has(found[2], int(found[3]))), None)
        return _sentence(
            where or candidates[0], found[2], int(found[3]), (before or [lines[0].strip()])[-1]
        )
    what = messages[-1][2] if messages else f"{type(error).__name__}: {lines[0] if lines else ''}"
    path, line = candidates[0].place_of(what)
    return _sentence(candidates[0], path, line, what)


def _sentence(one: Chosen, path: str, line: int, what: str) -> CompileError:
    source = linecache.getline(path, line).strip()
    shown = f" ({source})" if source and not source.startswith("@") else ""
    what = what if len(what) <= LONGEST else what[:LONGEST] + " ..."
    place = f"{path}, line {line}{shown}"
    return _about(one.name, f"{one.name} for {one.kind.__name__} does not compile: {place}: {what}")


def _about(function: str, sentence: str) -> CompileError:
    error = CompileError(sentence)
    error.function = function
    return error


def _messages(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """What numba says at each level: the number of the line, its indentation, its words."""
    for number, (before, text) in enumerate(pairwise(lines), start=1):
        if not before.endswith(_REASON) and _PIPELINE not in before:
            continue
        if _PIPELINE in text or not text.strip():
            continue
        what = re.sub(r"^\w*Error: (?=[A-Z])", "", text.strip())
        if what.endswith("found for signature:"):
            calls = (line.strip() for line in lines[number:] if line.strip().startswith(">>>"))
            what = f"{what[:-1]} {next(calls, '')[4:]}"
        yield number, len(text) - len(text.lstrip()), what


def _is_strange(path: str) -> bool:
    return not path.startswith(PACKAGE) and "/numba/" not in path.replace("\\", "/")


def _kinds(values: tuple[object, ...]) -> Iterator[type]:
    """The types of named tuples among the values, nested ones too."""
    for value in values:
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            yield type(value)
            yield from _kinds(value)
