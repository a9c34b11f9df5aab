"""mtcool's own learner on a problem, with one configuration for everything."""

from typing import Literal, TypeAlias

import numpy as np

from benchmarks.learn.problem import Problem
from mtcool import learn

Share: TypeAlias = Literal["rows", "gradients"]
SHARES: tuple[Share, ...] = ("rows", "gradients")


def play(problem: Problem, share: Share) -> learn.Played:
    """Progressive predictions, and those of the same learner alone."""
    model = learn.Model(problem.graph, task=_task(problem), share=share)
    agents = np.asarray(model.index(problem.graph.labels))[problem.agent]
    return model.play(agents, problem.features, problem.target, problem.events)


def play_pooled(problem: Problem) -> learn.Played:
    """The same learner, to whom all rows are those of one agent."""
    model = learn.Model(None, task=_task(problem))
    agents = np.repeat(model.index(["all"]), len(problem.agent))
    return model.play(agents, problem.features, problem.target, problem.events)


def _task(problem: Problem) -> Literal["regression", "classification"]:
    return "classification" if problem.classes else "regression"
