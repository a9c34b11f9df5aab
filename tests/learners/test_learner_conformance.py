"""Every learner of the package passes the checks that `mtcool.testing` has for learners.

A new learner is a line in LEARNERS.
"""

import ast
import inspect
import textwrap
from typing import NamedTuple

import numpy as np
import pytest

from mtcool import learners
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT, Learner, predict_row, update_row
from mtcool.learners.adaptive.adaptive import Adaptive
from mtcool.learners.squared_weights import SquaredWeights
from mtcool.learners.two_phase import TwoPhase
from mtcool.testing import learner_checks
from mtcool.testing.learners.trial import DIM, ROWS, START, WEIGHT, LearnerTrial, Step, make_cliques

TAU = 12


class Case(NamedTuple):
    learner: Learner
    in_ball: bool = True
    first_phase: int = 0

    @property
    def trial(self):
        return LearnerTrial(self.learner, self.first_phase, compiled=True)

    @property
    def checks(self):
        found = learner_checks(self.learner, in_ball=self.in_ball, first_phase=self.first_phase)
        # One measures gradients before weights, the other weights without gradients.
        measures = isinstance(self.learner, Adaptive | SquaredWeights)
        other = "the_weight_multiplies_the_gradient" if measures else ""
        return [check for check in found if check.name != other]


LEARNERS = {
    "FTRL": Case(FTRL()),
    "KT": Case(KT(), in_ball=False),
    "MTFTRL": Case(MTFTRL()),
    "MTFTRL, geometric": Case(MTFTRL(experts="geometric")),
    "MTFTRL, given": Case(MTFTRL(experts=(0.0, 0.1, 0.4), free_last=True)),
    "MTFTRLKT": Case(MTFTRLKT(), in_ball=False),
    "Adaptive FTRL": Case(Adaptive(FTRL())),
    "Adaptive KT": Case(Adaptive(KT()), in_ball=False),
    "Adaptive MTFTRL": Case(Adaptive(MTFTRL(experts="geometric"))),
    "Adaptive MTFTRLKT": Case(Adaptive(MTFTRLKT()), in_ball=False),
    "SquaredWeights of KT": Case(SquaredWeights(KT()), in_ball=False),
    "SquaredWeights of MTFTRL": Case(SquaredWeights(MTFTRL(experts="geometric"))),
    "TwoPhase of FTRL": Case(FTRL(), first_phase=TAU),
    "TwoPhase of MTFTRLKT": Case(MTFTRLKT(), in_ball=False, first_phase=TAU),
}
CHECKS = {f"{name}: {c.name}": c for name, case in LEARNERS.items() for c in case.checks}


@pytest.mark.parametrize("name", CHECKS)
def test_a_learner_passes_every_check(name):
    CHECKS[name].run()


def test_every_exported_learner_is_in_the_table():
    exported = [getattr(learners, name) for name in learners.__all__]
    classes = {cls for cls in exported if isinstance(cls, type) and hasattr(cls, "make_state")}
    shown = {type(case.learner) for case in LEARNERS.values()}
    made_by_networks = {Adaptive, SquaredWeights}
    assert classes - {Learner} == shown - made_by_networks


@pytest.mark.parametrize("name", LEARNERS)
def test_every_field_of_the_state_is_documented(name):
    source = textwrap.dedent(inspect.getsource(type(LEARNERS[name].trial.make_state())))
    body = ast.parse(source).body[0].body
    assert ast.get_docstring(ast.parse(source).body[0])
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign):
            documented = isinstance(following, ast.Expr)
            assert documented, f"{statement.target.id} has no docstring"


@pytest.mark.parametrize("name", LEARNERS)
def test_models_point_exactly_against_the_gradients(name):
    """No coordinate is special to our learners."""
    trial, gradient = LEARNERS[name].trial, np.array([0.6, 0.8])
    state = trial.make_state()
    for row in (int(START[2]), ROWS - 1):
        for _ in range(3 * TAU):
            trial.update(state, Step(row, gradient), WEIGHT[row])
        model = trial.predictions(state)[row]
        np.testing.assert_allclose(model / np.linalg.norm(model), -gradient, atol=1e-9)


def test_the_two_phase_strategy_shows_its_parameters():
    assert repr(TwoPhase(FTRL(), WEIGHT, TAU)).startswith("TwoPhase(learner=FTRL()")
    assert TwoPhase.__dataclass_params__.frozen


def test_a_foreign_state_is_refused_by_name():
    with pytest.raises(TypeError, match="Cliques is not the state of a learner"):
        predict_row(make_cliques(), 0, 0, np.zeros(DIM))
    with pytest.raises(TypeError, match="Cliques is not the state of a learner"):
        update_row(make_cliques(), 0, 0, 1.0, np.zeros(DIM))
