"""Every loss passes the same tests: a new one adds a row to the table."""

import math
import pickle
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mtcool.kernels import kernel
from mtcool.streams import (
    KINDS,
    Linear,
    Loss,
    Losses,
    absolute,
    check_loss,
    dim,
    hinge,
    kind_of,
    linear,
    lipschitz,
    logistic,
    name_of,
    quadratic,
    rounds,
    squared,
    subgradient,
    value,
    width,
)
from mtcool.streams.by_number import Numbered, by_number


class Row(NamedTuple):
    # from a (rounds, dim) matrix and a (rounds,) vector, which may be ignored
    make: Callable[[np.ndarray, np.ndarray], Losses]
    smooth: bool


LOSSES = {
    "linear": Row(lambda a, y: linear(a), smooth=True),
    "quadratic": Row(lambda a, y: quadratic(a), smooth=True),
    "squared": Row(squared, smooth=True),
    "absolute": Row(absolute, smooth=False),
    "logistic": Row(lambda a, y: logistic(a, np.where(y < 0, -1, 1)), smooth=True),
    "hinge": Row(lambda a, y: hinge(a, np.where(y < 0, -1, 1)), smooth=False),
}

every_loss = pytest.mark.parametrize("row", LOSSES.values(), ids=LOSSES)
entries = st.floats(-8, 8).map(lambda number: round(number, 6))


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 4)))
    vectors = arrays(np.float64, shape[1], elements=entries)
    return (
        draw(arrays(np.float64, shape, elements=entries)),
        draw(arrays(np.float64, shape[0], elements=entries)),
        draw(vectors),
        draw(vectors),
    )


@kernel
def pay_all(losses: Losses, x: np.ndarray, paid: np.ndarray, gradients: np.ndarray) -> None:
    for t in range(paid.shape[0]):
        paid[t] = value(losses.kind, losses.rows[t], x)
        subgradient(losses.kind, losses.rows[t], x, gradients[t])


def loss_at(losses: Losses, t: int) -> Loss:
    return Loss(losses.kind, losses.rows[t])


def test_table_covers_every_registered_loss() -> None:
    ones = np.ones((1, 1)), np.ones(1)
    covered = {type(row.make(*ones).kind) for row in LOSSES.values()}
    assert set(KINDS.values()) == covered
    for function in (value, subgradient, lipschitz, width):
        ours = {cls for cls in function.registry if cls.__module__.startswith("mtcool")}
        assert ours - {Numbered} == covered  # which stands for all of them


@every_loss
@settings(deadline=None, max_examples=60)  # the first example compiles
@given(case=cases())
def test_subgradient_supports_the_loss_from_below(row: Row, case: tuple) -> None:
    a, y, here, there = case
    losses = row.make(a, y)
    for t in range(rounds(losses)):
        loss = loss_at(losses, t)
        paid, gradient = loss(here)
        bound = paid + gradient @ (there - here)
        assert loss.value(there) >= bound - 1e-12 * (1 + abs(bound) + abs(paid))


@every_loss
@settings(deadline=None, max_examples=60)  # the first example compiles
@given(case=cases())
def test_lipschitz_constant_is_never_violated(row: Row, case: tuple) -> None:
    a, y, here, there = case
    losses = row.make(a, y)
    constant = lipschitz(*losses, max(np.linalg.norm(here), np.linalg.norm(there)))
    for t in range(rounds(losses)):
        loss = loss_at(losses, t)
        paid, gradient = loss(here)
        slack = 1e-12 * (1 + abs(paid) + constant)
        assert np.linalg.norm(gradient) <= constant + slack
        distance = np.linalg.norm(here - there)
        assert abs(loss.value(there) - paid) <= constant * distance + slack


@every_loss
def test_the_check_of_losses_from_outside_finds_nothing(row: Row) -> None:
    rng = np.random.default_rng(0)
    a, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    for scale in (1e-6, 1.0, 1e6):
        for radius in (1e-6, 1.0, 1e6):
            check_loss(row.make(scale * a, y), radius)


def test_lipschitz_constants_are_reached() -> None:
    a, y = np.array([[3.0, 4.0]]), np.array([2.0])
    unit = np.array([0.6, 0.8])
    for losses, worst in (
        (linear(a), unit),
        (quadratic(a), -unit),
        (squared(a, -y), unit),
        (absolute(a, y), unit),
        (hinge(a, y - 1), -unit),
    ):
        reached = np.linalg.norm(loss_at(losses, 0).subgradient(worst))
        assert lipschitz(*losses, 1.0) == pytest.approx(reached, rel=1e-14)


@pytest.mark.parametrize("name", [name for name, row in LOSSES.items() if row.smooth])
@settings(deadline=None, max_examples=60)  # the first example compiles
@given(case=cases())
def test_subgradient_of_a_smooth_loss_is_its_derivative(name: str, case: tuple) -> None:
    a, y, here, _ = case
    losses = LOSSES[name].make(a, y)
    step = 1e-4
    for t in range(rounds(losses)):
        loss = loss_at(losses, t)
        paid, gradient = loss(here)
        # The error is step^2 times a third derivative of at most |a|^3, and rounding over step.
        tolerance = 1e-8 * (1 + np.abs(a).max()) ** 3 + 1e-15 * (1 + abs(paid)) / step
        for k, direction in enumerate(np.eye(here.size) * step):
            slope = (loss.value(here + direction) - loss.value(here - direction)) / (2 * step)
            assert gradient[k] == pytest.approx(slope, rel=1e-8, abs=100 * tolerance)


@every_loss
def test_compiled_and_uncompiled_agree(row: Row) -> None:
    rng = np.random.default_rng(5)
    losses = row.make(rng.standard_normal((200, 3)), rng.standard_normal(200))
    x = rng.standard_normal(3)
    gradient = np.empty(3)
    for t in range(rounds(losses)):
        paid, compiled = loss_at(losses, t)(x)
        value_in_python = value(losses.kind, losses.rows[t], x)
        subgradient(losses.kind, losses.rows[t], x, gradient)
        assert paid == pytest.approx(value_in_python, rel=1e-15, abs=1e-15)
        np.testing.assert_allclose(compiled, gradient, rtol=1e-15, atol=1e-15)


@every_loss
@pytest.mark.parametrize("d", [1, 2, 9])
def test_loss_object_gives_the_numbers_of_a_compiled_loop_to_the_bit(row: Row, d: int) -> None:
    rng = np.random.default_rng(6)
    losses = row.make(rng.standard_normal((100, d)), rng.standard_normal(100))
    x, paid, gradients = rng.standard_normal(d), np.empty(100), np.empty((100, d))
    pay_all(losses, x, paid, gradients)
    for t in range(100):
        one, gradient = loss_at(losses, t)(x)
        assert one == paid[t]
        assert (gradient == gradients[t]).all()


@every_loss
def test_a_kind_by_its_number_pays_the_same_to_the_bit(row: Row) -> None:
    rng = np.random.default_rng(7)
    losses = row.make(rng.standard_normal((100, 2)), rng.standard_normal(100))
    numbered = by_number(losses)
    assert type(numbered.kind) is Numbered
    x, paid, gradients = rng.standard_normal(2), np.empty((2, 100)), np.empty((2, 100, 2))
    for k, each in enumerate((losses, numbered)):
        pay_all(each, x, paid[k], gradients[k])
    np.testing.assert_array_equal(paid[1], paid[0])
    np.testing.assert_array_equal(gradients[1], gradients[0])


def test_losses_have_the_values_of_their_definitions() -> None:
    a, x = np.array([[1.0, -2.0]]), np.array([3.0, 0.5])  # <a, x> = 2
    expected = [
        (linear(a), 2.0),
        (quadratic(a), (4.0 + 6.25) / 2),
        (squared(a, [0.5]), 1.125),
        (absolute(a, [5.0]), 3.0),
        (logistic(a, [-1.0]), math.log(1 + math.exp(2.0))),
        (hinge(a, [-1.0]), 3.0),
        (hinge(a, [1.0]), 0.0),
    ]
    for losses, paid in expected:
        assert loss_at(losses, 0).value(x) == pytest.approx(paid, rel=1e-15)


@pytest.mark.parametrize("compiled", [True, False])
def test_logistic_is_stable_for_large_margins(compiled: bool) -> None:
    losses = logistic([[1.0], [1.0]], [1.0, -1.0])
    for margin in (40.0, 700.0, 1e5, 1e300):
        x = np.array([margin])
        for t, paid, slope in ((0, math.exp(-margin), -math.exp(-margin)), (1, margin, 1.0)):
            gradient = np.empty(1)
            if compiled:
                got, gradient = loss_at(losses, t)(x)
            else:
                got = value(losses.kind, losses.rows[t], x)
                subgradient(losses.kind, losses.rows[t], x, gradient)
            assert got == pytest.approx(paid, rel=1e-14, abs=0)
            assert gradient[0] == pytest.approx(slope, rel=1e-14, abs=0)


def test_constructors_give_contiguous_floats_and_keep_the_numbers() -> None:
    losses = squared(np.asfortranarray([[1, 2], [3, 4], [5, 6]]), [1, 2, 3])
    assert losses.rows.flags.c_contiguous
    assert losses.rows.dtype == np.float64
    assert losses.rows.tolist() == [[1, 2, 1], [3, 4, 2], [5, 6, 3]]
    assert (rounds(losses), dim(losses)) == (3, 2)


def test_no_rounds_have_lipschitz_constant_zero() -> None:
    assert lipschitz(*linear(np.empty((0, 2))), 1.0) == 0.0


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: linear([1.0, 2.0]), "gradients"),
        (lambda: linear([[1.0, math.nan]]), "gradients.*nan"),
        (lambda: linear(np.empty((3, 0))), "gradients.*column"),
        (lambda: quadratic([["a"]]), "targets"),
        (lambda: squared([[1.0]], [1.0, 2.0]), "target"),
        (lambda: absolute([[1.0]], [math.inf]), "target.*inf"),
        (lambda: logistic([[1.0]], [0.0]), r"target.*-1 and 1.*0\.0"),
        (lambda: hinge([[1.0], [1.0]], [1.0, 2.0]), r"target.*2\.0"),
        (lambda: lipschitz(*linear([[1.0]]), -1.0), "radius.*-1"),
        (lambda: lipschitz(*squared([[1.0]], [1.0]), math.nan), "radius.*nan"),
        (lambda: lipschitz(*quadratic([[1.0]]), math.inf), "radius.*inf"),
        (lambda: lipschitz(*hinge([[1.0]], [1.0]), -2.0), "radius.*-2"),
        (lambda: Loss(Linear(), [[1.0]]), r"row must.*one round.*\(1, 1\)"),
        (lambda: Loss(Linear(), []), "rows of Linear.*0 columns"),
        (lambda: Loss(Linear(), ["a"]), "row must.*numbers"),
        (lambda: Loss((1.0,), [1.0]), "kind must.*value"),
        (lambda: Loss(Linear(), [1.0])([1.0, 2.0]), "x must.*shape"),
        (lambda: Loss(Linear(), [1.0]).value([math.nan]), "x must.*nan"),
        (lambda: kind_of("cubic"), "kind must be one of quadratic.*'cubic'"),
        (lambda: kind_of("hinge", [1.0]), r"parameters of hinge must be 0 numbers.*\[1\.0\]"),
    ],
)
def test_bad_losses_are_refused(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make()


def test_a_type_without_an_implementation_is_refused() -> None:
    for call in (
        lambda: value((), np.ones(1), np.ones(1)),
        lambda: subgradient((), np.ones(1), np.ones(1), np.ones(1)),
        lambda: lipschitz((), np.ones((1, 1)), 1.0),
        lambda: width((), 1),
    ):
        with pytest.raises(ValueError, match="kind must be of a type"):
            call()


@every_loss
def test_a_loss_is_its_kind_by_name_and_its_row(row: Row) -> None:
    """What a message of ST-FTRL carries: from it the same loss is made, to the bit."""
    rng = np.random.default_rng(7)
    losses = row.make(rng.standard_normal((1, 3)), rng.standard_normal(1))
    loss, x = loss_at(losses, 0), rng.standard_normal(3)
    name, parameters, sent = name_of(loss.kind), tuple(loss.kind), loss.row.tobytes()
    for copy in (
        Loss(kind_of(name, parameters), np.frombuffer(sent)),
        pickle.loads(pickle.dumps(loss)),
    ):
        assert type(copy.kind) is type(loss.kind)
        assert copy.dim == 3
        assert copy.value(x) == loss.value(x)
        assert (copy.subgradient(x) == loss.subgradient(x)).all()


def test_the_first_number_that_is_not_finite_is_named_with_row_feature_and_how_many():
    features = np.ones((5, 3))
    features[2, 1], features[4, 0] = np.nan, np.inf
    more = "; 2 entries are not finite"
    with pytest.raises(ValueError, match=f"got an entry nan in row 2, column 1{more}"):
        squared(features, np.ones(5))
    frame = pandas.DataFrame(features, columns=["area", "age", "price"])
    with pytest.raises(ValueError, match=rf"got an entry nan in row 2, column 1 \('age'\){more}"):
        squared(frame, np.ones(5))
    with pytest.raises(ValueError, match=r"target must be finite, got an entry nan at position 4$"):
        squared(np.ones((5, 3)), [1, 2, 3, 4, np.nan])
