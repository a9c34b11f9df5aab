"""Numbers near the ends of their range: predictions and state stay finite."""

import numpy as np
import pytest
from tests.learn.test_model import state_of

import mtcool
from mtcool.learn import Model
from mtcool.learners.panel.fields import LISTENS
from mtcool.learners.panel.guard import settle_neighbour
from mtcool.learners.panel.mixing import learn_weights
from mtcool.learners.panel.solving import solve

COUNT = 600
STEPS = np.arange(COUNT)
NOISE = np.random.default_rng(3).normal(size=(COUNT, 8))
TARGETS = {
    "ordinary": NOISE[:, 0],
    "large": 1e100 * np.clip(NOISE[:, 0], -1, 1),
    "large and alternating": 1e100 * (-1.0) ** STEPS,
    "constant, then a jump": np.where(STEPS < COUNT - 5, 1.0, 1e100),
    "almost constant, then a jump": np.where(STEPS < COUNT // 2, 1 + 1e-10 * NOISE[:, 0], 1e50),
    "some outliers": np.where(STEPS % 97 == 96, 1e50 * NOISE[:, 0], NOISE[:, 0]),
    "tiny": 5e-324 * np.round(5 * NOISE[:, 0]),
    "an offset": 1e15 + NOISE[:, 0],
}
FEATURES = {
    "ordinary": NOISE[:, 1:6],
    "large": 1e300 * np.clip(NOISE[:, 1:6], -1, 1),
    "all jump": np.where(STEPS[:, None] < COUNT // 2, NOISE[:, 1:6], 1e50 + 0 * NOISE[:, 1:6]),
    "unknown": np.full((COUNT, 5), np.nan),
}


def is_finite(model):
    panel = model._panel
    arrays = [panel.link, panel.vector, panel.scatter, panel.mixer, panel.alone]
    arrays.append(panel.number[panel.number[:, 0] > 0])
    return all(np.isfinite(array).all() for array in arrays)


@pytest.mark.parametrize("share", ["gradients", "rows"])
@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("features", FEATURES)
def test_regression_stays_finite(targets, features, share):
    model = Model(mtcool.graphs.ring(3), share=share)
    order = np.stack([STEPS, ~STEPS], axis=1).ravel()
    played = model.play(STEPS * 7 % 3, FEATURES[features], TARGETS[targets], order)
    assert np.isfinite(played.prediction).all()
    assert np.isfinite(played.alone).all()
    assert is_finite(model)


@pytest.mark.parametrize("share", ["gradients", "rows"])
def test_units_do_not_matter_within_the_limits_that_are_documented(share):
    order, who, x = np.stack([STEPS, ~STEPS], axis=1).ravel(), STEPS % 3, NOISE[:, 1:4]
    y = x @ [1.0, -2.0, 0.5] + 0.1 * NOISE[:, 0]

    def error(of_features, of_target):
        model = Model(mtcool.graphs.ring(3), share=share)
        played = model.play(who, of_features * x, of_target * y, order)
        return np.mean((played.prediction[100:] / of_target - y[100:]) ** 2)

    usual = error(1.0, 1.0)
    assert usual < 0.02 * np.var(y)
    for of_features in (1e-10, 1e50):
        for of_target in (1e-5, 1e25):
            assert error(of_features, of_target) == pytest.approx(usual, rel=1e-9)
    assert error(1.0, 1e-11) == pytest.approx(usual, rel=0.1)


@pytest.mark.parametrize("targets", [0 * STEPS, 0 * STEPS + 1, STEPS % 2, STEPS >= COUNT // 2])
@pytest.mark.parametrize("features", FEATURES)
def test_classification_stays_finite(targets, features):
    model = Model("complete", task="classification", share="rows")
    who = model.index((STEPS * 7 % 3).tolist())
    order = np.stack([STEPS, ~STEPS], axis=1).ravel()
    played = model.play(who, FEATURES[features], targets.astype(float), order)
    assert (np.abs(played.prediction - 0.5) < 0.5).all()
    assert is_finite(model)


def test_targets_whose_squares_overflow_are_refused():
    model = Model(None)
    model.learn_one("rome", {"sun": 1.0}, 1.0)
    before = state_of(model)
    with pytest.raises(ValueError, match=r"y must be at most 1e\+100 in size, got -1e\+101"):
        model.learn_one("milan", {"wind": 2.0}, -1e101)
    assert all(np.array_equal(a, b) for a, b in zip(before, state_of(model), strict=True))
    assert model.agents == ("rome",)
    assert model.encoder.names == ("sun",)


def test_losses_whose_squares_overflow_count_as_the_largest():
    state = np.zeros((3, 2))
    learn_weights(state, np.array([1e90, -1e90]), 0.0, 1e120, 2, 0.0)
    assert np.isfinite(state).all()


def test_features_that_consist_of_rounding_errors_get_no_slope():
    matrix = np.full((9, 9), 1e100) * (1 + 1e-16 * NOISE[:9, :1]) + np.eye(9)
    right = np.full(9, 1e100)
    solve(matrix, right)
    np.testing.assert_allclose(right[1:].sum(), 1.0)


def test_an_account_that_overflows_is_closed_and_finite():
    panel = Model(mtcool.graphs.ring(3))._panel
    settle_neighbour(panel, 1, 1.0, 1e200, 1e200, 0.0)
    assert panel.link[1, LISTENS] == 0.0
    assert np.isfinite(panel.link).all()


def play_alone(target):
    """Absolute errors of one agent that learns three slopes."""
    features = np.random.default_rng(0).normal(size=(len(target), 3))
    model, rows = Model("none"), np.arange(len(target))
    who = model.index(["agent"] * len(target))
    y = target + features @ [1.0, 2.0, 3.0]
    played = model.play(who, features, y, np.stack([rows, ~rows], axis=1).ravel())
    return np.abs(played.prediction - y)


@pytest.mark.parametrize("wrong", [-9999.0, 99_999.0, 1e6, 1e12])
def test_one_wrong_entry_is_forgotten(wrong):
    target = 0.1 * np.random.default_rng(1).normal(size=600)
    target[100] = wrong
    error = play_alone(target)
    assert np.median(error[150:]) < 0.4  # it was 94 and more while targets were believed at once
    assert error[250:].max() < 1.0


@pytest.mark.parametrize("jump", [10.0, 100.0, 1000.0])
def test_a_jump_that_stays_is_followed(jump):
    target = 0.1 * np.random.default_rng(1).normal(size=700)
    target[300:] += jump
    error = play_alone(target)
    assert np.median(error[350:400]) < 0.4 * jump
    assert np.median(error[600:]) < 0.2 * jump


def test_a_jump_after_many_equal_targets_is_followed_at_once():
    count, more = 9000, 90  # thirty rows for each agent
    target = np.where(np.arange(count + more) < count, 1.0, 2.0)
    features = np.random.default_rng(1).normal(size=(count + more, 2))
    who, rows = np.arange(count + more) % 3, np.arange(count + more)
    played = Model(mtcool.graphs.ring(3)).play(
        who, features, target, np.stack([rows, ~rows], axis=1).ravel()
    )
    np.testing.assert_allclose(played.prediction[-30:], 2.0, atol=0.3)
