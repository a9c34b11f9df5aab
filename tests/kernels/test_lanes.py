"""Lanes mean the same in kernels as in Python, where they are NumPy arrays."""

import numpy as np

from mtcool.kernels import kernel
from mtcool.kernels.lanes import (
    LANES,
    absolute,
    any_above,
    count_from,
    load,
    load_down,
    load_part,
    load_within,
    root,
    spread,
    store,
    store_within,
    total,
    where_above,
)


@kernel
def everything(block, long, found):
    a, b, part = load(block, 0), load(block, 1), load_part(long, 1, 3)
    store(block, 2, a + b - 2.0 * part)
    store(block, 3, (1.0 - a) / (b + 3.0) + a * b)
    store(block, 4, root(absolute(a)) * spread(0.5))
    store(block, 5, where_above(a, b, part, -1.0))
    store(block, 6, where_above(b, 0.25, 1.0, a / 2.0))
    found[0], found[1], found[2] = any_above(a, b), any_above(0.0, a), any_above(a, 9.0)


def test_lanes_in_kernels_are_those_of_numpy():
    rng = np.random.default_rng(0)
    block, long = np.zeros((7, LANES)), rng.standard_normal((2, LANES + 5))
    block[:2] = rng.standard_normal((2, LANES))
    block[0, 0], block[0, 1] = np.nan, block[1, 1]  # neither is above
    other, found, expected = block.copy(), np.zeros(3, bool), np.zeros(3, bool)
    everything(block, long, found)
    getattr(everything, "py_func", everything)(other, long, expected)
    assert (found == expected).all()
    # A fused product rounds once instead of twice.
    np.testing.assert_allclose(block, other, rtol=4e-16, atol=2e-16)


def test_a_lane_knows_nothing_of_the_others():
    rng = np.random.default_rng(1)
    block, long = np.zeros((7, LANES)), rng.standard_normal((2, LANES + 5))
    block[:2] = rng.standard_normal((2, LANES))
    other, found = block.copy(), np.zeros(3, bool)
    other[:2, 1:], other[:2, 0] = np.nan, block[:2, 0]
    everything(block, long, found)
    everything(other, long, found)
    assert block[:, 0].tobytes() == other[:, 0].tobytes()


@kernel
def along(column, block):
    store(block, 0, load_down(column, 3) * count_from(0.5))
    return total(load(block, 0))


def test_a_column_is_loaded_numbered_and_summed():
    column, block = np.random.default_rng(2).standard_normal((LANES + 4, 1)), np.zeros((1, LANES))
    expected = column[3 : 3 + LANES, 0] * (np.arange(LANES) + 0.5)
    for run in (along, getattr(along, "py_func", along)):
        np.testing.assert_allclose(run(column, block), expected.sum(), rtol=1e-14)
        np.testing.assert_array_equal(block[0], expected)


@kernel
def doubled(rows, twice):
    for row in range(rows.shape[0]):
        for first in range(0, rows.shape[1], LANES):
            store_within(twice, row, first, load_within(rows, row, first) * 2.0)


def test_a_row_of_any_length_is_loaded_and_stored_up_to_its_end():
    for width in (1, LANES - 1, LANES, LANES + 4):
        rows = np.random.default_rng(width).standard_normal((3, width))
        for run in (doubled, getattr(doubled, "py_func", doubled)):
            whole = np.full((5, width), 7.0)
            run(rows, whole[1:4])
            np.testing.assert_array_equal(whole[1:4], 2.0 * rows)
            assert (whole[[0, 4]] == 7.0).all()


@kernel
def after_the_end(rows, block):
    store(block, 0, load_within(rows, 0, 0))


def test_lanes_after_the_end_of_a_row_are_zero():
    block = np.ones((1, LANES))
    after_the_end(np.full((1, 3), 2.0), block)
    assert block[0].tolist() == [2.0] * 3 + [0.0] * (LANES - 3)
