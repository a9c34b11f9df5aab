"""Compiled functions: one place that knows how numba is used.

Two decorators, and nothing else in the package talks to numba's machinery:

- `kernel` compiles a function and caches the machine code on disk;
- `dispatched` makes a function whose implementation is chosen by the *type* of its first argument.
  It is a `functools.singledispatch` function for Python and a numba overload for kernels, so the
  same implementation runs compiled in the simulator and uncompiled under `NUMBA_DISABLE_JIT=1`.

Dispatch by type, rather than functions passed as arguments, keeps the compile cache usable: numba
cannot cache a loop that closes over other functions.
"""

import functools
import hashlib
import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import types
from numba.core.caching import FunctionCache
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])

# `numpy` error model: a division by zero gives inf, as in NumPy, and no branch in the hot loop.
# fastmath stays off: results are compared bit for bit.
_OPTIONS = {"error_model": "numpy", "nogil": True}


@functools.cache
def cache_folder() -> Path:
    """Folder of the compile cache, keyed by the package's sources.

    numba checks only the file of the cached function, not the files it inlines: an edit in a
    learner would leave a stale loop behind. A folder per state of the sources cannot be stale.
    """
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for source in sorted(package.rglob("*.py")):
        digest.update(source.relative_to(package).as_posix().encode())
        digest.update(source.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "mtcool" / digest.hexdigest()[:16]


def kernel(function: F) -> F:
    """Compile `function` on first call and keep the machine code for the next process."""
    compiled = numba.njit(**_OPTIONS)(function)
    if numba.config.DISABLE_JIT:
        return compiled  # type: ignore[no-any-return]
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        compiled._cache = _PackageCache(compiled.py_func)
    finally:
        numba.config.CACHE_DIR = previous
    return compiled  # type: ignore[no-any-return]


def inline(function: F) -> F:
    """Compile `function` as part of the kernels that call it."""
    return numba.njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def dispatched(stub: F) -> F:
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
    overload(generic, jit_options=_OPTIONS, strict=False)(choose)
    return generic  # type: ignore[return-value]


class _PackageCache(FunctionCache):  # type: ignore[misc]
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
