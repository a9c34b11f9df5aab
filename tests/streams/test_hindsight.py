"""The best tasks in hindsight, with a proof that does not come from the code that found them."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog

from huber import Distance, Huber
from mtcool.streams import (
    Loss,
    Losses,
    Stream,
    absolute,
    best_in_hindsight,
    examples,
    hinge,
    linear,
    logistic,
    quadratic,
    squared,
    subgradient,
    value,
    width,
)
from mtcool.streams.hindsight import least

RADII = [0.3, 1.0, 20.0]


def total(losses: Losses, mine: np.ndarray, x: np.ndarray) -> tuple[float, np.ndarray]:
    paid = [Loss(losses.kind, row)(x) for row in losses.rows[mine]]
    return sum(loss for loss, _ in paid), np.sum([gradient for _, gradient in paid], axis=0)


def a_stream(make, dim: int, seed: int = 0) -> Stream:
    rng = np.random.default_rng(seed)
    features, target = rng.standard_normal((60, dim)), 2.0 * rng.standard_normal(60)
    return Stream(rng.integers(3, size=60), make(features, target), labels=["a", "b", "c", "never"])


def signs(make):
    return lambda features, target: make(features, np.where(target < 0, -1.0, 1.0))


SMOOTH = {
    "quadratic": lambda a, y: quadratic(a + y[:, None]),
    "squared": squared,
    "logistic": signs(logistic),
    "huber": lambda a, y: Losses(Huber(0.5), examples(a, y)),
}
ALL = SMOOTH | {
    "absolute": absolute,
    "hinge": signs(hinge),
    "distance": lambda a, y: Losses(Distance(2.0), a + y[:, None]),
}


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("make", SMOOTH.values(), ids=SMOOTH)
def test_the_gap_of_frank_and_wolfe_is_closed_for_smooth_losses(make, dim, radius):
    """<g, x> + radius |g| bounds how much any point of the ball is better, for convex losses."""
    stream = a_stream(make, dim)
    best = best_in_hindsight(stream, radius, tolerance=1e-10)
    assert np.linalg.norm(best, axis=1).max() <= radius * (1 + 1e-12)
    for agent in range(3):
        mine = stream.agents == agent
        least_known, gradient = total(stream.losses, mine, best[agent])
        gap = gradient @ best[agent] + radius * np.linalg.norm(gradient)
        start, slope = total(stream.losses, mine, np.zeros(dim))
        # For a smooth function the gap is at most about the root of what is left to gain.
        assert gap <= 1e-3 * (start + radius * np.linalg.norm(slope))
        assert least_known <= start


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_no_point_of_the_ball_is_better(make, dim, radius):
    rng = np.random.default_rng(1)
    stream = a_stream(make, dim)
    best = best_in_hindsight(stream, radius)
    assert (best[3] == 0.0).all()
    for agent in range(3):
        mine = stream.agents == agent
        here, _ = total(stream.losses, mine, best[agent])
        start, slope = total(stream.losses, mine, np.zeros(dim))
        slack = 1e-7 * max(start, radius * np.linalg.norm(slope))
        for distance in (1e-4, 1e-2, 1.0):
            for direction in rng.standard_normal((6, dim)):
                point = best[agent] + distance * radius * direction
                point /= max(1.0, np.linalg.norm(point) / radius)
                assert total(stream.losses, mine, point)[0] >= here - slack


@pytest.mark.parametrize("kind", ["absolute", "hinge"])
@pytest.mark.parametrize("dim", [1, 3, 8])
def test_losses_with_corners_reach_the_optimum_of_the_linear_program(kind, dim):
    """Without the ball these problems are linear programs, which HiGHS solves exactly."""
    stream = a_stream(ALL[kind], dim, seed=2)
    features, target = stream.losses.rows[:, :-1], stream.losses.rows[:, -1]
    best = best_in_hindsight(stream, radius=100.0, tolerance=1e-10)
    for agent in range(3):
        mine = stream.agents == agent
        a, y, count = features[mine], target[mine], int(mine.sum())
        one = -np.eye(count)
        if kind == "absolute":  # a x - s <= y, -a x - s <= -y
            left, right = np.block([[a, one], [-a, one]]), np.concatenate((y, -y))
        else:  # s >= 1 - y a x
            left, right = np.block([[-y[:, None] * a, one]]), -np.ones(count)
        free, slack = [(None, None)] * dim, [(0, None)] * count
        exact = linprog(np.r_[np.zeros(dim), np.ones(count)], left, right, bounds=free + slack)
        assert np.linalg.norm(exact.x[:dim]) < 100.0
        assert total(stream.losses, mine, best[agent])[0] == pytest.approx(exact.fun, abs=1e-6)


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_the_proven_bound_is_below_every_value_and_close_to_the_least(make):
    stream = a_stream(make, dim=4, seed=3)
    mine = stream.agents == 0
    function = lambda x: total(stream.losses, mine, x)  # noqa: E731
    point, bound = least(function, 4, 2.0, 1e-6)
    start, slope = function(np.zeros(4))
    assert bound <= function(point)[0] + 1e-9
    assert function(point)[0] - bound <= 1e-6 * max(start, 2.0 * np.linalg.norm(slope))


class Bump(NamedTuple):
    """A loss that is not convex."""


@width.register
def _(kind: Bump, dim: int) -> int:
    return dim


@value.register
def _(kind: Bump, row, x):
    return -((x[0] - row[0]) ** 2)


@subgradient.register
def _(kind: Bump, row, x, out):
    out[0] = -2.0 * (x[0] - row[0])


def test_losses_that_are_seen_not_to_be_convex_are_refused():
    stream = Stream([0], Losses(Bump(), [[1.0]]), labels=["roof"])
    with pytest.raises(ValueError, match=r"losses must be convex.*'roof'"):
        best_in_hindsight(stream, 3.0)


def test_an_agent_without_losses_has_the_task_zero():
    losses = absolute(np.ones((2, 1)), [1.0, 3.0])
    best = best_in_hindsight(Stream([0, 2], losses), radius=2.0)
    assert best.ravel() == pytest.approx([1.0, 0.0, 2.0], abs=1e-6)


def test_an_accuracy_out_of_reach_is_refused_with_the_one_that_was_reached():
    rng = np.random.default_rng(4)
    losses = absolute(rng.standard_normal((40, 3)), rng.standard_normal(40))
    with pytest.raises(ValueError, match=r"tolerance must be larger.*1e-30.*was reached.*agent 0"):
        best_in_hindsight(Stream(np.zeros(40, int), losses), 1.0, tolerance=1e-30)


def test_best_in_hindsight_beats_every_other_task_of_the_ball() -> None:
    rng = np.random.default_rng(1)
    gradients, agents = rng.standard_normal((40, 3)), rng.integers(4, size=40)
    best = best_in_hindsight(Stream(agents, linear(gradients)), radius=2.0)
    assert np.linalg.norm(best, axis=1) == pytest.approx(2.0)
    for agent in range(4):
        total = gradients[agents == agent].sum(axis=0)
        assert best[agent] @ total == pytest.approx(-2.0 * np.linalg.norm(total))


def test_best_in_hindsight_is_zero_where_the_gradients_sum_to_zero() -> None:
    stream = Stream([0, 0, 1], linear([[1.0], [-1.0], [3.0]]), labels=["x", "y", "never"])
    assert best_in_hindsight(stream, radius=1.0).tolist() == [[0.0], [-1.0], [0.0]]
