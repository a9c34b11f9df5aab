"""River: a scaler and a linear model with River's own settings, for each agent or one for all."""

from typing import Any

import numpy as np
from river import linear_model, preprocessing

from benchmarks.learn.problem import Problem, Scale
from mtcool.types import Floats


def predict(problem: Problem, pooled: bool = False) -> Floats:
    """Progressive predictions; a model that diverges gives infinite ones."""
    rows = dictionaries(problem)
    return problem.best_of_scales(lambda scale: play(problem, rows, scale, pooled))


def dictionaries(problem: Problem) -> list[dict[int, float]]:
    """Each row as River takes it."""
    return [dict(enumerate(row)) for row in problem.features.tolist()]


def play(
    problem: Problem, rows: list[dict[int, float]], scale: Scale, pooled: bool = False
) -> Floats:
    """Predictions of the target on the scale."""
    # For classes a target is a bool, and a prediction the probability of True.
    target = (problem.target > 0.5) if problem.classes else scale.apply(problem.target)
    known = target.tolist()
    models = [_model(problem.classes) for _ in range(1 if pooled else problem.graph.size)]
    whose = [models[0 if pooled else agent] for agent in problem.agent.tolist()]
    prediction = np.empty(len(rows))
    for event in problem.events.tolist():
        if event < 0:
            whose[~event].learn_one(rows[~event], known[~event])
        elif problem.classes:
            prediction[event] = whose[event].predict_proba_one(rows[event])[True]
        else:
            prediction[event] = whose[event].predict_one(rows[event])
    return prediction


def _model(classes: bool) -> Any:
    kind = linear_model.LogisticRegression if classes else linear_model.LinearRegression
    return preprocessing.StandardScaler() | kind()
