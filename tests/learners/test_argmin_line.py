"""The solver on the line finds every expert by itself, and accepts nothing that is wrong."""

import math

import numpy as np
import pytest

from mtcool.kernels import kernel
from mtcool.learners import MTFTRL
from mtcool.learners.solvers import line as argmin_line
from mtcool.learners.solvers.line import make_line, solve_line
from mtcool.privacy import release

HEDGES = [
    MTFTRL(),
    MTFTRL(free_last=True),
    MTFTRL("geometric"),
    MTFTRL((1e-6,)),
    MTFTRL((0.0, 1e-6, 1e-3, 0.1, 0.5, 1.5, 2.0)),
]
SHAPES = [
    lambda rng, size: rng.standard_normal(size),
    lambda rng, size: rng.standard_cauchy(size),
    lambda rng, size: np.sign(rng.standard_normal(size)) + 0.01 * rng.standard_normal(size),
    lambda rng, size: rng.standard_normal(size) + 10.0 * rng.standard_normal(),
    lambda rng, size: np.round(3.0 * rng.standard_normal(size), 1),
    lambda rng, size: rng.exponential(size=size) ** 3,
]


@kernel
def solve(gradients, mean, unit, inverse, equal, factor, cap, weight, multiplier, centre, line):
    return solve_line(
        gradients,
        line.order,
        mean,
        unit,
        inverse,
        equal,
        factor,
        cap,
        weight,
        multiplier,
        centre,
        line,
    )


class Clique:
    """The experts of one clique on the line, which go on from their last solutions."""

    def __init__(self, learner, size, unit):
        factor, cap = learner._plan(np.array([0, size]))[1]
        self.unit, self.factor, self.cap = unit, factor.copy(), cap.copy()
        self.s, self.m = np.full(len(factor), argmin_line.CLOSED_FORM), np.zeros((len(factor), 1))
        self.line = make_line(np.array([size]), len(factor))

    def solve(self, gamma):
        """How many experts have rows on the ball, and how many the solver could not find."""
        mean, deviation = gamma.mean(), gamma.std(ddof=1)
        inverse = min(1e300, 1.0 / deviation) if deviation > 0.0 else 1e300
        _, _, clipped, failed = solve(
            gamma[:, None],
            mean,
            self.unit,
            inverse,
            bool(deviation == 0.0),
            self.factor,
            self.cap,
            np.ones_like(self.factor),
            self.s,
            self.m,
            self.line,
        )
        return clipped, failed


@pytest.mark.parametrize("shape", SHAPES)
def test_every_expert_is_found(shape):
    """Whether it starts afresh, from a row that jumped, or from another problem altogether."""
    rng, solved = np.random.default_rng(0), 0
    for _ in range(1_000):
        size = int(rng.choice([2, 3, 5, 8, 13, 27, 60]))
        gamma = shape(rng, size) * 10.0 ** rng.uniform(-3, 4)
        clique = Clique(HEDGES[rng.integers(len(HEDGES))], size, 10.0 ** rng.uniform(-3, 4))
        for step in range(4):
            clipped, failed = clique.solve(gamma)
            assert failed == 0
            solved += clipped
            gamma[rng.integers(size)] = gamma.mean() + gamma.std() * rng.standard_normal()
            if step == 2:
                gamma = shape(rng, size) * 10.0 ** rng.uniform(-3, 4)
    assert solved > 10_000


@pytest.mark.parametrize("unit", [0.01, 1.0, 1000.0])
def test_rows_are_equal_where_rounding_hides_which_are_clipped(unit):
    """As after a stranger's sums, where two rows on the ball alone may vary as all may."""
    found, sober = 0, np.array([3000.0, -1000.0, 2000.0])
    for shape in ([2.0, 2.0, -1.0], [4.0, -1.0, 3.0], [-1.0, 2.0, 6.0]):
        for power in range(20, 130):
            clique, usual = (Clique(MTFTRL(), 3, unit) for _ in range(2))
            gamma = np.array(shape) * 10.0**power
            clipped, failed = clique.solve(gamma)
            assert clipped == len(clique.s)
            at_the_mean = clique.s == 0.0
            assert at_the_mean.sum() == failed
            assert (clique.m[at_the_mean] == -1.0).all()
            assert (abs(clique.m) <= 1.0).all()
            found += failed
            assert clique.solve(sober) == usual.solve(sober) == (len(clique.s), 0)
            np.testing.assert_allclose(clique.s, usual.s, rtol=1e-12)
            np.testing.assert_allclose(clique.m, usual.m, rtol=1e-12)
    assert found > 0


def test_a_solution_that_clips_other_rows_is_not_accepted():
    is_right = getattr(argmin_line.is_right, "py_func", argmin_line.is_right)
    rng = np.random.default_rng(0)
    value = np.concatenate(([-np.inf], np.sort(rng.standard_normal(13)), [np.inf]))
    low, high = value[4:6].mean(), value[9:11].mean()  # a = 4, h = 9
    for a in range(10):
        for h in range(a, 14):
            right = is_right(value, low, high, 1e-14, np.uint64(a), np.uint64(h))
            assert right == (a == 4 and h == 9)
    for strange in ((math.nan, high), (low, math.nan)):
        assert not is_right(value, *strange, 1e-14, np.uint64(4), np.uint64(9))


@pytest.mark.parametrize("x", [0.0, 0.3, -1.0, 1.0 + 1e-12, -7.0, 1e200, math.inf, math.nan])
def test_a_row_of_one_number_is_clipped_as_a_vector_is(x):
    number, product = (
        getattr(f, "py_func", f) for f in (release.clipped_number, release.clipped_product)
    )
    with np.errstate(over="ignore"):
        expected = product(np.array([x]), np.array([-0.7])) if abs(x) != 1e200 else -0.7
    assert number(x) * -0.7 == pytest.approx(expected, abs=1e-15)
