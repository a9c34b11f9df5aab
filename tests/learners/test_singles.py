"""Single experts of many cliques on the line: solved together they are what sorting finds."""

import numpy as np
import pytest

import mtcool
from mtcool.kernels import kernel
from mtcool.learners import MTFTRL
from mtcool.learners.learner import Cliques
from mtcool.learners.mt_ftrl.clipped import solve_later, solve_waiting
from mtcool.learners.mt_ftrl.closed_form import refresh, reweigh, weigh
from mtcool.learners.mt_ftrl.single_expert_batch import HIGHER, count_and_sum
from mtcool.learners.mt_ftrl.state import FACTOR, MULTIPLIER

SHAPES = [
    lambda rng, size: rng.standard_normal(size),
    lambda rng, size: rng.standard_cauchy(size),
    lambda rng, size: rng.standard_normal(size) + 10.0 * rng.standard_normal(),
    lambda rng, size: np.round(3.0 * rng.standard_normal(size), 1),
    lambda rng, size: rng.exponential(size=size) ** 3,
    lambda rng, size: np.full(size, rng.standard_normal()),
]
SIZES = np.tile([1, 2, 7, 8, 9, 16, 27, 40], 5)  # more cliques than may wait together


@kernel
def solve_together(state):
    waiting = 0
    for clique in range(state.plan.shape[0]):
        refresh(state, clique)
        if weigh(state, clique):
            waiting = solve_later(state.work, state, clique, waiting)
        last = clique + 1 == state.plan.shape[0]
        waiting = solve_waiting(state.work, state, waiting, last)


@kernel
def solve_apart(state):
    for clique in range(state.plan.shape[0]):
        refresh(state, clique)
        reweigh(state, clique)


def make(learner, sizes, rate):
    start = np.concatenate(([0], np.cumsum(sizes)))
    cliques = Cliques(start, np.full(len(sizes), rate), np.ones(len(sizes)))
    return learner.make_state(cliques, 1)


def rows_of(state):
    """Rows of every clique's expert, and whether they are in closed form."""
    plan, expert = state.plan, np.repeat(state.plan["expert"], state.plan["size"])
    clique = np.repeat(np.arange(len(plan)), plan["size"])
    s, m = state.experts[MULTIPLIER, expert], state.centre[expert, 0]
    eta = state.cliques["unit"][clique] * state.table[FACTOR, plan["table"][clique]]
    mean = (state.total[:, 0] / plan["size"])[clique]
    c, gamma = state.cliques[clique], state.gradients[:, 0]
    inside = -c["level"] * mean - c["slope"] * (gamma - mean)
    return np.where(c["clipped"] > 0, np.clip((1.0 - s) * m - s * eta * gamma, -1.0, 1.0), inside)


@pytest.mark.parametrize("variance", [0.0, 1e-6, 0.05, 1.0, 2.0])
@pytest.mark.parametrize("free_last", [False, True])
def test_cliques_solved_together_are_those_solved_apart(variance, free_last):
    """From a start afresh, after a row of each jumped, and from another problem altogether."""
    rng = np.random.default_rng(0)
    learner = MTFTRL((variance,), free_last=free_last)
    for shape in SHAPES:
        state = make(learner, SIZES, 10.0 ** rng.uniform(-2, 1))
        other = make(learner, SIZES, state.rate[0])
        for step in range(12):
            for first, size in zip(state.plan["first"], SIZES, strict=True):
                rows = state.gradients[first : first + size, 0]
                new = shape(rng, size) * 10.0 ** rng.uniform(-2, 2)
                if step % 4 == 0:
                    rows[:] = new
                else:
                    rows[rng.integers(size)] = rows.mean() + rows.std() * rng.standard_normal()
            other.gradients[:] = state.gradients
            solve_together(state)
            solve_apart(other)
            np.testing.assert_array_equal(state.cliques["clipped"], other.cliques["clipped"])
            np.testing.assert_allclose(rows_of(state), rows_of(other), rtol=0.0, atol=1e-11)


def test_hardly_any_needs_sorting_when_one_row_of_each_jumps():
    """Sorting leaves its traces in the scratch of the solver."""
    rng, sizes = np.random.default_rng(0), np.full(40, 27)
    state = make(MTFTRL((0.05,)), sizes, 1.0)
    state.gradients[:, 0] = 5.0 * rng.standard_normal(len(state.gradients))
    solve_together(state)
    sorted_before = state.work.order.reshape(40, 27).copy()
    jumps, again = 0, 0
    for _ in range(50):
        rows = state.gradients.reshape(40, 27)
        rows[np.arange(40), rng.integers(27, size=40)] = 5.0 * rng.standard_normal(40)
        solve_together(state)
        assert (state.cliques["clipped"] > 0).sum() > 20
        now = state.work.order.reshape(40, 27)
        again += (now != sorted_before).any(axis=1).sum()
        jumps, sorted_before = jumps + 40, now.copy()
    assert again < 0.1 * jumps


def test_what_was_in_the_room_changes_no_bit():
    rng, found = np.random.default_rng(0), []
    for strange in (0.0, 7.0, np.nan):
        state = make(MTFTRL((0.05,)), np.full(40, 27), 1.0)
        state.gradients[:, 0] = 5.0 * np.random.default_rng(1).standard_normal(40 * 27)
        for _ in range(3):
            state.work.piece[:], state.work.place[:] = strange, rng.integers(27)
            state.work.waiting[:] = rng.integers(40)
            solve_together(state)
            state.gradients[::27] *= 1.1
        found.append((state.experts.tobytes(), state.centre.tobytes()))
    assert len(set(found)) == 1


@kernel
def count(gradients, mean, low, high):
    return count_and_sum(gradients, mean, low, high)


@pytest.mark.parametrize("size", [8, 9, 15, 16, 17, 27, 100])
def test_rows_are_counted_once(size):
    rng = np.random.default_rng(size)
    gamma = np.round(rng.standard_normal(size), 1)  # with ties
    w = gamma.mean() - gamma
    for low, high in ((-1.0, 1.0), (w.min(), w.max()), (0.2, 0.3), (-1e300, 0.0), (-2.0, 1e300)):
        inside = w[(w >= low) & (w <= high)]
        expected = (w < low).sum() + HIGHER * (w > high).sum(), inside.sum(), (inside**2).sum()
        got = count(gamma[:, None], gamma.mean(), low, high)
        assert got == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_a_private_network_with_one_expert_plays_its_minimisers():
    """More neighbours than may wait together, whose sums jump with the noise."""
    graph = mtcool.graphs.complete(40)
    net = mtcool.dpmt_co2ol(graph, 1, mtcool.Privacy(1.0, 50), learner=MTFTRL((0.05,)), seed=0)
    state = net.peers.state.learner.base
    rng, clipped = np.random.default_rng(0), 0
    for _ in range(20):
        net.update(int(rng.integers(40)), [rng.uniform(-1, 1)])
        found = rows_of(state)
        clipped += (state.cliques["clipped"] > 0).sum()
        other = make(MTFTRL((0.05,)), np.full(40, 40), 1.0)
        other.gradients[:], other.cliques[:] = state.gradients, state.cliques
        solve_apart(other)
        np.testing.assert_allclose(found, rows_of(other), rtol=0.0, atol=1e-11)
    assert clipped > 400
