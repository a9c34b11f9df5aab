"""Every aggregator passes the checks of `mtcool.testing`, and has the constants of its paper."""

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest

from mtcool.privacy import AGGREGATORS, BLT, BinaryTree, Doubling, NoNoise, PerGradient, SmoothTree
from mtcool.privacy.aggregators.blt import DESIGNS, filter_columns
from mtcool.testing import aggregator_checks
from mtcool.testing.aggregators.trial import HORIZONS, Machine, column_norms, matrices

ROOT = Path(__file__).parents[2]
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
CHECKS = {
    f"{aggregator}: {check.name}": check
    for aggregator in dict.fromkeys(aggregator for aggregator, _ in CASES)
    for check in aggregator_checks(aggregator)
}
every_aggregator = pytest.mark.parametrize(("aggregator", "law"), CASES, ids=ids)


def test_every_aggregator_of_the_package_is_checked_with_every_law():
    known = {(kind, law) for kind in AGGREGATORS.values() for law in kind.laws}
    assert {(type(aggregator), law) for aggregator, law in CASES} == known


@pytest.mark.parametrize("name", CHECKS)
def test_an_aggregator_passes_every_check(name):
    CHECKS[name].run()


@every_aggregator
@pytest.mark.parametrize("horizon", HORIZONS)
def test_the_column_norm_is_attained(aggregator, law, horizon):
    if isinstance(aggregator, SmoothTree) and not _all_words_used(aggregator, law, horizon):
        return
    norms = column_norms(matrices(aggregator, law, horizon).scaled, law)
    assert norms.max() == pytest.approx(aggregator.column_norm(horizon, law), rel=1e-12)


def _all_words_used(aggregator, law, horizon):
    z, k = aggregator.shape(horizon, law)
    return math.comb(z + k, z) == horizon + 1


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
    column, rows = filter_columns(DESIGNS[horizon], horizon)
    assert (column**2).sum() == pytest.approx(squared_norm, rel=1e-6)
    assert (column**2).sum() * (rows**2).sum() == pytest.approx(error, abs=0.005)


@pytest.mark.parametrize("horizon", list(DESIGNS))
def test_a_blt_column_has_a_finite_norm_however_long(horizon):
    """Coefficients decay: the squared norm at infinity is close to that of ten designs."""
    short = (filter_columns(DESIGNS[horizon], horizon)[0] ** 2).sum()
    long = (filter_columns(DESIGNS[horizon], min(10 * horizon, 3_000_000))[0] ** 2).sum()
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
