"""The compiled functions that one agent calls from Python, one row at a time."""

import numpy as np

from mtcool.field.choosing import choose
from mtcool.field.codes import round_to_bits, scale_of
from mtcool.kernels import kernel
from mtcool.learners.changing import Layout, begin_clique, credit, grow_clique, raise_bound
from mtcool.learners.dp_mt_ftrl import DPMTFTRLState
from mtcool.learners.learner import predict_row, update_row
from mtcool.learners.mt_ftrl.clipped import expert_rows
from mtcool.peers.field.rounds import help_of
from mtcool.peers.private import ReleaseScratch, publish_sums, tell
from mtcool.peers.protocol import Units, average, to_units
from mtcool.types import Floats, Indices, Integers, State


@kernel
def read_row(state: State, clique: int, row: int, out: Floats) -> None:
    """`predict_row`, for callers in Python."""
    predict_row(state, clique, row, out)


@kernel
def learn_row(state: State, clique: int, row: int, weight: float, gradient: Floats) -> None:
    """`update_row`, for callers in Python."""
    update_row(state, clique, row, weight, gradient)


@kernel
def combine(models: Floats, weights: Floats, radius: float, x: Floats) -> None:
    """`average`, for callers in Python."""
    average(models, weights, radius, x)


@kernel
def scale(gradient: Floats, units: Units) -> bool:
    """`to_units`, for callers in Python."""
    return to_units(gradient, units)


@kernel
def read_experts(learner: DPMTFTRLState, row: int, out: Floats) -> None:
    """`expert_rows`, for callers in Python."""
    expert_rows(learner.base.work, learner.base, 0, row, out)


@kernel
def tell_one(
    learner: DPMTFTRLState, clique: Indices, row: Indices, weight: Floats, published: Floats
) -> None:
    """`tell` with the sums of one agent, for callers in Python."""
    tell(learner, clique, row, weight, published)


@kernel
def release_one(
    aggregator: State,
    scratch: ReleaseScratch,
    units: Units,
    weights: Floats,
    products: Integers,
    grid: float,
    gradient: Floats,
) -> bool:
    """`publish_sums` of the only agent, for callers in Python."""
    return publish_sums(aggregator, scratch, units, weights, products, grid, 0, gradient)


# --- networks in the field ------------------------------------------------------------------------


@kernel
def begin_alone(state: State, layout: Layout, bound: float) -> None:
    """`begin_clique` of the only clique, which has all rows and all experts."""
    begin_clique(state, 0, layout, bound)


@kernel
def grow_alone(state: State, used: int, layout: Layout) -> None:
    """`grow_clique` of the only clique, whose rows were the first ones."""
    grow_clique(state, 0, 0, used, layout)


@kernel
def raise_alone(state: State, bound: float, ratio: float) -> None:
    """`raise_bound` of the only clique."""
    raise_bound(state, 0, bound, ratio, bound)


@kernel
def learn_credited(state: State, row: int, weight: float, gradient: Floats, extra: float) -> None:
    """`update_row` of the only clique, after `credit` of what makes the gradient count for more."""
    if extra > 0.0:
        credit(state, 0, extra)
    update_row(state, 0, row, weight, gradient)


@kernel
def round_vector(
    values: Floats, bits: int, seed: np.uint64, kind: int, i: int, j: int, n: int, out: Floats
) -> float:
    """`round_to_bits`, for callers in Python; returns the scale."""
    round_to_bits(values, bits, seed, kind, i, j, n, out)
    return scale_of(values)


@kernel
def choose_among(
    neighbours: Integers,
    scores: Floats,
    most: int,
    best: bool,
    seed: np.uint64,
    i: int,
    n: int,
    keys: Floats,
    order: Integers,
    chosen: Integers,
) -> int:
    """`choose`, for callers in Python."""
    return choose(neighbours, scores, most, best, seed, i, n, keys, order, chosen)


@kernel
def gain_of(gradient: Floats, own: Floats, row: Floats) -> float:
    """`help_of`, for callers in Python."""
    return help_of(gradient, own, row)
