"""Vowpal Wabbit: one linear model with features for all agents and a copy for each agent.

It is called from Python, one row at a time: a row is predicted at its time and learned from when
its target arrives. The copies are a namespace of the agent's name.
"""

import numpy as np
from vowpalwabbit import Workspace

from benchmarks.learn.problem import AS_THEY_ARE, Problem, Scale
from mtcool.types import Floats

SQUARED, LOGISTIC = "--quiet", "--quiet --loss_function logistic --link logistic"


def predict(problem: Problem, options: str = "") -> Floats:
    """Progressive predictions with the default learner, or with `--coin` as `options`."""
    rows = texts(problem)
    return problem.best_of_scales(
        lambda scale: play(problem, rows, labels(problem, scale), options)
    )


def texts(problem: Problem) -> list[str]:
    """Each row in the text format, without its label."""
    found = []
    for agent, row in zip(problem.agent.tolist(), problem.features.tolist(), strict=True):
        x = " ".join(f"{k}:{value:.9g}" for k, value in enumerate(row) if value != 0.0)
        found.append(f"|s {x} |agent{agent} one {x}")
    return found


def labels(problem: Problem, scale: Scale = AS_THEY_ARE) -> list[str]:
    """What stands in front of each row when it is learned from."""
    target = 2.0 * problem.target - 1.0 if problem.classes else scale.apply(problem.target)
    return [f"{y:.9g} " for y in target.tolist()]


def play(problem: Problem, rows: list[str], known: list[str], options: str) -> Floats:
    """Predictions on the scale of the labels."""
    learner = Workspace(f"{LOGISTIC if problem.classes else SQUARED} {options}")
    prediction = np.empty(len(rows))
    for event in problem.events.tolist():
        if event >= 0:
            prediction[event] = learner.predict(rows[event])
        else:
            learner.learn(known[~event] + rows[~event])
    learner.finish()
    return prediction
