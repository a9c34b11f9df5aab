"""The package's own kinds of losses as one: which of them it is, is a number.

Kernels are compiled for every kind of loss. Where that takes long, this kind stands for all of the
package's own, and the kernel looks at the number in every round.
"""

from typing import NamedTuple

from mtcool.streams.losses import (
    Linear,
    Losses,
    Quadratic,
    Vector,
    subgradient,
    value,
)
from mtcool.streams.regression import Absolute, Hinge, Logistic, Squared

_LINEAR, _QUADRATIC, _SQUARED = Linear(), Quadratic(), Squared()
_ABSOLUTE, _LOGISTIC, _HINGE = Absolute(), Logistic(), Hinge()
# `value` and `subgradient` below know them by their places.
_NUMBERED = (Linear, Quadratic, Squared, Absolute, Logistic, Hinge)


class Numbered(NamedTuple):
    """One of the package's own kinds."""

    number: int


def by_number(losses: Losses) -> Losses:
    """The same losses, of the kind `Numbered` if theirs is one of the package's own.

    Examples
    --------
    >>> by_number(Losses(Quadratic(), [[1.0, 2.0]])).kind
    Numbered(number=1)
    """
    cls = type(losses.kind)
    if cls not in _NUMBERED:
        return losses
    return losses._replace(kind=Numbered(_NUMBERED.index(cls)))


@value.register
def _(kind: Numbered, row: Vector, x: Vector) -> float:
    if kind.number == 0:
        return value(_LINEAR, row, x)
    if kind.number == 1:
        return value(_QUADRATIC, row, x)
    if kind.number == 2:
        return value(_SQUARED, row, x)
    if kind.number == 3:
        return value(_ABSOLUTE, row, x)
    if kind.number == 4:
        return value(_LOGISTIC, row, x)
    return value(_HINGE, row, x)


@subgradient.register
def _(kind: Numbered, row: Vector, x: Vector, out: Vector) -> None:
    if kind.number == 0:
        subgradient(_LINEAR, row, x, out)
    elif kind.number == 1:
        subgradient(_QUADRATIC, row, x, out)
    elif kind.number == 2:
        subgradient(_SQUARED, row, x, out)
    elif kind.number == 3:
        subgradient(_ABSOLUTE, row, x, out)
    elif kind.number == 4:
        subgradient(_LOGISTIC, row, x, out)
    else:
        subgradient(_HINGE, row, x, out)
