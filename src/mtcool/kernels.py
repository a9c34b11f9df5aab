"""Compiled functions: one place that knows how numba is used.

Nothing else in the package talks to numba's machinery.

- `kernel` compiles a function and caches the machine code on disk;
- `inline` compiles a function into the kernels that call it;
- `dispatched` makes a function whose implementation is chosen by the *type* of its first argument.
  It is a `functools.singledispatch` function for Python and a numba overload for kernels, so the
  same implementation runs compiled in the simulator and uncompiled under `NUMBA_DISABLE_JIT=1`.

Dispatch by type, rather than functions passed as arguments, keeps the compile cache usable: numba
cannot cache a loop that closes over other functions.
"""

import functools
import hashlib
import inspect
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import config, types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic, overload

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

_config: Any = config  # its attributes are made at run time
_FunctionCache: Any = FunctionCache
_intrinsic: Any = intrinsic

# Every file that holds compiled code: an edit in one of them, and nowhere else, compiles anew.
SOURCES = (
    "audit/transcript.py",
    "graphs/greedy.py",
    "kernels.py",
    "layout.py",
    "learners/argmin.py",
    "learners/argmin_line.py",
    "learners/dp_mt_ftrl.py",
    "learners/exponential.py",
    "learners/ftrl.py",
    "learners/kt.py",
    "learners/learner.py",
    "learners/mt_ftrl.py",
    "learners/mt_ftrl_kt.py",
    "learners/two_phase.py",
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

# - `numpy` error model: a division by zero gives inf, as in NumPy, and no branch in the hot loop.
# - No NRT, numba's reference counting: kernels fill arrays that are there already and allocate
#   none. Passing a state from function to function would count a reference for each of its arrays,
#   which costs many times the arithmetic.
# - fastmath stays off: results are compared bit for bit.
_OPTIONS: Any = {"error_model": "numpy", "nogil": True, "_nrt": False}
# A call that is not inlined passes a state array by array.
_PART: Any = {**_OPTIONS, "forceinline": True}


@functools.cache
def source_digest() -> str:
    """A name for the state of the files that hold compiled code."""
    return digest_of(SOURCES)


def digest_of(sources: tuple[str, ...]) -> str:
    """A name for the state of these files of the package."""
    digest, package = hashlib.sha256(), Path(__file__).parent
    for name in sources:
        digest.update(name.encode())
        digest.update((package / name).read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Folder of the compile cache, keyed by the package's sources.

    numba checks only the file of the cached function, not the files it inlines: an edit in a
    learner would leave a stale loop behind. A folder per state of the sources cannot be stale.
    """
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "mtcool" / source_digest()


def kernel(function: F) -> F:
    """Compile `function` on first call and keep the machine code for the next process."""
    compiled = numba.njit(**_OPTIONS)(function)
    if _config.DISABLE_JIT:
        return compiled  # type: ignore[no-any-return]
    previous = _config.CACHE_DIR
    _config.CACHE_DIR = str(cache_folder())
    try:
        cache = _PackageCache(compiled.py_func)
    except RuntimeError:  # numba found no folder that it can write
        return compiled  # type: ignore[no-any-return]
    finally:
        _config.CACHE_DIR = previous
    # Where our folder cannot be written numba turns to others, whose names know of no edit.
    if cache_folder() in Path(cache.cache_path).parents:
        compiled._cache = cache
    return compiled  # type: ignore[no-any-return]


def inline(function: F) -> F:
    """Compile `function` as part of the kernels that call it."""
    return numba.njit(**_PART)(function)  # type: ignore[no-any-return]


def dispatched(stub: Callable[..., R]) -> "functools._SingleDispatchCallable[R]":
    """Make `stub` a function dispatched on the type of its first argument.

    Implementations are added with `@name.register` and the annotation of the first argument, and
    take arguments of the same names as the stub. Inside kernels the types are NamedTuples.
    """
    generic = functools.singledispatch(stub)

    def choose(state: types.Type, *_: types.Type) -> Callable[..., Any] | None:
        implementation = generic.dispatch(getattr(state, "instance_class", object))
        return None if implementation is stub else implementation

    # numba reads the argument names of an overload from its signature; not strict, because the
    # implementations carry annotations and the stub may not.
    choose.__signature__ = inspect.signature(stub)  # type: ignore[attr-defined]
    overload(generic, jit_options=_PART, strict=False)(choose)
    return generic


def power_of_two(shifted: float) -> float:
    """2^k, where `shifted` is k + 1.5 * 2^52: k then stands in the lowest bits of the number."""
    return math.ldexp(1.0, int(shifted - 1.5 * 2.0**52))


@overload(power_of_two, jit_options=_PART, strict=False)
def _power_of_two(shifted: types.Type) -> Callable[..., Any]:
    return lambda shifted: _exponent_from_low_bits(shifted)


@_intrinsic  # type: ignore[untyped-decorator]
def _exponent_from_low_bits(typing_context: Any, shifted: types.Type) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole, double = ir.IntType(64), ir.DoubleType()
        bits = builder.shl(builder.bitcast(arguments[0], whole), ir.Constant(whole, 52))
        return builder.bitcast(builder.add(bits, ir.Constant(whole, 1023 << 52)), double)

    return types.float64(types.float64), generate


class _PackageCache(_FunctionCache):  # type: ignore[misc]
    """Caches only what the key of `cache_folder` covers: states defined inside this package."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return super().load_overload(sig, target_context) if _is_ours(sig) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        if _is_ours(sig):
            super().save_overload(sig, data)


def _is_ours(signature: Any) -> bool:
    arguments = getattr(signature, "args", signature)
    classes = (cls for argument in arguments for cls in _classes(argument))
    return all(cls.__module__.split(".")[0] == "mtcool" for cls in classes)


def _classes(argument: types.Type) -> Iterator[type]:
    if isinstance(argument, types.NamedTuple | types.NamedUniTuple):
        yield argument.instance_class
        for field in argument.types:
            yield from _classes(field)
