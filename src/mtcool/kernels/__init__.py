"""Compiled functions: one place that knows how numba is used.

Nothing else in the package talks to numba's machinery.

- `kernel` compiles a function and caches the machine code on disk;
- `routine` does the same for a function that only kernels call;
- `inline` compiles a function into the kernels that call it;
- `dispatched` makes a function whose implementation is chosen by the *type* of its first argument.
  It is a `functools.singledispatch` function for Python and a numba overload for kernels, so the
  same implementation runs compiled in the simulator and uncompiled under `NUMBA_DISABLE_JIT=1`.

Dispatch by type, rather than functions passed as arguments, keeps the compile cache usable: numba
cannot cache a loop that closes over other functions.
"""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, overload

from mtcool.kernels import announce as _announce  # noqa: F401 (it speaks when compiling takes long)
from mtcool.kernels import gc_pause as _gc_pause  # noqa: F401 (it makes compiling faster)
from mtcool.kernels.cache import KernelCache, cache_folder
from mtcool.kernels.compile_errors import Chosen, CompileError, chosen, explained, missing
from mtcool.kernels.identity import digest_of, package_files, registries, source_digest
from mtcool.kernels.linking import KernelCompiler, PartCompiler

__all__ = [
    "CompileError",
    "cache_folder",
    "digest_of",
    "dispatched",
    "inline",
    "kernel",
    "package_files",
    "power_of_two",
    "product_of_words",
    "routine",
    "source_digest",
    "sum_of_words",
]

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

_config: Any = config  # its attributes are made at run time
_intrinsic: Any = intrinsic
_njit: Any = numba.njit
_CPUDispatcher: Any = CPUDispatcher
_unliteral: Any = types.unliteral
_NamedTuple: Any = types.BaseNamedTuple
_named_tuple: Any = types.NamedTuple

# - `numpy` error model: a division by zero gives inf, as in NumPy, and no branch in the hot loop.
# - No NRT, numba's reference counting: kernels fill arrays that are there already and allocate
#   none. Passing a state from function to function would count a reference for each of its arrays,
#   which costs many times the arithmetic.
# - fastmath stays off: results are compared bit for bit.
_OPTIONS: Any = {"error_model": "numpy", "nogil": True, "_nrt": False}
_INSIDE: Any = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# A call that is not inlined passes a state array by array.
_PART: Any = {**_INSIDE, "forceinline": True, "pipeline_class": PartCompiler}


def kernel(function: F) -> F:
    """Compile `function` on first call and keep the machine code for the next process."""
    compiled: F = _njit(**_OPTIONS, pipeline_class=KernelCompiler)(function)
    if not _config.DISABLE_JIT:
        compiled.__class__ = _Plain
    return _cached(compiled)


def routine(function: F) -> F:
    """Compile `function` as a kernel that only kernels call.

    Translating Python's arguments is most of the code of a small kernel with a large state, and a
    routine does without. Called from Python it runs as Python.
    """
    compiled: F = _njit(**_INSIDE, pipeline_class=KernelCompiler)(function)
    return _cached(_without_door(compiled))


def inline(function: F) -> F:
    """Compile `function` as part of the kernels that call it. From Python it runs as Python.

    For what the functions of a learner or a loss of your own share.

    Parameters
    ----------
    function
        In the subset of Python that numba compiles.

    Examples
    --------
    >>> @inline
    ... def half(number):
    ...     return 0.5 * number
    >>> half(3.0)
    1.5
    """
    compiled: F = _njit(**_PART)(function)
    return _without_door(compiled)


def _cached(compiled: F) -> F:
    if not _config.DISABLE_JIT:
        compiled._cache = KernelCache(compiled.py_func)  # type: ignore[attr-defined]
    return compiled


def _without_door(compiled: F) -> F:
    if not _config.DISABLE_JIT:
        compiled.__class__ = _Inside
    return compiled


class _Plain(_CPUDispatcher):  # type: ignore[misc]
    """A compiled function that sees types only: numba would compile it for every constant."""

    def typeof_pyval(self, value: Any) -> Any:
        kind = _same_for_one_record(value, super().typeof_pyval(value))
        self._types_active_call.add(kind)  # as numba does: types live as long as the call
        return kind

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        try:
            return super()._compile_for_args(*arguments, **named)
        except Exception as error:  # numba lets through whatever its parts raise
            mistake = explained(error, arguments)
            if mistake is None:
                raise
            raise mistake from None

    def compile(self, signature: Any) -> Any:
        try:
            return super().compile(signature)
        finally:
            if isinstance(self._cache, KernelCache):
                self._cache.end_turn(signature)

    def get_call_template(self, arguments: Any, named: Any) -> Any:
        return super().get_call_template(
            tuple(_unliteral(kind) for kind in arguments),
            {name: _unliteral(kind) for name, kind in named.items()},
        )


def _same_for_one_record(value: Any, kind: Any) -> Any:
    """The type of a state, the same whether it has one record or several.

    NumPy calls the column of an array of records contiguous if there is one record, so that numba
    would compile everything anew for a clique alone, such as an agent's own.
    """
    if isinstance(kind, _NamedTuple) and hasattr(value, "_fields"):
        parts = tuple(_same_for_one_record(*pair) for pair in zip(value, kind, strict=True))
        return kind if tuple(kind) == parts else _named_tuple(parts, type(value))
    if not isinstance(value, np.ndarray) or value.dtype.names is not None:
        return kind
    whole = value.base  # bytes, for an array that was unpickled
    column = isinstance(whole, np.ndarray) and whole.dtype.names is not None
    return kind.copy(layout="A") if column else kind


class _Inside(_Plain):
    """A compiled function without an entry for Python, where it runs as it was written."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


def dispatched(stub: Callable[..., R]) -> "functools._SingleDispatchCallable[R]":
    """Make `stub` a function dispatched on the type of its first argument.

    Implementations are added with `@name.register` and the annotation of the first argument, and
    take arguments of the same names as the stub. Inside kernels the types are NamedTuples.
    """
    generic = functools.singledispatch(stub)

    def choose(state: types.Type, *_: types.Type) -> Callable[..., Any] | None:
        kind = getattr(state, "instance_class", object)
        implementation: Any = generic.dispatch(kind)
        if implementation is stub:
            missing.append((stub.__name__, kind))
            return None
        chosen.append(Chosen(stub.__name__, kind, implementation))
        return implementation  # type: ignore[no-any-return]

    # numba reads the argument names of an overload from its signature; not strict, because the
    # implementations carry annotations and the stub may not.
    choose.__signature__ = inspect.signature(stub)  # type: ignore[attr-defined]
    overload(generic, jit_options=_PART, strict=False)(choose)
    registries.append(generic)
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


def sum_of_words(a: np.uint64, b: np.uint64) -> np.uint64:
    """a + b modulo 2^64, of which NumPy would warn."""
    return np.uint64((int(a) + int(b)) % 2**64)


@overload(sum_of_words, jit_options=_PART, strict=False)
def _sum_of_words(a: types.Type, b: types.Type) -> Callable[..., Any]:
    return lambda a, b: a + b


def product_of_words(a: np.uint64, b: np.uint64) -> np.uint64:
    """a * b modulo 2^64, of which NumPy would warn."""
    return np.uint64(int(a) * int(b) % 2**64)


@overload(product_of_words, jit_options=_PART, strict=False)
def _product_of_words(a: types.Type, b: types.Type) -> Callable[..., Any]:
    return lambda a, b: a * b
