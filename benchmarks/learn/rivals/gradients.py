"""Gradient steps, whose length and how it shrinks are chosen in hindsight from a grid.

Features and targets are z-scored in hindsight too. Every agent steps alone (`independent`), all are
one (`pooled`), or gradients are spread on the graph (`spread`): each goes to the whole closed
neighbourhood, and an agent predicts with the average of the neighbourhood's points plus one of its
own that takes its own gradients only. How long the own steps are is chosen in hindsight too. The
n-th step of a point is 1 / n^shrink of the first.
"""

import math
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np

from benchmarks.learn.problem import Problem
from mtcool.graphs import edgeless
from mtcool.kernels import kernel
from mtcool.types import Floats

STEPS = tuple(10.0 ** (k / 4) for k in range(-16, 1))
"""From .0001 to 1, four in each power of ten."""
SHRINKS = (0.0, 0.25, 0.5)
OWN = (0.0, 0.1, 0.3, 1.0)
"""The own step as a multiple of the neighbourhood's."""
Kind: TypeAlias = Literal["independent", "pooled", "spread"]


def predict(problem: Problem, kind: Kind) -> Floats:
    """Progressive predictions of the steps with the smallest loss."""
    own = OWN if kind == "spread" else (0.0,)
    grid = product(STEPS, SHRINKS, own)
    best = min(grid, key=lambda chosen: problem.loss(play(problem, kind, *chosen)))
    return play(problem, kind, *best)


def play(problem: Problem, kind: Kind, step: float, shrink: float, own: float) -> Floats:
    """Predictions with one choice from the grid."""
    graph = problem.graph if kind == "spread" else edgeless(problem.graph.size)
    agent = np.zeros_like(problem.agent) if kind == "pooled" else problem.agent
    x, y = problem.scaled_features, problem.scale.apply(problem.target)
    points, own_points = np.zeros((2, graph.size, x.shape[1]))
    taken, own_taken = np.zeros((2, graph.size))
    prediction = np.empty(y.size)
    arrays = (graph.ptr, graph.idx, points, own_points, taken, own_taken, prediction)
    _play_rows(problem.events, agent, x, y, step, own * step, shrink, problem.classes, *arrays)
    return problem.scale.undo(prediction)


@kernel
def _play_rows(
    events: Any,
    agent: Any,
    x: Any,
    y: Any,
    step: float,
    own_step: float,
    shrink: float,
    classes: bool,
    ptr: Any,
    idx: Any,
    points: Any,
    own_points: Any,
    taken: Any,
    own_taken: Any,
    prediction: Any,
) -> None:
    dim = x.shape[1]
    for event in events:
        row = event if event >= 0 else ~event
        i = agent[row]
        start, end = ptr[i], ptr[i + 1]
        p = 0.0
        for entry in range(start, end):
            for k in range(dim):
                p += points[idx[entry], k] * x[row, k]
        p /= end - start
        for k in range(dim):
            p += own_points[i, k] * x[row, k]
        if classes:
            p = 1.0 / (1.0 + math.exp(-p))
        if event >= 0:
            prediction[row] = p
            continue
        for entry in range(start, end):
            j = idx[entry]
            taken[j] += 1.0
            length = step * taken[j] ** -shrink
            for k in range(dim):
                points[j, k] += length * (y[row] - p) * x[row, k]
        own_taken[i] += 1.0
        length = own_step * own_taken[i] ** -shrink
        for k in range(dim):
            own_points[i, k] += length * (y[row] - p) * x[row, k]
