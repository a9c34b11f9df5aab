"""Numbers side by side: what a processor adds or multiplies with one or two instructions.

A kernel that does the same for many independent problems may solve eight of them at once: `Lanes`
are numbers of which each belongs to another problem. In Python they are NumPy arrays of length
LANES; in kernels they are registers, whose arithmetic needs no loop that a compiler would have to
recognise first. A block of lanes is an array of shape (rows, LANES).

Products may be fused with the sum that they enter, which rounds once instead of twice, where the
processor knows how.
"""

import itertools
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import register_model
from numpy.typing import NDArray

LANES = 8

Lanes = NDArray[np.float64]


def load(block: NDArray[np.float64], row: int) -> Lanes:
    """The lanes in a row of the block."""
    return block[row, :].copy()


def load_part(block: NDArray[np.float64], row: int, first: int) -> Lanes:
    """LANES numbers of a row of any array that is long enough, from the number `first` on."""
    return block[row, first : first + LANES].copy()


def load_within(block: NDArray[np.float64], row: int, first: int) -> Lanes:
    """The numbers of a row of any array from the number `first` on; zeros after its end."""
    found = block[row, first : first + LANES]
    return np.concatenate([found, np.zeros(LANES - found.size)])


def store_within(block: NDArray[np.float64], row: int, first: int, values: Lanes) -> None:
    """Put lanes into a row of any array from the number `first` on, as far as the row goes."""
    place = block[row, first : first + LANES]
    place[:] = values[: place.size]


def load_down(column: NDArray[np.float64], row: int) -> Lanes:
    """LANES numbers of an array with one column, from the number `row` on."""
    return column[row : row + LANES, 0].copy()


def store(block: NDArray[np.float64], row: int, values: Lanes) -> None:
    """Put lanes into a row of the block."""
    block[row] = values


def root(values: Lanes) -> Lanes:
    """Square roots."""
    return np.sqrt(values)


def absolute(values: Lanes) -> Lanes:
    """Absolute values."""
    return np.abs(values)


def where_above(a: Lanes | float, b: Lanes | float, yes: Lanes | float, no: Lanes | float) -> Lanes:
    """In each lane `yes` if a > b, and `no` otherwise, also if a or b is a NaN."""
    return np.where(np.greater(a, b), yes, no) + np.zeros(LANES)


def any_above(a: Lanes | float, b: Lanes | float) -> bool:
    """Whether a > b in at least one lane."""
    return bool(np.any(np.greater(a, b)))


def total(values: Lanes) -> float:
    """The sum of all lanes."""
    halves = values[: LANES // 2] + values[LANES // 2 :]
    quarters = halves[: LANES // 4] + halves[LANES // 4 :]
    return float(quarters[0] + quarters[1])


def spread(value: float) -> Lanes:
    """The same number in all lanes."""
    return np.full(LANES, value)


def count_from(value: float) -> Lanes:
    """`value` in the first lane, and one more in each."""
    return value + np.arange(float(LANES))


_Model: Any = models.PrimitiveModel
_get_function: Any = cgutils.get_or_insert_function
_infer_global: Any = infer_global
_lower_builtin: Any = lower_builtin
_signature: Any = signature


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__("Lanes")


_LANES: Any = _LanesType()
_VECTOR: Any = ir.VectorType(ir.DoubleType(), LANES)


@register_model(_LanesType)
class _LanesModel(_Model):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _takes(function: Any, result: Any, count: int) -> None:
    """Tell numba of a function of lanes; a number stands for lanes that are all equal."""

    class Template(AbstractTemplate):
        def generic(self, arguments: Any, _: Any) -> Any:
            kinds = [_LANES if kind == _LANES else types.float64 for kind in arguments]
            whole = all(kind == _LANES or isinstance(kind, types.Number) for kind in arguments)
            if (
                len(kinds) == count
                and whole
                and (_LANES in kinds or function in (spread, count_from))
            ):
                return _signature(result, *kinds)
            return None

    _infer_global(function)(Template)


def _takes_block(function: Any, result: Any, *others: Any) -> None:
    """The same for functions of a block and a row."""

    class Template(AbstractTemplate):
        def generic(self, arguments: Any, _: Any) -> Any:
            block = arguments[0]
            if isinstance(block, types.Array) and block.ndim == 2 and block.layout == "C":
                return _signature(result, block, types.intp, *others)
            return None

    _infer_global(function)(Template)


def _place(context: Any, builder: Any, kind: Any, block: Any, row: Any) -> Any:
    data = context.make_array(kind)(context, builder, block).data
    start = builder.gep(data, [builder.mul(row, ir.Constant(row.type, LANES))])
    return builder.bitcast(start, ir.PointerType(_VECTOR))


def _part(context: Any, builder: Any, kind: Any, block: Any, row: Any, first: Any) -> Any:
    """Where the number `first` of a row stands, and how many numbers there are from it on."""
    array = context.make_array(kind)(context, builder, block)
    width = builder.extract_value(array.shape, 1)
    start = builder.gep(array.data, [builder.add(builder.mul(row, width), first)])
    return builder.bitcast(start, ir.PointerType(_VECTOR)), builder.sub(width, first)


def _lower(function: Any, count: int, build: Any) -> None:
    """Tell numba how to build the code of a function of `count` lanes."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return build(builder, *map(_spread, [builder] * count, sig.args, arguments))

    for kinds in itertools.product((_LANES, types.float64), repeat=count):
        if _LANES in kinds or function in (spread, count_from):
            _lower_builtin(function, *kinds)(generate)


def _spread(builder: Any, kind: Any, value: Any) -> Any:
    if kind == _LANES:
        return value
    nothing, index = ir.Constant(_VECTOR, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(nothing, value, ir.Constant(index, 0))
    zeros = ir.Constant(ir.VectorType(index, LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, zeros)


def _intrinsic(name: str) -> Any:
    name, kind = f"llvm.{name}.v{LANES}f64", ir.FunctionType(_VECTOR, [_VECTOR])
    return lambda builder, a: builder.call(_get_function(builder.module, kind, name), [a])


def _any_above(builder: Any, a: Any, b: Any) -> Any:
    bits = builder.bitcast(builder.fcmp_ordered(">", a, b), ir.IntType(LANES))
    return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


def _count_from(builder: Any, a: Any) -> Any:
    return builder.fadd(a, ir.Constant(_VECTOR, [float(i) for i in range(LANES)]))


def _total(builder: Any, a: Any) -> Any:
    index, width = ir.IntType(32), LANES
    while width > 1:
        width //= 2
        halves = [
            builder.shuffle_vector(
                a, a, ir.Constant(ir.VectorType(index, width), list(range(first, first + width)))
            )
            for first in (0, width)
        ]
        a = builder.fadd(*halves)
    return builder.extract_element(a, ir.Constant(index, 0))


_FUSED = ("contract",)
for _function, _result, _count, _build in (
    (operator.add, _LANES, 2, lambda builder, a, b: builder.fadd(a, b, flags=_FUSED)),
    (operator.sub, _LANES, 2, lambda builder, a, b: builder.fsub(a, b, flags=_FUSED)),
    (operator.mul, _LANES, 2, lambda builder, a, b: builder.fmul(a, b, flags=_FUSED)),
    (operator.truediv, _LANES, 2, lambda builder, a, b: builder.fdiv(a, b)),
    (root, _LANES, 1, _intrinsic("sqrt")),
    (absolute, _LANES, 1, _intrinsic("fabs")),
    (spread, _LANES, 1, lambda builder, value: value),
    (any_above, types.boolean, 2, _any_above),
    (count_from, _LANES, 1, _count_from),
    (total, types.float64, 1, _total),
    (
        where_above,
        _LANES,
        4,
        lambda builder, a, b, yes, no: builder.select(builder.fcmp_ordered(">", a, b), yes, no),
    ),
):
    _takes(_function, _result, _count)
    _lower(_function, _count, _build)
_takes_block(load, _LANES)
_takes_block(load_part, _LANES, types.intp)
_takes_block(load_down, _LANES)
_takes_block(store, types.none, _LANES)
_takes_block(load_within, _LANES, types.intp)
_takes_block(store_within, types.none, types.intp, _LANES)


@_lower_builtin(load, types.Array, types.intp)  # type: ignore[untyped-decorator]
def _load(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    return builder.load(_place(context, builder, sig.args[0], *arguments), align=8)


@_lower_builtin(load_part, types.Array, types.intp, types.intp)  # type: ignore[untyped-decorator]
def _load_part(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    start, _ = _part(context, builder, sig.args[0], *arguments)
    return builder.load(start, align=8)


@_lower_builtin(load_down, types.Array, types.intp)  # type: ignore[untyped-decorator]
def _load_down(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    column, row = arguments
    data = context.make_array(sig.args[0])(context, builder, column).data
    start = builder.bitcast(builder.gep(data, [row]), ir.PointerType(_VECTOR))
    return builder.load(start, align=8)


@_lower_builtin(store, types.Array, types.intp, _LANES)  # type: ignore[untyped-decorator]
def _store(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    block, row, values = arguments
    builder.store(values, _place(context, builder, sig.args[0], block, row), align=8)
    return context.get_dummy_value()


def _first_lanes(builder: Any, count: Any) -> Any:
    """For each lane whether it is among the first `count`."""
    whole = ir.VectorType(count.type, LANES)
    first = builder.insert_element(
        ir.Constant(whole, ir.Undefined), count, ir.Constant(ir.IntType(32), 0)
    )
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    counts = builder.shuffle_vector(first, first, zeros)
    return builder.icmp_signed("<", ir.Constant(whole, list(range(LANES))), counts)


_WORD: Any = ir.IntType(32)
_PLACE: Any = ir.PointerType(_VECTOR)
_MASK: Any = ir.VectorType(ir.IntType(1), LANES)


@_lower_builtin(load_within, types.Array, types.intp, types.intp)  # type: ignore[untyped-decorator]
def _load_within(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    start, count = _part(context, builder, sig.args[0], *arguments)
    kind = ir.FunctionType(_VECTOR, [_PLACE, _WORD, _MASK, _VECTOR])
    load_some = _get_function(builder.module, kind, f"llvm.masked.load.v{LANES}f64.p0")
    nothing = ir.Constant(_VECTOR, [0.0] * LANES)
    mask = _first_lanes(builder, count)
    return builder.call(load_some, [start, ir.Constant(_WORD, 8), mask, nothing])


@_lower_builtin(store_within, types.Array, types.intp, types.intp, _LANES)  # type: ignore[untyped-decorator]
def _store_within(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    *where, values = arguments
    start, count = _part(context, builder, sig.args[0], *where)
    kind = ir.FunctionType(ir.VoidType(), [_VECTOR, _PLACE, _WORD, _MASK])
    store_some = _get_function(builder.module, kind, f"llvm.masked.store.v{LANES}f64.p0")
    mask = _first_lanes(builder, count)
    builder.call(store_some, [values, start, ir.Constant(_WORD, 8), mask])
    return context.get_dummy_value()
