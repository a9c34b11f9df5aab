"""What a kernel's machine code depends on, as a name that is the same in every process.

For the package's own code that is the content of the files in `SOURCES`. A learner or a loss from
elsewhere is known by its bytecode, by the functions that it calls, and by the values that it reads.
"""

import functools
import hashlib
import platform
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
from numba.core import types

PACKAGE = __name__.split(".")[0]

# Every file that holds compiled code: an edit in one of them, and nowhere else, compiles anew.
SOURCES = (
    "audit/transcript.py",
    "graphs/greedy.py",
    "kernels/__init__.py",
    "kernels/identity.py",
    "kernels/lanes.py",
    "kernels/linking.py",
    "layout.py",
    "learners/argmin.py",
    "learners/argmin_bisection.py",
    "learners/argmin_line.py",
    "learners/argmin_matrix.py",
    "learners/argmin_safe.py",
    "learners/argmin_sweep.py",
    "learners/dp_mt_ftrl.py",
    "learners/exponential.py",
    "learners/ftrl.py",
    "learners/kt.py",
    "learners/learner.py",
    "learners/mt_ftrl.py",
    "learners/mt_ftrl_clipped.py",
    "learners/mt_ftrl_closed.py",
    "learners/mt_ftrl_kt.py",
    "learners/mt_ftrl_lanes.py",
    "learners/mt_ftrl_line.py",
    "learners/mt_ftrl_singles.py",
    "learners/mt_ftrl_state.py",
    "learners/two_phase.py",
    "learners/wealth.py",
    "network.py",
    "privacy/aggregator.py",
    "privacy/filters.py",
    "privacy/release.py",
    "privacy/sanitiser.py",
    "privacy/trees.py",
    "private_peers.py",
    "protocol.py",
    "simulation/loop.py",
    "streams/losses.py",
    "streams/regression.py",
    "streams/stream.py",
)

registries: list[Any] = []
"""All functions that are dispatched by the type of their first argument."""


@functools.cache
def source_digest() -> str:
    """A name for the state of the files that hold compiled code."""
    return digest_of(SOURCES)


def digest_of(sources: tuple[str, ...]) -> str:
    """A name for the state of these files of the package."""
    digest, package = hashlib.sha256(), Path(__file__).parent.parent
    for name in sources:
        digest.update(name.encode())
        digest.update((package / name).read_bytes())
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
            known += _description(generic.dispatch(cls), seen)
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
    value = getattr(value, "py_func", value)
    if id(value) in seen:
        return
    if isinstance(value, FunctionType) and _is_foreign(value.__module__):
        seen.add(id(value))
        names = set()
        for code in _codes(value.__code__):
            yield code.co_code
            yield [item for item in code.co_consts if not isinstance(item, CodeType)]
            names |= set(code.co_names)
        for name in sorted(names & set(value.__globals__)):
            yield name
            yield from _description(value.__globals__[name], seen)
        for cell in value.__closure__ or ():
            yield from _description(cell.cell_contents, seen)
    elif isinstance(value, ModuleType) and _is_foreign(value.__name__):
        seen.add(id(value))
        file = getattr(value, "__file__", None)
        yield hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else value.__name__
    elif isinstance(value, int | float | str | bytes | bool | tuple):
        yield value
    elif hasattr(value, "tobytes"):
        yield value.tobytes()


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_foreign(module: str) -> bool:
    """Is its code covered neither by `SOURCES` nor by a version?"""
    return module.split(".")[0] not in (PACKAGE, "numba", "numpy", "math")
