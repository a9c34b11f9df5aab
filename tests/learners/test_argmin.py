"""An expert of MT-FTRL is the exact minimiser, whatever Gamma: its optimality conditions hold.

With C = eta Gamma and m the mean of the rows, X minimises <C, X> + |X|_A^2 / 2 over rows in the
unit ball with sigma^2(X) <= xi if and only if it is feasible and there are multipliers lam >= 0 of
the variance and mu_i >= 0 of the balls, zero where the constraint is slack, such that

    C_i + X_i + N (X_i - m) + lam (X_i - m) + mu_i X_i = 0    for all rows i.

Non-negative least squares finds them, from X and C alone. Since A >= I, a residual r in this
equation bounds the distance to the minimiser by r.
"""

import math
import time

import numpy as np
import pytest
from scipy.optimize import nnls

import mtcool
import oracle
from mtcool.kernels import kernel
from mtcool.kernels.lanes import LANES
from mtcool.learners import MTFTRL
from mtcool.learners.learner import Cliques
from mtcool.learners.mt_ftrl import closed_form
from mtcool.learners.mt_ftrl.state import CAP, FACTOR, MULTIPLIER
from mtcool.learners.solvers.line import CLOSED_FORM
from mtcool.learners.solvers.newton import minimise, put_expert
from mtcool.learners.solvers.safe import minimise_safely
from mtcool.learners.solvers.sweep import DENSE, MEAN, S, gather_rows, make_scratch, vector

EXACT = 1e-10  # relative to the data
SLACK = 1e-9  # a constraint further than this from equality has multiplier zero

VARIANCES = (0.0, 1e-6, 1e-3, 0.1, 0.5, 1.0, 1.5, math.inf)


class Expert:
    """One clique with a single expert; `rate` is the factor of beta, which sets eta.

    A network refuses gradients that are longer than one, so it gets them divided by `unit`, a
    power of two, and multiplies them by the weights, here `unit`.
    """

    def __init__(self, size, dim, xi, rate=1.0, longest=1.0):
        guess, free = (1.0, True) if xi == math.inf else (xi, False)
        weights = np.zeros((size, size))
        weights[:, 0] = 1.0
        learner = MTFTRL((guess,), free_last=free)
        graph = mtcool.graphs.complete(size)
        self.net = mtcool.mt_co2ol(graph, dim, learner=learner, weights=weights)
        self.unit = 2.0 ** math.ceil(math.log2(longest))
        units = np.full(size, self.unit)
        units.setflags(write=False)
        self.net.exchange.peers = self.net.peers._replace(weight=units)
        self.net.peers.state.rate[0] = rate
        self.gamma, self.n = np.zeros((size, dim)), 0
        self.factor = size / rate * math.sqrt(1.0 + guess * (size - 1))

    def update(self, row, gradient):
        self.net.update(row, np.asarray(gradient) / self.unit)
        self.gamma[row] += gradient
        self.n += 1

    def linear(self):
        """eta Gamma."""
        return self.factor / math.sqrt(1.0 + self.n) * self.gamma

    def rows(self):
        return np.array([self.net.predict(row) for row in range(len(self.gamma))]) / self.unit


def rate_for(eta, size, xi, n):
    """The factor of beta for which eta is the given one after n updates."""
    guess = 1.0 if xi == math.inf else xi
    return size * math.sqrt(1.0 + guess * (size - 1)) / (eta * math.sqrt(1.0 + n))


def assert_optimal(x, linear, xi):
    """Feasibility, complementarity and stationarity."""
    size = len(x)
    lengths, deviation, spread = np.linalg.norm(x, axis=1), x - x.mean(axis=0), oracle.variance(x)
    assert np.isfinite(x).all()
    assert lengths.max() <= 1.0 + 1e-14
    if size > 1:
        assert spread <= xi * (1.0 + EXACT) + 1e-28
    force = linear + x + size * deviation
    on_the_ball = np.flatnonzero(lengths > 1.0 - SLACK)
    pushes = [np.where(np.arange(size)[:, None] == i, x, 0.0) for i in on_the_ball]
    if size > 1 and xi == 0.0:
        # Rows are equal: their multipliers are any deviations, so only the sums must vanish.
        force, pushes = force.sum(axis=0), [push.sum(axis=0) for push in pushes]
    elif size > 1 and spread > xi * (1.0 - SLACK):
        pushes.append(deviation / np.linalg.norm(deviation))
    assert unbalanced(force / (1.0 + size + np.abs(linear).max()), pushes) <= EXACT


def unbalanced(force, pushes):
    """What remains of the force when non-negative multiples of the pushes work against it."""
    if not pushes:
        return np.linalg.norm(force)
    return nnls(np.array([push.ravel() for push in pushes]).T, -force.ravel())[1]


def one_huge(c, rng):
    c[rng.integers(len(c))] *= 1e4
    return c


def antipodal(c, rng):
    return np.where(np.arange(len(c))[:, None] % 2, c[0], -c[0])


def duplicated(c, rng):
    return c[rng.integers(1 + len(c) // 3, size=len(c))]


def touching(c, rng):
    """The largest row of A^-1 C has length one, up to rounding and a little more."""
    free = np.linalg.inv(oracle.interaction_matrix(len(c))) @ c
    margin = rng.choice([-1e-9, -1e-12, 0.0, 1e-12, 1e-9])
    return c * (1.0 + margin) / np.linalg.norm(free, axis=1).max()


SHAPES = {
    "random": lambda c, rng: c,
    "zero": lambda c, rng: 0.0 * c,
    "equal": lambda c, rng: np.tile(c[0], (len(c), 1)),
    "nearly equal": lambda c, rng: c[0] + 1e-9 * c,
    "one huge": one_huge,
    "antipodal": antipodal,
    "duplicated": duplicated,
    "all clipped": lambda c, rng: np.abs(c) + 3.0,
    "collinear": lambda c, rng: np.outer(rng.standard_normal(len(c)), c[0]),
    "centred": lambda c, rng: c - c.mean(axis=0),
    "sparse": lambda c, rng: c * (rng.random((len(c), 1)) < 0.3),
    "flat": lambda c, rng: c * np.where(np.arange(c.shape[1]) == 0, 1.0, 1e-6),
    "touching": touching,
}


def random_sizes(rng):
    return int(rng.choice([1, 2, 3, 4, 5, 8, 13, 40])), int(rng.choice([1, 1, 2, 3, 5, 10]))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_minimiser_is_exact_for_any_gamma_and_any_rate(shape):
    """One gradient for each row: the solver's warm starts are as far off as can be."""
    rng = np.random.default_rng(list(SHAPES).index(shape))
    for _ in range(300):
        size, dim = random_sizes(rng)
        xi, eta = float(rng.choice(VARIANCES)), 10.0 ** rng.uniform(-8, 8)
        linear = SHAPES[shape](rng.standard_normal((size, dim)), rng)
        if shape != "touching":
            linear *= 10.0 ** rng.uniform(-2, 4)
        longest = max(1e-300, np.linalg.norm(linear, axis=1).max() / eta)
        expert = Expert(size, dim, xi, rate_for(eta, size, xi, size), longest)
        for row in rng.permutation(size):
            expert.update(row, linear[row] / eta)
            if size < 10 or expert.n == size:
                assert_optimal(expert.rows(), expert.linear(), xi)


def streams():
    """Gradients as the algorithm sees them: of norm at most the factor of beta, which is one.

    "Uneven" is the exception: stochastic rates follow the usual weights, and an agent of large
    weight that is hardly ever active exceeds them.
    """
    rng = np.random.default_rng(0)

    def unit(dim, sign=1.0):
        return np.eye(dim)[0] * sign

    def random(t, row, dim):
        g = rng.standard_normal(dim)
        return g / np.linalg.norm(g)

    return {
        "random": random,
        "uneven": lambda t, row, dim: random(t, row, dim) * (1.0 if row % 3 else 100.0),
        "one-sided": lambda t, row, dim: unit(dim),
        "antipodal": lambda t, row, dim: unit(dim, 1.0 if row % 2 else -1.0),
        "alternating": lambda t, row, dim: unit(dim, 1.0 if t % 2 else -1.0),
        "turning": lambda t, row, dim: unit(dim, 1.0 if (row + t // 60) % 2 else -1.0),
    }


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("kind", streams())
def test_the_minimiser_is_exact_after_every_update(kind, size):
    rng = np.random.default_rng(size)
    gradient = streams()[kind]
    for dim in (1, 3):
        for xi in (1e-6, 1 / size, 1.0, math.inf):
            expert = Expert(size, dim, xi, longest=100.0 if kind == "uneven" else 1.0)
            for t in range(150):
                row = int(rng.integers(size))
                expert.update(row, gradient(t, row, dim))
                if t < 20 or t % 5 == 0:
                    assert_optimal(expert.rows(), expert.linear(), xi)


# Gradients after which a solver that is almost right goes wrong: (xi, [(row, gradient), ...]).
TRAPS = {
    # On the line all rows are clipped and nothing moves with the multiplier.
    "opposite tasks": (
        1.0,
        [(0, [1]), (2, [1]), (2, [1]), (1, [-1]), (0, [1]), (1, [-1]), (1, [-1])],
    ),
    # The deviation as a function of the multiplier bends where a row meets the ball: Newton's
    # method jumps from one side to the other and back, inside a bracket that hardly shrinks.
    "cycle of four": (1.0, [(2, [14, 15]), (1, [-1480, -1603]), (3, [0, 5]), (0, [-1, 1])]),
    "cycle of five": (
        1.0,
        [(3, [-126, 722]), (0, [436, 324]), (4, [-3, -101]), (2, [-9, 1]), (1, [16, 455])],
    ),
    "another cycle": (
        1.0,
        [(1, [-325, 295]), (2, [-25, -3]), (4, [9, 1]), (3, [-212, -241]), (0, [-6, -50])],
    ),
    # What remains of two large gradients is small: running sums of squares would lose it.
    "cancellation": (1e-6, [(0, [1000.1]), (0, [-1000]), (1, [0.05]), (2, [1000.1]), (2, [-1000])]),
}


@pytest.mark.parametrize("name", TRAPS)
def test_the_minimiser_is_exact_where_solvers_go_wrong(name):
    xi, steps = TRAPS[name]
    size, dim = 1 + max(row for row, _ in steps), len(steps[0][1])
    expert = Expert(size, dim, xi, longest=4096.0)
    for row, gradient in steps:
        expert.update(row, gradient)
        assert_optimal(expert.rows(), expert.linear(), xi)


def objective(x, linear):
    return (linear * x).sum() + oracle.interaction_norm(x) ** 2 / 2


def test_no_point_that_a_conic_solver_finds_is_better():
    rng = np.random.default_rng(1)
    for _ in range(40):
        size, dim = int(rng.integers(2, 7)), int(rng.integers(1, 5))
        xi = rng.choice([0.0, 0.1, 0.5, 1.0, math.inf])
        linear = rng.standard_normal((size, dim)) * 10.0 ** rng.uniform(-1, 1)
        longest = np.linalg.norm(linear, axis=1).max()
        expert = Expert(size, dim, xi, rate_for(1.0, size, xi, size), longest)
        for row in range(size):
            expert.update(row, linear[row])
        ours = objective(expert.rows(), expert.linear())
        theirs = objective(oracle.minimiser(expert.linear(), xi), expert.linear())
        assert ours == pytest.approx(theirs, abs=1e-7 * (1.0 + np.abs(linear).max()))


@pytest.mark.parametrize("xi", [1e-6, 0.1, math.inf])
def test_the_minimiser_is_exact_in_many_dimensions(xi):
    """Beyond `DENSE` of them the linear equations are solved by conjugate gradients."""
    rng, (size, dim) = np.random.default_rng(7), (6, DENSE + 3)
    expert = Expert(size, dim, xi, rate=0.05)
    for _ in range(40):
        gradient = rng.standard_normal(dim)
        expert.update(int(rng.integers(size)), gradient / np.linalg.norm(gradient))
        assert_optimal(expert.rows(), expert.linear(), xi)


@kernel
def solve_both_ways(gradients, total, eta, deviation, cap, s, m, scratch):
    """Of one expert: s and m as `minimise` finds them, and as the safe way does."""
    size, dim = gradients.shape
    count = gather_rows(gradients, 0, size, total, scratch)
    for way in range(2):
        for lane in range(LANES):
            put_expert(scratch, lane, way, size, eta, cap, deviation, -1.0, m[way])
        if way == 0:
            minimise(scratch, 1, count, size, s, m)
            continue
        minimise_safely(scratch, dim, 0, count, size)
        s[1] = scratch.lanes[S, 0]
        for k in range(dim):
            m[1, k] = scratch.lanes[vector(dim, MEAN) + k, 0]


@pytest.mark.parametrize("dim", [1, 2, 5, DENSE + 1])
def test_the_safe_way_finds_the_same(dim):
    """It runs only where Newton's method fails, about once in ten thousand times."""
    rng, scratch = np.random.default_rng(dim), make_scratch(dim, 9)
    for _ in range(50):
        gamma = rng.standard_normal((9, dim)) * 10.0 ** rng.uniform(-1, 3)
        gamma[rng.integers(9, size=2)] = 0.0
        cap, s, m = float(rng.choice([0.05, 0.5, 1.0])), np.zeros(2), np.zeros((2, dim))
        deviation = math.sqrt(oracle.variance(gamma))
        solve_both_ways(gamma, gamma.sum(axis=0), 1.0, deviation, cap, s, m, scratch)
        rows = (1.0 - s)[:, None, None] * m[:, None] - s[:, None, None] * gamma
        rows /= np.maximum(1.0, np.linalg.norm(rows, axis=2, keepdims=True))
        assert_optimal(rows[1], gamma, cap**2)
        np.testing.assert_allclose(rows[0], rows[1], atol=1e-11)


@pytest.mark.parametrize("dim", [1, 2])
def test_newton_ends_where_the_safe_way_does_when_s_moves_far(dim):
    """One huge row: s grows a thousandfold on the way, where factors of old steps are used."""
    rng = np.random.default_rng(dim)
    for _ in range(3000):
        size = int(rng.choice([2, 5, 13]))
        gamma = one_huge(rng.standard_normal((size, dim)), rng) * 10.0 ** rng.uniform(-2, 5)
        cap, s, m = float(rng.choice([1e-3, 0.03, 0.3])), np.zeros(2), np.zeros((2, dim))
        m[:] = -gamma.mean(axis=0) / max(1.0, np.linalg.norm(gamma.mean(axis=0)))
        deviation = math.sqrt(oracle.variance(gamma))
        solve_both_ways(
            gamma, gamma.sum(axis=0), 1.0, deviation, cap, s, m, make_scratch(dim, size)
        )
        rows = (1.0 - s)[:, None, None] * m[:, None] - s[:, None, None] * gamma
        rows /= np.maximum(1.0, np.linalg.norm(rows, axis=2, keepdims=True))
        np.testing.assert_allclose(rows[0], rows[1], atol=1e-10)


def test_rows_without_a_gradient_are_solved_as_one():
    """The first gradient puts rows of all experts on the ball: 500 experts in each of 500 cliques.

    Row by row that takes more than ten seconds.
    """
    for size in (3, 500):  # the first only compiles
        net = mtcool.mt_co2ol(mtcool.graphs.complete(size), dim=2)
        began = time.process_time()
        net.update(0, np.array([0.6, 0.8]))
    assert time.process_time() - began < 2.0
    assert (net.peers.state.cliques["clipped"] == size).all()


# On the line all experts of a clique are solved together, each from where the last one ended
# (`solvers/line.py`); `minimise` is the general method.

HEDGES = [
    MTFTRL(),
    MTFTRL(free_last=True),
    MTFTRL("geometric"),
    MTFTRL((1e-6,)),
    MTFTRL((1.0,)),
    MTFTRL((0.0, 1e-6, 1e-3, 0.1, 0.5, 1.5, 2.0)),
]


@kernel
def solve(state):
    """What follows a change of Gamma."""
    closed_form.refresh(state, 0)
    closed_form.reweigh(state, 0)


def clique_on_line(learner, gamma, rate, n):
    """The state of one clique with the given Gamma after n updates, its experts solved."""
    cliques = Cliques(np.array([0, len(gamma)]), np.array([rate]), np.array([1.0]))
    state = learner.make_state(cliques, 1)
    state.gradients[:, 0], state.n[0] = gamma, n
    solve(state)
    return state


def clipped_experts(state):
    """Index, eta, cap and rows of each expert that is not in closed form."""
    for e in np.flatnonzero(state.experts[MULTIPLIER] != CLOSED_FORM):
        eta, s = state.cliques["unit"][0] * state.table[FACTOR, e], state.experts[MULTIPLIER, e]
        x = np.clip((1.0 - s) * state.centre[e, 0] - s * eta * state.gradients[:, 0], -1.0, 1.0)
        yield e, eta, state.table[CAP, e], x[:, None]


@kernel
def solve_one(gradients, total, eta, deviation, cap, s, m, scratch):
    """One expert by the general method, started afresh; leaves s and the mean of its rows."""
    size = gradients.shape[0]
    count = gather_rows(gradients, 0, size, total, scratch)
    put_expert(scratch, 0, 0, size, eta, cap, deviation, -1.0, m[0])
    minimise(scratch, 1, count, size, s, m)


def general_rows(state, eta, cap):
    """The rows by the general method."""
    s, m = np.zeros(1), np.clip(-eta * state.gradients.mean(axis=0, keepdims=True), -1.0, 1.0)
    deviation = 1.0 / state.cliques["inverse"][0]
    scratch = make_scratch(1, len(state.gradients))
    solve_one(state.gradients, state.total[0], eta, deviation, cap, s, m, scratch)
    return np.clip((1.0 - s) * m - s * eta * state.gradients, -1.0, 1.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_experts_on_the_line_are_those_of_the_general_method(shape):
    rng = np.random.default_rng(list(SHAPES).index(shape))
    solved = 0
    for _ in range(150):
        size = int(rng.choice([2, 3, 5, 8, 13, 27, 60]))
        gamma = SHAPES[shape](rng.standard_normal((size, 1)), rng)[:, 0]
        gamma = gamma * 10.0 ** rng.uniform(-3, 4)
        learner = HEDGES[rng.integers(len(HEDGES))]
        rate, n = 10.0 ** rng.uniform(-4, 2), int(10.0 ** rng.uniform(0, 5))
        state = clique_on_line(learner, gamma, rate, n)
        for _, eta, cap, x in clipped_experts(state):
            assert_optimal(x, eta * state.gradients, cap**2)
            if cap > 0.0 and state.cliques["deviation"][0] > 0.0:
                # The general method is content with 1e-14 in the deviation, of which a row may be
                # the root.
                np.testing.assert_allclose(x, general_rows(state, eta, cap), atol=1e-11)
                solved += 1
    assert solved > 100 or shape in ("zero", "equal", "centred", "touching")


@pytest.mark.parametrize("noise", [10.0, 100.0, 1000.0, 5000.0])
def test_experts_on_the_line_are_exact_when_rows_jump(noise):
    """Rows of noisy sums: at every update one of them is drawn afresh."""
    rng, size = np.random.default_rng(int(noise)), 27
    for n in (1_000, 130_000):
        gamma = noise / size * rng.standard_normal(size)
        state = clique_on_line(MTFTRL(), gamma, 1.0 / size, n)
        for _ in range(40):
            state.gradients[rng.integers(size), 0] = noise / size * rng.standard_normal()
            state.n[0] += 1
            solve(state)
            for _, eta, cap, x in clipped_experts(state):
                assert_optimal(x, eta * state.gradients, cap**2)
                np.testing.assert_allclose(x, general_rows(state, eta, cap), atol=1e-11)


def test_the_order_in_which_rows_were_sorted_last_changes_no_bit():
    rng = np.random.default_rng(0)
    for _ in range(20):
        gamma = np.round(3.0 * rng.standard_normal(13), 1)  # with ties
        state = clique_on_line(MTFTRL(), gamma, 0.1, 10)
        want = state.experts[MULTIPLIER].tobytes(), state.centre.tobytes()
        state.work.order[:] = rng.permutation(13)
        solve(state)
        assert (state.experts[MULTIPLIER].tobytes(), state.centre.tobytes()) == want
