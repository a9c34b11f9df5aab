"""Filters: buffered linear Toeplitz noise (BLT), noise on every gradient, and no noise.

C is a lower triangular Toeplitz matrix whose inverse is a short recurrence (McMahan et al., 2024):

    (C^-1 x)_t = x_t + sum_b w_b buffer_b,    buffer_b = theta_b buffer_b + x_t  afterwards.

`decode` is that recurrence on the noisy nodes, summed up, and `encode`, C itself, is the same one
solved for x_t: value_t = leaf_t - sum_b w_b buffer_b, with buffers fed by the values. Without
buffers C is the identity: every gradient is noised by itself, and their sums add up all noise.
"""

import functools
import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from mtcool.kernels import kernel
from mtcool.privacy.aggregators.aggregator import Blocks, begin, decode, encode
from mtcool.privacy.aggregators.trees import known_horizon
from mtcool.types import Floats, Integers


class Recurrence(NamedTuple):
    """Decay theta and coupling w of the buffers of C^-1."""

    theta: tuple[float, ...]
    coupling: tuple[float, ...]


PLAIN = Recurrence((), ())
LONGEST = 10_000_000  # activations that BLT's coefficients are computed for

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


class FilterState(NamedTuple):
    """State of a filter for all agents; agent i's vectors begin at start[i]."""

    activations: Integers
    """Activations so far."""
    width: Integers
    """Length of the agent's leaves."""
    start: Integers
    theta: Floats
    """Decay of the buffers, (agents, buffers)."""
    coupling: Floats
    """Their part in the next value, (agents, buffers)."""
    inner: Floats
    """Buffers of C, fed by values, (buffers, sum of widths): secret."""
    outer: Floats
    """Buffers of C^-1, fed by noisy values, (buffers, sum of widths)."""
    total: Floats
    """Sum of the decoded leaves."""
    published: Floats


@dataclass(frozen=True)
class BLT:
    """Buffered linear Toeplitz noise: Gaussian, a few buffers of memory, near the least error.

    >>> rows = BLT().variance(np.array([1000]), 1000, "gaussian")
    >>> (rows * BLT().column_norm(1000, "gaussian") ** 2).round(2)
    array([10.68])
    """

    whole: ClassVar[bool] = False

    def check(self, law: str, horizon: int | None) -> int:
        """Gaussian only: a column of C has a small l2 norm, and an l1 norm of order sqrt(T)."""
        if law == "laplace":
            raise ValueError(
                "delta or rho must be given for BLT, whose noise is Gaussian, got None"
            )
        known = known_horizon(horizon)
        if known > LONGEST:
            raise ValueError(f"horizon must be at most {LONGEST} for BLT, got {known}")
        return known

    def column_norm(self, horizon: int, law: str) -> float:
        """Norm of the first column of C, which is the longest."""
        return math.sqrt(_squared_norm(horizon))

    def growth(self, activations: Integers, law: str) -> Floats:
        """All nodes have the same noise."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: str) -> float:
        """Norm of the part of the first column that is out."""
        first = coefficients(_design(horizon), horizon)[0]
        return math.sqrt(float((first[:activations] ** 2).sum() / (first**2).sum()))

    def variance(self, activations: Integers, horizon: int, law: str) -> Floats:
        """Squared norms of the rows of B."""
        rows = coefficients(_design(horizon), horizon)[1]
        return np.concatenate(([1.0], np.cumsum(rows**2)))[activations]

    def make_state(self, blocks: Blocks, law: str) -> FilterState:
        """Fresh state for the given vectors."""
        return _make_state(blocks, [_design(int(horizon)) for horizon in blocks.horizon])

    def padding(self, state: FilterState) -> Integers:
        """One draw for the publication before the first activation."""
        return np.ones_like(state.width)


@dataclass(frozen=True)
class PerGradient:
    """Noise on every gradient by itself: what the paper warns of.

    >>> PerGradient().variance(np.arange(4), 3, "laplace").tolist()
    [1.0, 1.0, 2.0, 3.0]
    """

    whole: ClassVar[bool] = True

    def check(self, law: str, horizon: int | None) -> int:
        """Any law; the horizon must be known, although the noise does not depend on it."""
        return known_horizon(horizon)

    def column_norm(self, horizon: int, law: str) -> float:
        """A leaf is one node."""
        return 1.0

    def growth(self, activations: Integers, law: str) -> Floats:
        """All nodes have the same noise."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: str) -> float:
        """A leaf's budget is gone when it is out."""
        return float(activations > 0)

    def variance(self, activations: Integers, horizon: int, law: str) -> Floats:
        """A sum of t leaves carries t terms."""
        return np.maximum(activations, 1.0)

    def make_state(self, blocks: Blocks, law: str) -> FilterState:
        """Fresh state for the given vectors."""
        return _make_state(blocks, [PLAIN] * len(blocks.width))

    def padding(self, state: FilterState) -> Integers:
        """One draw for the publication before the first activation."""
        return np.ones_like(state.width)


@dataclass(frozen=True)
class NoNoise:
    """The identity: sums go out as they are. No privacy; DPMT-CO2OL is then MT-CO2OL.

    >>> NoNoise().variance(np.arange(3), 2, "none").tolist()
    [0.0, 0.0, 0.0]
    """

    whole: ClassVar[bool] = True

    def check(self, law: str, horizon: int | None) -> int:
        """A horizon is a limit like any other."""
        return known_horizon(horizon)

    def column_norm(self, horizon: int, law: str) -> float:
        """A leaf is one node."""
        return 1.0

    def growth(self, activations: Integers, law: str) -> Floats:
        """No noise, no growth."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: str) -> float:
        """A leaf is out when it is out."""
        return float(activations > 0)

    def variance(self, activations: Integers, horizon: int, law: str) -> Floats:
        """None."""
        return np.zeros(len(activations))

    def make_state(self, blocks: Blocks, law: str) -> FilterState:
        """Fresh state for the given vectors."""
        return _make_state(blocks, [PLAIN] * len(blocks.width))

    def padding(self, state: FilterState) -> Integers:
        """Zero is published before the first activation."""
        return np.zeros_like(state.width)


@functools.lru_cache(maxsize=8)
def coefficients(recurrence: Recurrence, horizon: int) -> tuple[Floats, Floats]:
    """First columns of C and of B = A C^-1, for `horizon` activations.

    >>> c, b = coefficients(DESIGNS[1_000], 5)
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
    return float((coefficients(_design(horizon), horizon)[0] ** 2).sum())


def _design(horizon: int) -> Recurrence:
    """The design with the least largest error at this horizon, in steps of a quarter of it."""
    step = max(1, 2 ** (horizon.bit_length() - 3))
    return _best_design(-(-horizon // step) * step)


@functools.lru_cache(maxsize=1024)
def _best_design(horizon: int) -> Recurrence:
    def error(recurrence: Recurrence) -> float:
        column, rows = coefficients(recurrence, horizon)
        return float((column**2).sum() * (rows**2).sum())

    return min(DESIGNS.values(), key=error)


def _make_state(blocks: Blocks, recurrences: list[Recurrence]) -> FilterState:
    width = np.asarray(blocks.width, np.int64)
    start = np.concatenate(([0], np.cumsum(width))).astype(np.int64)
    buffers = max(len(recurrence.theta) for recurrence in recurrences)
    theta, coupling = np.zeros((2, len(width), buffers))
    for agent, recurrence in enumerate(recurrences):
        theta[agent, : len(recurrence.theta)] = recurrence.theta
        coupling[agent, : len(recurrence.coupling)] = recurrence.coupling
    for constant in (width, start, theta, coupling):
        constant.setflags(write=False)
    return FilterState(
        activations=np.zeros(len(width), np.int64),
        width=width,
        start=start,
        theta=theta,
        coupling=coupling,
        inner=np.zeros((buffers, start[-1])),
        outer=np.zeros((buffers, start[-1])),
        total=np.zeros(start[-1]),
        published=np.zeros(start[-1]),
    )


@begin.register
def _(state: FilterState, agent: int, draws: Floats) -> None:
    for k in range(draws.shape[0]):
        state.published[state.start[agent] + k] = draws[k]


@encode.register
def _(state: FilterState, agent: int, leaf: Floats, value: Floats) -> None:
    first, width = state.start[agent], state.width[agent]
    for k in range(width):
        value[k] = leaf[k]
    for b in range(state.theta.shape[1]):
        part = state.coupling[agent, b]
        for k in range(width):
            value[k] -= part * state.inner[b, first + k]


@decode.register
def _(state: FilterState, agent: int, value: Floats, noisy: Floats) -> None:
    first, width = state.start[agent], state.width[agent]
    total = state.total[first : first + width]
    for k in range(width):
        total[k] += noisy[k]
    for b in range(state.theta.shape[1]):
        part, decay = state.coupling[agent, b], state.theta[agent, b]
        for k in range(width):
            total[k] += part * state.outer[b, first + k]
            state.outer[b, first + k] = decay * state.outer[b, first + k] + noisy[k]
            state.inner[b, first + k] = decay * state.inner[b, first + k] + value[k]
    for k in range(width):
        state.published[first + k] = total[k]
    state.activations[agent] += 1
