"""Claims about the models themselves: where they begin, where they go, how far they may go."""

import numpy as np

from mtcool.learners import Cliques
from mtcool.testing.checks import require, require_equal
from mtcool.testing.learners.trial import DIM, ROWS, START, WEIGHT, LearnerTrial, Step, updates


def a_fresh_state_predicts_zero(trial: LearnerTrial) -> None:
    """All models are zero before the first update."""
    found = trial.predictions(trial.make_state())
    require_equal(found, np.zeros((ROWS, DIM)), "a fresh state predicts something else")


def a_used_state_predicts_something_finite(trial: LearnerTrial) -> None:
    """Models stay finite, and the rows of a clique that received updates leave zero."""
    state = trial.make_state()
    trial.learn(state, updates())
    used = trial.predictions(state)
    require(np.isfinite(used).all(), f"the models are {used}")
    moved = used[START[-2] :].any(axis=1)
    require(moved.all(), f"after 120 updates the models are {used}")


def models_follow_the_gradients(trial: LearnerTrial) -> None:
    """After the same gradient again and again the model of its row points against it."""
    state, gradient = trial.make_state(), np.array([0.6, 0.8])
    for row in (int(START[2]), ROWS - 1):
        for _ in range(3 * max(trial.first_phase, 12)):
            trial.update(state, Step(row, gradient), WEIGHT[row])
        model = trial.predictions(state)[row]
        require(model @ gradient < 0.0, f"after gradients {gradient} the model is {model}")


def models_have_every_coordinate(trial: LearnerTrial) -> None:
    """In one dimension and in three, all coordinates of `out` are written, and the last one moves.

    Played in plain Python, which refuses coordinates that are not there.
    """
    plain, row = trial._replace(compiled=False), int(START[2])
    for dim in (1, 3):
        state, out = plain.make_state(dim=dim), np.full(dim, np.nan)
        gradient = np.zeros(dim)
        gradient[-1] = 1.0
        for _ in range(2 * max(trial.first_phase, 12)):
            plain.update(state, Step(row, gradient), WEIGHT[row])
        plain.predict_at(state, 2, row, out)
        moved = np.isfinite(out).all() and out[-1] < 0.0
        require(moved, f"in dimension {dim}, after gradients {gradient} the model is {out}")


def a_zero_gradient_does_no_harm(trial: LearnerTrial) -> None:
    """Models stay finite if a gradient is zero, be it the first one or a later one."""
    state, zero = trial.make_state(), np.zeros(DIM)
    for steps in (0, 120):
        trial.learn(state, updates(count=steps))
        for row in range(ROWS):
            trial.update(state, Step(row, zero))
        found = trial.predictions(state)
        require(np.isfinite(found).all(), f"after gradients of zero the models are {found}")


def cliques_may_be_empty(trial: LearnerTrial) -> None:
    """A clique without rows, which nobody listens to, does no harm."""
    start, bound = np.array([0, 0, 1, 1]), np.array([0.0, 0.5, 0.0])
    start.setflags(write=False)
    cliques = Cliques(start, bound.copy(), bound)
    weight = WEIGHT[:1].copy()
    state = trial.make_state(cliques, weight)
    out = np.full(DIM, np.nan)
    for _ in range(2 * max(trial.first_phase, 12)):
        trial.update_at(state, 1, 0, np.array([0.5, 0.0]))
        trial.predict_at(state, 1, 0, out)
    require(out[0] < 0.0 == out[1], f"after gradients (0.5, 0) the model is {out}")


def models_stay_in_the_ball(trial: LearnerTrial) -> None:
    """No model is longer than 1. (Pass in_ball=False for a learner whose models may be.)"""
    for lean in (0.0, 0.3, 5.0):
        state = trial.make_state()
        for step in updates(count=400, lean=lean):
            trial.update(state, step)
            longest = np.linalg.norm(trial.predictions(state), axis=1).max()
            require(longest <= 1.0 + 1e-12, f"a model has norm {longest}")


def models_reach_the_ball(trial: LearnerTrial) -> None:
    """Gradients that all point one way move a model to the boundary of the ball."""
    state = trial.make_state()
    trial.learn(state, updates(count=400, lean=5.0))
    norms = np.linalg.norm(trial.predictions(state), axis=1)
    require(norms.max() > 0.99, f"after 400 updates the models have norms {norms}")


CLAIMS = (
    a_fresh_state_predicts_zero,
    a_used_state_predicts_something_finite,
    models_follow_the_gradients,
    models_have_every_coordinate,
    a_zero_gradient_does_no_harm,
    cliques_may_be_empty,
)
IN_BALL = (models_stay_in_the_ball, models_reach_the_ball)
