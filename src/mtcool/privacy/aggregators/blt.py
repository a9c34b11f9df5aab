"""Buffered linear Toeplitz noise (McMahan et al., 2024), and the coefficients of its buffers."""

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mtcool.kernels import kernel
from mtcool.privacy.aggregators.aggregator import Blocks, check_law, known_horizon
from mtcool.privacy.aggregators.filters import FilterState, Recurrence, make_filter
from mtcool.privacy.literals import Law, Method
from mtcool.types import Floats, Integers

MOST_COMPUTED = 10_000_000  # activations that BLT's coefficients are computed for

# Coefficients with the least largest error for so many activations: `make blt` finds them.
DESIGNS = {
    1_000: Recurrence(
        (0.9943469325612241, 0.9217379037473387, 0.32588216494746913),
        (-0.00038652128435657504, -0.018166517831561865, -0.45821789951576375),
    ),
    10_000: Recurrence(
        (0.9994601755717897, 0.9927388846785191, 0.9130729715509042, 0.3119390544723668),
        (
            -1.1217979404298185e-05,
            -0.0004990719743598163,
            -0.020615471834389665,
            -0.45904911283991184,
        ),
    ),
    100_000: Recurrence(
        (
            0.9999475393347096,
            0.9993184585717977,
            0.9918904567551862,
            0.9074352941493847,
            0.30350748145587436,
        ),
        (
            -3.364886409978695e-07,
            -1.4103805779372688e-05,
            -0.0005770855820692601,
            -0.022251891134469313,
            -0.4592702005838009,
        ),
    ),
    1_000_000: Recurrence(
        (
            0.9999927670419207,
            0.9998597716187971,
            0.997374503129507,
            0.951910099624353,
            0.39030452006258487,
        ),
        (
            -1.915009167663024e-08,
            -1.5582638697902376e-06,
            -0.000126118726904005,
            -0.009885901814899869,
            -0.4462748192986967,
        ),
    ),
}


@dataclass(frozen=True)
class BLT:
    """Buffered linear Toeplitz noise: Gaussian, a few buffers of memory, near the least error.

    Examples
    --------
    >>> rows = BLT().variance(np.array([1000]), 1000, "gaussian")
    >>> (rows * BLT().column_norm(1000, "gaussian") ** 2).round(2)
    array([10.68])
    """

    name: ClassVar[str] = "blt"
    title: ClassVar[str] = "BLT"
    laws: ClassVar[tuple[Law, ...]] = ("gaussian",)
    calibrations: ClassVar[tuple[Method, ...]] = ("tight",)
    whole: ClassVar[bool] = False

    def check(self, law: Law, horizon: int | None) -> int:
        """Gaussian only: a column of C has a small l2 norm, and an l1 norm of order sqrt(T)."""
        check_law(self, law)
        known = known_horizon(horizon)
        if known > MOST_COMPUTED:
            raise ValueError(f"horizon must be at most {MOST_COMPUTED} for BLT, got {known}")
        return known

    def column_norm(self, horizon: int, law: Law) -> float:
        """Norm of the first column of C, which is the longest."""
        return math.sqrt(_squared_norm(horizon))

    def growth(self, activations: Integers, law: Law) -> Floats:
        """All nodes have the same noise."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: Law) -> float:
        """Norm of the part of the first column that is published, over the whole norm."""
        first = filter_columns(_design(horizon), horizon)[0]
        return math.sqrt(float((first[:activations] ** 2).sum() / (first**2).sum()))

    def variance(self, activations: Integers, horizon: int, law: Law) -> Floats:
        """Squared norms of the rows of B."""
        rows = filter_columns(_design(horizon), horizon)[1]
        return np.concatenate(([1.0], np.cumsum(rows**2)))[activations]

    def make_state(self, blocks: Blocks, law: Law) -> FilterState:
        """Fresh state for the given vectors."""
        return make_filter(blocks, [_design(int(horizon)) for horizon in blocks.horizon])

    def padding(self, state: FilterState) -> Integers:
        """One draw for the publication before the first activation."""
        return np.ones_like(state.width)


@functools.lru_cache(maxsize=8)
def filter_columns(recurrence: Recurrence, horizon: int) -> tuple[Floats, Floats]:
    """First columns of C and of B = A C^-1 of a filter.

    Parameters
    ----------
    recurrence
        Its buffers.
    horizon
        Activations, which is how long the columns are.

    Examples
    --------
    >>> c, b = filter_columns(DESIGNS[1_000], 5)
    >>> bool(np.allclose(np.convolve(c, b)[:5], 1.0))
    True
    """
    theta, coupling = np.array(recurrence.theta), np.array(recurrence.coupling)
    column, inverse = np.zeros(horizon), np.zeros(horizon)
    _solve_for_column(theta, coupling, np.zeros(len(theta)), column)
    inverse[0] = 1.0
    for decay, part in zip(theta, coupling, strict=True):
        inverse[1:] += part * decay ** np.arange(horizon - 1)
    rows = np.cumsum(inverse)
    for constant in (column, rows):
        constant.setflags(write=False)
    return column, rows


@kernel
def _solve_for_column(theta: Floats, coupling: Floats, buffers: Floats, column: Floats) -> None:
    for t in range(column.shape[0]):
        column[t] = 1.0 if t == 0 else 0.0
        for b in range(theta.shape[0]):
            column[t] -= coupling[b] * buffers[b]
        for b in range(theta.shape[0]):
            buffers[b] = theta[b] * buffers[b] + column[t]


@functools.lru_cache(maxsize=1024)
def _squared_norm(horizon: int) -> float:
    return float((filter_columns(_design(horizon), horizon)[0] ** 2).sum())


def _design(horizon: int) -> Recurrence:
    """The design with the least largest error at this horizon, in steps of a quarter of it."""
    step = max(1, 2 ** (horizon.bit_length() - 3))
    return _best_design(-(-horizon // step) * step)


@functools.lru_cache(maxsize=1024)
def _best_design(horizon: int) -> Recurrence:
    def error(recurrence: Recurrence) -> float:
        column, rows = filter_columns(recurrence, horizon)
        return float((column**2).sum() * (rows**2).sum())

    return min(DESIGNS.values(), key=error)
