"""What a kernel's machine code depends on, as a name that is the same in every process.

For the package's own code that is the content of the files in `SOURCES`. A learner or a loss from
elsewhere is known by its bytecode, by the functions that it calls, and by the values that it reads;
where these cannot be described, it is compiled anew in every process.
"""

import functools
import hashlib
import itertools
import os
import platform
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import types

PACKAGE = __name__.split(".")[0]

# Every file that holds compiled code: an edit in one of them, and nowhere else, compiles anew.
SOURCES = (
    "agents/kernels.py",
    "audit/transcript.py",
    "field/choosing.py",
    "field/codes.py",
    "field/draws.py",
    "field/largest.py",
    "field/vectors.py",
    "graphs/greedy.py",
    "kernels/__init__.py",
    "kernels/identity.py",
    "kernels/lanes.py",
    "kernels/linking.py",
    "learners/adaptive/adaptive.py",
    "learners/adaptive/bets.py",
    "learners/adaptive/rescale.py",
    "learners/changing.py",
    "learners/dp_mt_ftrl.py",
    "learners/exponential.py",
    "learners/ftrl.py",
    "learners/kt.py",
    "learners/learner.py",
    "learners/mt_ftrl/clipped.py",
    "learners/mt_ftrl/closed_form.py",
    "learners/mt_ftrl/in_lanes.py",
    "learners/mt_ftrl/mt_ftrl.py",
    "learners/mt_ftrl/on_line.py",
    "learners/mt_ftrl/singles.py",
    "learners/mt_ftrl/state.py",
    "learners/mt_ftrl_kt.py",
    "learners/panel/constants.py",
    "learners/panel/fields.py",
    "learners/panel/filters.py",
    "learners/panel/heard.py",
    "learners/panel/lessons.py",
    "learners/panel/limits.py",
    "learners/panel/mixing.py",
    "learners/panel/play.py",
    "learners/panel/promises.py",
    "learners/panel/regression.py",
    "learners/panel/ridges.py",
    "learners/panel/scaling.py",
    "learners/panel/state.py",
    "learners/panel/solving.py",
    "learners/solvers/line.py",
    "learners/solvers/matrix.py",
    "learners/solvers/newton.py",
    "learners/solvers/safe.py",
    "learners/solvers/sweep.py",
    "learners/squared_weights.py",
    "learners/two_phase.py",
    "learners/wealth.py",
    "peers/assemble.py",
    "peers/cliques.py",
    "peers/exchange.py",
    "peers/field/bounds.py",
    "peers/field/entries.py",
    "peers/field/events.py",
    "peers/field/exchange.py",
    "peers/field/labels.py",
    "peers/field/learning.py",
    "peers/field/partners.py",
    "peers/field/queue.py",
    "peers/field/records.py",
    "peers/field/rounds.py",
    "peers/field/waiting.py",
    "peers/private.py",
    "peers/private_exchange.py",
    "peers/protocol.py",
    "peers/single_task.py",
    "privacy/aggregators/aggregator.py",
    "privacy/aggregators/blt.py",
    "privacy/aggregators/filters.py",
    "privacy/aggregators/smooth_tree.py",
    "privacy/aggregators/trees.py",
    "privacy/release.py",
    "privacy/sanitiser.py",
    "simulation/loop.py",
    "streams/by_number.py",
    "streams/loss.py",
    "streams/losses.py",
    "streams/regression.py",
    "testing/aggregators/trial.py",
)

registries: list[Any] = []
"""All functions that are dispatched by the type of their first argument."""

# For a value that cannot be described: no two are the same, so its code is never found again.
_unknown = ((os.getpid(), secrets.token_hex(16), number) for number in itertools.count())


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
    """Whether its code is covered neither by `SOURCES` nor by a version."""
    return module.split(".")[0] not in (PACKAGE, "numba", "numpy", "math")
