"""The compiled functions that one agent calls from Python, one row at a time."""

from mtcool.kernels import kernel
from mtcool.learners.dp_mt_ftrl import DPMTFTRLState
from mtcool.learners.learner import predict_row, update_row
from mtcool.learners.mt_ftrl.clipped import expert_rows
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
