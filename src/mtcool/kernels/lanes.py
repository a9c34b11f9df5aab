"""Four numbers side by side: what a processor adds or multiplies with one instruction.

A kernel that does the same for many independent problems may solve four of them at once: `Lanes`
are numbers of which each belongs to another problem. In Python they are NumPy arrays of length
four; in kernels they are registers, whose arithmetic needs no loop that a compiler would have to
recognise first. A block of lanes is an array of shape (rows, LANES).

Products may be fused with the sum that they enter, which rounds once instead of twice, where the
processor knows how.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, ConcreteTemplate, infer_global, signature
from numba.extending import register_model
from numpy.typing import NDArray

LANES = 8

Lanes = NDArray[np.float64]


def load(block: NDArray[np.float64], row: int) -> Lanes:
    """The lanes in a row of the block."""
    return block[row].copy()


def load_part(block: NDArray[np.float64], row: int, first: int) -> Lanes:
    """LANES numbers of a row of any array that is long enough, beginning with the number `first`."""
    return block[row, first : first + LANES].copy()


def store(block: NDArray[np.float64], row: int, values: Lanes) -> None:
    """Put lanes into a row of the block."""
    block[row] = values


def root(values: Lanes) -> Lanes:
    """Square roots."""
    return np.sqrt(values)


def where_above(a: Lanes, b: Lanes, yes: Lanes, no: Lanes) -> Lanes:
    """In each lane `yes` if a > b, and `no` otherwise, also if a or b is a NaN."""
    return np.where(a > b, yes, no)


def any_above(a: Lanes, b: Lanes) -> bool:
    """Is a > b in one of the lanes?"""
    return bool((a > b).any())


class _LanesType(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__("Lanes")


_LANES: Any = _LanesType()
_VECTOR: Any = ir.VectorType(ir.DoubleType(), LANES)
_get_function: Any = cgutils.get_or_insert_function


@register_model(_LanesType)  # type: ignore[untyped-decorator]
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _takes(function: Any, result: Any, *arguments: Any) -> None:
    """Tell numba the types of a function on lanes; a number stands for lanes that are all equal."""

    class Template(ConcreteTemplate):  # type: ignore[misc]
        cases = [signature(result, *arguments)]

    infer_global(function)(Template)


def _takes_block(function: Any, result: Any, *others: Any) -> None:
    """The same for functions of a block and a row."""

    class Template(AbstractTemplate):  # type: ignore[misc]
        def generic(self, arguments: Any, _: Any) -> Any:
            block = arguments[0]
            if isinstance(block, types.Array) and block.ndim == 2 and block.layout == "C":
                return signature(result, block, types.intp, *others)
            return None

    infer_global(function)(Template)


def _place(context: Any, builder: Any, kind: Any, block: Any, row: Any) -> Any:
    data = context.make_array(kind)(context, builder, block).data
    start = builder.gep(data, [builder.mul(row, ir.Constant(row.type, LANES))])
    return builder.bitcast(start, ir.PointerType(_VECTOR))


def _spread(builder: Any, kind: Any, value: Any) -> Any:
    if kind == _LANES:
        return value
    first = builder.insert_element(
        ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
    )
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), zeros)


def _add_operator(function: Any, name: str) -> None:
    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        left, right = (
            _spread(builder, kind, value) for kind, value in zip(sig.args, arguments, strict=True)
        )
        return getattr(builder, name)(left, right, flags=("contract",))

    for left, right in ((_LANES, _LANES), (_LANES, types.float64), (types.float64, _LANES)):
        _takes(function, _LANES, left, right)
        lower_builtin(function, left, right)(generate)


_add_operator(operator.add, "fadd")
_add_operator(operator.sub, "fsub")
_add_operator(operator.mul, "fmul")
_add_operator(operator.truediv, "fdiv")
_takes_block(load, _LANES)
_takes_block(load_part, _LANES, types.intp)
_takes_block(store, types.none, _LANES)
_takes(root, _LANES, _LANES)
_takes(where_above, _LANES, _LANES, _LANES, _LANES, _LANES)
_takes(any_above, types.boolean, _LANES, _LANES)


@lower_builtin(load, types.Array, types.intp)  # type: ignore[untyped-decorator]
def _load(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    return builder.load(_place(context, builder, sig.args[0], *arguments), align=8)


@lower_builtin(load_part, types.Array, types.intp, types.intp)  # type: ignore[untyped-decorator]
def _load_part(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    block, row, first = arguments
    array = context.make_array(sig.args[0])(context, builder, block)
    width = builder.extract_value(array.shape, 1)
    start = builder.gep(array.data, [builder.add(builder.mul(row, width), first)])
    return builder.load(builder.bitcast(start, ir.PointerType(_VECTOR)), align=8)


@lower_builtin(store, types.Array, types.intp, _LANES)  # type: ignore[untyped-decorator]
def _store(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    block, row, values = arguments
    builder.store(values, _place(context, builder, sig.args[0], block, row), align=8)
    return context.get_dummy_value()


@lower_builtin(root, _LANES)  # type: ignore[untyped-decorator]
def _root(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    name, kind = f"llvm.sqrt.v{LANES}f64", ir.FunctionType(_VECTOR, [_VECTOR])
    return builder.call(_get_function(builder.module, kind, name), arguments)


@lower_builtin(where_above, _LANES, _LANES, _LANES, _LANES)  # type: ignore[untyped-decorator]
def _where_above(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    a, b, yes, no = arguments
    return builder.select(builder.fcmp_ordered(">", a, b), yes, no)


@lower_builtin(any_above, _LANES, _LANES)  # type: ignore[untyped-decorator]
def _any_above(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    above = builder.fcmp_ordered(">", *arguments)
    bits = builder.bitcast(above, ir.IntType(LANES))
    return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))
