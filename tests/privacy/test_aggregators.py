"""Aggregators as matrices: published sums are B (C leaves + noise) with B C = prefix sums."""

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest

from mtcool.kernels import kernel
from mtcool.privacy import BLT, BinaryTree, Doubling, NoNoise, PerGradient, SmoothTree
from mtcool.privacy.aggregators.aggregator import Blocks, begin, decode, encode
from mtcool.privacy.aggregators.blt import DESIGNS, coefficients

ROOT = Path(__file__).parents[2]
HORIZONS = (1, 2, 3, 7, 8, 16, 27)
CASES = [
    (BinaryTree(), "laplace"),
    (BinaryTree(completed=False), "laplace"),
    (SmoothTree(), "laplace"),
    (Doubling(), "laplace"),
    (PerGradient(), "laplace"),
    (BinaryTree(), "gaussian"),
    (SmoothTree(), "gaussian"),
    (Doubling(), "gaussian"),
    (PerGradient(), "gaussian"),
    (BLT(), "gaussian"),
    (NoNoise(), "none"),
]
ids = [f"{aggregator}-{law}" for aggregator, law in CASES]
every_aggregator = pytest.mark.parametrize(("aggregator", "law"), CASES, ids=ids)


@kernel
def _begin(state, agent, draws):
    begin(state, agent, draws)


@kernel
def _encode(state, agent, leaf, value):
    encode(state, agent, leaf, value)


@kernel
def _decode(state, agent, value, noisy):
    decode(state, agent, value, noisy)


class Machine:
    """One agent's aggregator, a number in each leaf."""

    def __init__(self, aggregator, law, horizon, width=1):
        self.state = aggregator.make_state(Blocks(np.array([width]), np.array([horizon])), law)
        self.padding = int(aggregator.padding(self.state)[0])

    def begin(self, draws):
        _begin(self.state, 0, np.asarray(draws, float).ravel())
        return self.state.published.copy()

    def step(self, leaf, noise):
        leaf = np.atleast_1d(np.asarray(leaf, float))
        value = np.empty_like(leaf)
        _encode(self.state, 0, leaf, value)
        _decode(self.state, 0, value, value + noise)
        return value, self.state.published.copy()


def matrices(aggregator, law, horizon):
    """C, B and the part of the padding, found by feeding unit leaves and unit noise."""
    growth = aggregator.growth(np.arange(1, horizon + 1), law)
    c = np.zeros((horizon, horizon))
    b = np.zeros((horizon + 1, horizon))
    for s in range(horizon):
        leaves, noises = Machine(aggregator, law, horizon), Machine(aggregator, law, horizon)
        for t in range(horizon):
            c[t, s] = leaves.step(float(t == s), 0.0)[0][0]
            b[t + 1, s] = noises.step(0.0, growth[t] * float(t == s))[1][0]
    probe = Machine(aggregator, law, horizon)
    pad = np.zeros((horizon + 1, probe.padding))
    for k in range(probe.padding):
        machine = Machine(aggregator, law, horizon)
        pad[0, k] = machine.begin(np.eye(probe.padding)[k])[0]
        for t in range(horizon):
            pad[t + 1, k] = machine.step(0.0, 0.0)[1][0]
    return c, b, pad, growth


@every_aggregator
@pytest.mark.parametrize("horizon", HORIZONS)
def test_b_times_c_is_prefix_sums(aggregator, law, horizon):
    c, b, _, growth = matrices(aggregator, law, horizon)
    prefix = np.tril(np.ones((horizon, horizon)))
    np.testing.assert_allclose((b[1:] / growth) @ c, prefix, atol=1e-9)


@every_aggregator
@pytest.mark.parametrize("horizon", HORIZONS)
def test_the_column_norm_bounds_every_column_and_is_attained(aggregator, law, horizon):
    c, _, _, growth = matrices(aggregator, law, horizon)
    scaled = np.abs(c) / growth[:, None]
    norms = np.sqrt((scaled**2).sum(0)) if law == "gaussian" else scaled.sum(0)
    claimed = aggregator.column_norm(horizon, law)
    assert norms.max() <= claimed * (1 + 1e-12)
    full = not isinstance(aggregator, SmoothTree) or _all_words_used(aggregator, law, horizon)
    if full:
        assert norms.max() == pytest.approx(claimed, rel=1e-12)


def _all_words_used(aggregator, law, horizon):
    z, k = aggregator.shape(horizon, law)
    return math.comb(z + k, z) == horizon + 1


@every_aggregator
@pytest.mark.parametrize("horizon", HORIZONS)
def test_what_is_spent_is_the_norm_of_the_part_of_a_column_that_is_out(aggregator, law, horizon):
    c, _, _, growth = matrices(aggregator, law, horizon)
    scaled = np.abs(c) / growth[:, None]
    for t in range(horizon + 1):
        out = scaled[:t]
        norms = np.sqrt((out**2).sum(0)) if law == "gaussian" else out.sum(0)
        share = aggregator.spent(t, horizon, law)
        spent = share * aggregator.column_norm(horizon, law)
        assert spent == pytest.approx(norms.max(initial=0.0), rel=1e-9)


@every_aggregator
@pytest.mark.parametrize("horizon", HORIZONS)
def test_the_variance_of_every_prefix_is_its_formula(aggregator, law, horizon):
    """Rows of B and the padding, all of them independent draws."""
    _, b, pad, _ = matrices(aggregator, law, horizon)
    if law == "none":
        b = 0.0 * b  # no noise is drawn
    found = (b**2).sum(1) + (pad**2).sum(1)
    times = np.arange(horizon + 1)
    np.testing.assert_allclose(found, aggregator.variance(times, horizon, law), rtol=1e-9)


@every_aggregator
def test_the_noise_of_long_runs_has_the_variance_of_the_formula(aggregator, law):
    """Many numbers in a leaf are as many samples."""
    horizon, width = 100, 4000
    rng = np.random.default_rng(0)
    machine = Machine(aggregator, law, horizon, width)
    first = machine.begin(rng.standard_normal((machine.padding, width)))
    growth = aggregator.growth(np.arange(1, horizon + 1), law)
    silent = 0.0 if law == "none" else 1.0
    found = [first.var()]
    for t in range(horizon):
        noise = silent * growth[t] * rng.standard_normal(width)
        found.append(machine.step(np.zeros(width), noise)[1].var())
    expected = aggregator.variance(np.arange(horizon + 1), horizon, law)
    # variance of a sample variance of normal variables: 2 sigma^4 / n, here within 5 sigmas
    np.testing.assert_allclose(found, expected, rtol=5 * math.sqrt(2 / width), atol=1e-12)


def test_with_unit_noise_and_no_completion_the_noise_is_the_popcount():
    machine = Machine(BinaryTree(completed=False), "laplace", 200)
    for t in range(1, 201):
        assert machine.step(0.0, 1.0)[1][0] == t.bit_count()


def test_the_completed_tree_has_the_same_number_of_terms_at_every_time():
    machine = Machine(BinaryTree(), "laplace", 200)
    assert machine.begin(np.ones(machine.padding))[0] == 8
    assert all(machine.step(0.0, 1.0)[1][0] == 8 for _ in range(200))


def test_the_smooth_tree_has_k_terms_at_every_time():
    machine = Machine(SmoothTree(), "laplace", 1000)
    assert machine.begin(np.ones(machine.padding))[0] == 17
    assert all(machine.step(0.0, 1.0)[1][0] == 17 for _ in range(1000))


def test_the_smooth_tree_visits_the_words_in_ascending_order():
    z, k = SmoothTree().shape(27, "laplace")
    words = sorted(sum(1 << b for b in ones) for ones in itertools.combinations(range(z + k), k))
    machine = Machine(SmoothTree(), "laplace", 27)
    for word in words[1:]:
        machine.step(0.0, 0.0)
        assert machine.state.word[0] == word


@pytest.mark.parametrize(
    ("horizon", "shape"), [(1000, (3, 17)), (10**4, (4, 20)), (10**5, (4, 37)), (10**6, (6, 27))]
)
def test_shapes_of_smooth_trees(horizon, shape):
    assert SmoothTree().shape(horizon, "laplace") == shape


def less_variance(horizon):
    """How many times less variance a smooth tree's sums have than a completed tree's."""

    def released(tree):
        end = np.array([horizon])
        return tree.variance(end, horizon, "laplace")[0] * tree.column_norm(horizon, "laplace") ** 2

    return released(BinaryTree()) / released(SmoothTree())


def extremes(first, last):
    """Least and most of it between two horizons: it changes where a tree needs another shape."""
    changes = {2**b for b in range(1, 21)}  # the binary tree's
    changes |= {math.comb(z + k, z) for z in range(1, 31) for k in range(1, 1500 if z < 3 else 31)}
    found = [less_variance(h) for h in {first} | {h for h in changes if first <= h <= last}]
    return min(found), max(found)


def test_how_much_less_variance_the_smooth_tree_has_is_what_the_documents_say():
    words = " ".join((ROOT / "docs/privacy.md").read_text().split())
    said = re.search(
        r"It has ([\d.]+) to ([\d.]+) times less variance than the completed tree, depending on "
        r"the horizon, from a thousand to a million activations; less is gained on shorter runs "
        r"\(([\d.]+) times or more from ten on\)",
        words,
    )
    least, most, short = map(float, said.groups())
    assert extremes(10**3, 10**6) == pytest.approx((least, most), abs=0.05)
    assert short <= extremes(10, 10**3)[0] < short + 0.1


def test_the_smooth_tree_is_compared_at_all_horizons():
    every = [less_variance(horizon) for horizon in range(1000, 5000)]
    assert extremes(1000, 4999) == (min(every), max(every))


@pytest.mark.parametrize(
    ("horizon", "squared_norm", "error"),
    [
        (10**3, 3.2564555994789153, 10.69),
        (10**4, 3.990263197746084, 16.02),
        (10**5, 4.723234240447763, 22.43),
        (10**6, 5.434538632902864, 30.10),
    ],
)
def test_sensitivity_and_largest_error_of_blt(horizon, squared_norm, error):
    column, rows = coefficients(DESIGNS[horizon], horizon)
    assert (column**2).sum() == pytest.approx(squared_norm, rel=1e-6)
    assert (column**2).sum() * (rows**2).sum() == pytest.approx(error, abs=0.005)


@pytest.mark.parametrize("horizon", list(DESIGNS))
def test_a_blt_column_has_a_finite_norm_however_long(horizon):
    """Coefficients decay: the squared norm at infinity is close to that of ten designs."""
    short = (coefficients(DESIGNS[horizon], horizon)[0] ** 2).sum()
    long = (coefficients(DESIGNS[horizon], min(10 * horizon, 3_000_000))[0] ** 2).sum()
    assert short <= long <= 1.06 * short


def test_blt_is_near_the_square_root_factorisation_and_above_the_lower_bound():
    """Least error known for Toeplitz factors, and (1/pi) ln n for any factor, at n = 1000."""
    n = 1000
    root = np.cumprod(np.concatenate(([1.0], (2 * np.arange(1, n) - 1) / (2 * np.arange(1, n)))))
    best = (root**2).sum() ** 2
    assert best == pytest.approx(10.66, abs=0.005)
    blt = BLT().column_norm(n, "gaussian") ** 2 * BLT().variance(np.array([n]), n, "gaussian")[0]
    assert 7.2 < best < blt < 1.01 * best


@pytest.mark.parametrize("horizon", [1000, 2**20 - 1])
def test_an_unknown_horizon_costs_a_fifth_to_a_third(horizon):
    end = np.array([horizon])
    known = BinaryTree().variance(end, horizon, "laplace") * horizon.bit_length() ** 2
    unknown = Doubling().variance(end - 1, horizon, "laplace")
    assert 1.1 < unknown[0] / known[0] < 1.3


def test_agents_with_different_horizons_and_widths_do_not_meet():
    widths, horizons = np.array([2, 1, 3]), np.array([5, 100, 17])
    rng = np.random.default_rng(1)
    for aggregator, law in CASES:
        state = aggregator.make_state(Blocks(widths, horizons), law)
        sums = [np.zeros(width) for width in widths]
        for agent in [0, 2, 1, 1, 0, 2, 2, 1, 0]:
            leaf = rng.standard_normal(widths[agent])
            value = np.empty_like(leaf)
            _encode(state, agent, leaf, value)
            _decode(state, agent, value, value)
            sums[agent] += leaf
            start = state.start[agent]
            found = state.published[start : start + widths[agent]]
            np.testing.assert_allclose(found, sums[agent], atol=1e-12)


def test_horizons_that_an_aggregator_cannot_serve_are_refused():
    with pytest.raises(ValueError, match="horizon must be given"):
        BinaryTree().check("laplace", None)
    with pytest.raises(ValueError, match="horizon must be at most"):
        SmoothTree().check("laplace", 2**41)
    with pytest.raises(ValueError, match="delta or rho must be given for BLT"):
        BLT().check("laplace", 10)
    with pytest.raises(ValueError, match="horizon must be at most 10000000 for BLT"):
        BLT().check("gaussian", 10**8)
    assert Doubling().check("laplace", None) > 10**9
