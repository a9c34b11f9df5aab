"""What a kernel's machine code depends on, as a name that is the same in every process.

For the package's own code that is the content of the files that hold compiled code, or constants
and states of it: an edit in one of them, and nowhere else, compiles anew. A learner or a loss from
elsewhere is known by its bytecode, by the functions that it calls, and by the values that it reads;
where these cannot be described, it is compiled anew in every process.
"""

import functools
import hashlib
import itertools
import os
import platform
import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import types

PACKAGE = __name__.split(".")[0]

# Decorators of compiled functions, and the imports of a file.
COMPILED = {b"kernel", b"routine", b"inline", b"dispatched", b"overload"}
DECORATOR = re.compile(rb"^@([\w.]+)", re.MULTILINE)
DISPATCHED = re.compile(rb"^@dispatched\ndef (\w+)", re.MULTILINE)
IMPORT = re.compile(rb"^from mtcool\.([\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
# A name in capitals that a file sets, or a class of arrays.
CONSTANT = re.compile(rb"^(?:class (\w+)\(NamedTuple\)|([A-Z][A-Z0-9_]*\b)[^=\n]*=)", re.MULTILINE)

HOW = ("kernels/__init__.py", "kernels/identity.py", "kernels/lanes.py", "kernels/linking.py")
"""Files that decide how code is compiled."""

registries: list[Any] = []
"""All functions that are dispatched by the type of their first argument."""

# For a value that cannot be described: no two are the same, so its code is never found again.
_unknown = ((os.getpid(), secrets.token_hex(16), number) for number in itertools.count())


@functools.cache
def source_digest() -> str:
    """A name for the state of the files that hold compiled code."""
    return digest_of(sources(package_files()))


def package_files(folder: str = "") -> dict[str, bytes]:
    """The files of a folder of the package, or of all, by their path in it."""
    package = Path(__file__).parent.parent
    found = (package / folder).rglob("*.py")
    return {file.relative_to(package).as_posix(): file.read_bytes() for file in sorted(found)}


def sources(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Of the files of the package those that machine code depends on.

    They have compiled functions, or constants and states that such files import, or they say how
    code is compiled.
    """
    marks = {
        name: set(DECORATOR.findall(text))
        for name, text in files.items()
        if b"mtcool.kernels" in text or b".register" in text
    }
    compiled = set(COMPILED)
    for name, found in marks.items():
        if b"dispatched" in found:
            compiled |= {one + b".register" for one in DISPATCHED.findall(files[name])}
    chosen = {name for name, found in marks.items() if found & compiled}
    for name in sorted(chosen):
        for module, imported in IMPORT.findall(files[name]):
            other = module.decode().replace(".", "/") + ".py"
            constants = {one for pair in CONSTANT.findall(files.get(other, b"")) for one in pair}
            if constants & set(re.findall(rb"\w+", imported)):
                chosen.add(other)
    chosen |= {name for name in files if name in HOW}
    return {name: text for name, text in files.items() if name in chosen}


def digest_of(files: Mapping[str, bytes]) -> str:
    """A name for the names and contents of files."""
    digest = hashlib.sha256()
    for name, text in files.items():
        digest.update(f"{name} {len(text)} ".encode() + text)
    return digest.hexdigest()[:16]


def identity(function: Any, arguments: tuple[types.Type, ...]) -> str:
    """A name for the machine code of `function` for these types of arguments."""
    digest = hashlib.sha256()
    known: list[Any] = [source_digest(), numba.__version__, platform.python_version()]
    known += [function.__module__, function.__qualname__, str(arguments)]
    seen: set[int] = set()
    known += _description(function, seen)
    for cls in {cls: None for argument in arguments for cls in _classes(argument)}:
        known += [cls.__module__, cls.__qualname__]
        for generic in registries:
            implementation = generic.dispatch(cls)
            # Others have no part in the machine code, and there may be any number of them.
            if implementation is not generic.dispatch(object):
                known += [generic.__module__, generic.__qualname__]
                known += _description(implementation, seen)
    for item in known:
        digest.update(repr(item).encode() + b"\0")
    return digest.hexdigest()[:16]


def _classes(argument: types.Type) -> Iterator[type]:
    if isinstance(argument, types.NamedTuple | types.NamedUniTuple):
        yield argument.instance_class
        for field in argument.types:
            yield from _classes(field)


def _description(value: Any, seen: set[int]) -> Iterator[Any]:
    """What compiled code takes from `value`, and from all that it refers to."""
    options = getattr(value, "targetoptions", None)
    value = getattr(value, "py_func", value)
    if id(value) in seen:
        return
    yield type(value).__qualname__
    if isinstance(value, int | float | complex | str | bytes | None):
        yield repr(value)
    elif isinstance(value, np.ndarray | np.generic):
        yield from (value.dtype.str, value.shape, value.tobytes())
    elif isinstance(value, tuple):
        for item in value:
            yield from _description(item, seen)
    elif isinstance(value, FunctionType) and _is_foreign(value.__module__):
        seen.add(id(value))
        yield sorted((options or {}).items(), key=repr)
        yield from _function(value, seen)
    elif isinstance(value, type) or _is_builtin(value):
        yield from (value.__module__, value.__qualname__, getattr(value, "_fields", ()))
    elif isinstance(value, ModuleType | np.ufunc | FunctionType):
        name = value.__name__
        # What a module of the user's holds may change with every look at it.
        foreign = isinstance(value, ModuleType) and _is_foreign(name)
        yield next(_unknown) if foreign else name
    else:
        yield next(_unknown)


def _function(function: FunctionType, seen: set[int]) -> Iterator[Any]:
    """What a function of the user's computes: bytecode refers to names and values by number."""
    names: set[str] = set()
    for code in _codes(function.__code__):
        yield from (code.co_code, code.co_names, code.co_freevars, code.co_cellvars)
        for constant in code.co_consts:
            if not isinstance(constant, CodeType):
                yield from _description(constant, seen)
        names |= set(code.co_names)
    yield from _description(function.__defaults__, seen)
    yield from _description(tuple((function.__kwdefaults__ or {}).items()), seen)
    for name in sorted(names & set(function.__globals__)):
        yield name
        yield from _description(function.__globals__[name], seen)
    for cell in function.__closure__ or ():
        yield from _description(cell.cell_contents, seen)


def _is_builtin(value: Any) -> bool:
    return isinstance(value, BuiltinFunctionType) or value in registries


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_foreign(module: str) -> bool:
    """Whether its code is covered neither by `sources` nor by a version."""
    return module.split(".")[0] not in (PACKAGE, "numba", "numpy", "math")
