"""Online ridge: recursive least squares for each agent alone.

It minimises the squared errors so far plus the squared norm of the weights, on features and targets
that are z-scored in hindsight: a ridge of one is small there.
"""

from typing import Any

import numpy as np

from benchmarks.learn.problem import Problem
from mtcool.kernels import kernel
from mtcool.types import Floats

RIDGE = 1.0


def predict(problem: Problem) -> Floats:
    """Progressive predictions of regression."""
    x, y = problem.scaled_features, problem.scale.apply(problem.target)
    agents, dim = problem.graph.size, x.shape[1]
    weights = np.zeros((agents, dim))
    inverse = np.tile(np.eye(dim) / RIDGE, (agents, 1, 1))
    prediction = np.empty(y.size)
    _play(problem.events, problem.agent, x, y, weights, inverse, np.empty(dim), prediction)
    return problem.scale.undo(prediction)


@kernel
def _play(
    events: Any, agent: Any, x: Any, y: Any, weights: Any, inverse: Any, gain: Any, prediction: Any
) -> None:
    dim = x.shape[1]
    for event in events:
        row = event if event >= 0 else ~event
        i = agent[row]
        p = 0.0
        for k in range(dim):
            p += weights[i, k] * x[row, k]
        if event >= 0:
            prediction[row] = p
            continue
        # The inverse of the matrix of second moments takes the row by Sherman and Morrison.
        size = 1.0
        for k in range(dim):
            gain[k] = 0.0
            for m in range(dim):
                gain[k] += inverse[i, k, m] * x[row, m]
            size += gain[k] * x[row, k]
        for k in range(dim):
            weights[i, k] += gain[k] * (y[row] - p) / size
            for m in range(dim):
                inverse[i, k, m] -= gain[k] * gain[m] / size
