"""The loss of one round: small enough to be sent to another agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from mtcool.kernels import kernel
from mtcool.streams.kinds import checked_kind
from mtcool.streams.losses import Kind, Losses, Matrix, Vector, dim_of, subgradient, value
from mtcool.validation import numbers, vector


@kernel
def _pay(kind: Kind, row: Vector, x: Vector, out: Vector) -> float:
    subgradient(kind, row, x, out)
    return value(kind, row, x)


@kernel
def pay_all(kind: Kind, rows: Matrix, x: Vector, gradient: Vector, room: Vector) -> float:
    """Return the sum of the losses of all rows, and add their subgradients to `gradient`."""
    total = 0.0
    for t in range(rows.shape[0]):
        total += value(kind, rows[t], x)
        subgradient(kind, rows[t], x, room)
        for k in range(x.shape[0]):
            gradient[k] += room[k]
    return total


@final
@dataclass(frozen=True, eq=False, slots=True)
class Loss:
    """The loss of one round, as a function of the point: a kind, and the row of that round.

    It runs the compiled code of the simulator, so that both give the same numbers to the bit.

    Examples
    --------
    >>> from mtcool.streams import Quadratic
    >>> loss = Loss(Quadratic(), [1.0, 2.0])
    >>> loss([1.0, 4.0])
    (2.0, array([0., 2.]))
    """

    kind: Kind
    row: Vector

    def __post_init__(self) -> None:
        # The compiled code trusts the types and the length of what it is given.
        row = numbers("row", self.row)
        if row.ndim != 1:
            raise ValueError(f"row must be the numbers of one round, got shape {row.shape}")
        kind = checked_kind(self.kind)
        dim_of(kind, row.size)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "row", row if row.flags.writeable else row.copy())

    @property
    def dim(self) -> int:
        """The dimension of the points."""
        return dim_of(self.kind, self.row.size)

    def __call__(self, x: ArrayLike) -> tuple[float, Vector]:
        """The loss paid at `x`, and a subgradient there."""
        point = vector("x", x, self.dim)
        gradient = np.empty_like(point)
        return float(_pay(self.kind, self.row, point, gradient)), gradient

    def value(self, x: ArrayLike) -> float:
        """The loss at `x`.

        Examples
        --------
        >>> from mtcool.streams import Linear
        >>> Loss(Linear(), [1.0, 2.0]).value([1.0, 1.0])
        3.0
        """
        return self(x)[0]

    def subgradient(self, x: ArrayLike) -> Vector:
        """A subgradient at `x`, in a new array.

        Examples
        --------
        >>> from mtcool.streams import Linear
        >>> Loss(Linear(), [1.0, 2.0]).subgradient([1.0, 1.0])
        array([1., 2.])
        """
        return self(x)[1]


def loss_of(losses: Losses, t: int) -> Loss:
    """The loss of round `t` of losses that were checked before."""
    return checked_loss(losses.kind, losses.rows[t])


def checked_loss(kind: Kind, row: Vector) -> Loss:
    """The loss of a kind and a row that were checked before."""
    loss = object.__new__(Loss)
    object.__setattr__(loss, "kind", kind)
    object.__setattr__(loss, "row", row)
    return loss
