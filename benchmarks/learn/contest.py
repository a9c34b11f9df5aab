"""mtcool and its rivals on one stream in all its orders."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from benchmarks.learn import ours
from benchmarks.learn.problem import Problem
from benchmarks.learn.rivals import gradients, ridge, river_models, vowpal
from benchmarks.learn.score import Score, say
from benchmarks.result import Result, Target, at_most
from mtcool import learn
from mtcool.types import Floats

Rival: TypeAlias = Callable[[Problem], Floats]

VOWPAL: dict[str, Rival] = {
    "Vowpal Wabbit": vowpal.predict,
    "Vowpal Wabbit --coin": partial(vowpal.predict, options="--coin"),
}
RIVER: dict[str, Rival] = {
    "River per agent": river_models.predict,
    "River pooled": partial(river_models.predict, pooled=True),
}
RIDGE: dict[str, Rival] = {"online ridge alone": ridge.predict}
STEPS: dict[str, Rival] = {
    "independent gradient steps": partial(gradients.predict, kind="independent"),
    "pooled gradient steps": partial(gradients.predict, kind="pooled"),
}
SPREAD: dict[str, Rival] = {
    "gradient steps spread on the graph": partial(gradients.predict, kind="spread"),
}


def our_scores(problems: Sequence[Problem]) -> dict[str, Score]:
    """Both modes of sharing, and alone."""
    played = {}
    for share in ours.SHARES:
        say(f"{problems[0].name}: mtcool ({share})")
        played[share] = [_checked(problem, ours.play(problem, share)) for problem in problems]
    found = {
        f"mtcool ({share})": _score(problems, [run.prediction for run in runs])
        for share, runs in played.items()
    }
    return {**found, "alone": _score(problems, [run.alone for run in played["rows"]])}


def rival_scores(problems: Sequence[Problem], rivals: Mapping[str, Rival]) -> dict[str, Score]:
    """Each rival on the same rows."""
    found = {}
    for name, predict in rivals.items():
        say(f"{problems[0].name}: {name}")
        found[name] = _score(problems, [predict(problem) for problem in problems])
    return found


def against(
    what: str,
    mine: Mapping[str, Score],
    rivals: Mapping[str, Score],
    limits: Mapping[str, float],
) -> list[Result]:
    """Our loss with rows shared over each rival's; below its limit, where it has one."""
    rows, only_gradients = mine["mtcool (rows)"], mine["mtcool (gradients)"]
    return [
        Result(
            f"{what}: mtcool (rows) over {name}",
            f"{rival}; gradients only: {only_gradients.over(rival).mean:.4f} times",
            rows.over(rival).mean,
            target=_limit(limits.get(name)),
        )
        for name, rival in rivals.items()
    ]


def _checked(problem: Problem, played: learn.Played) -> learn.Played:
    """The same; a learner that calls other rows cold than are left out here is refused."""
    differ = np.flatnonzero(played.cold != ~problem.counted)
    if differ.size:
        raise ValueError(
            f"cold rows of {problem.name} must be those without a target in the neighbourhood, "
            f"got {differ.size} others, the first is {differ[0]}"
        )
    return played


def _score(problems: Sequence[Problem], predictions: Sequence[Floats]) -> Score:
    pairs = zip(problems, predictions, strict=True)
    return Score(tuple(problem.loss(prediction) for problem, prediction in pairs))


def _limit(bound: float | None) -> Target | None:
    return None if bound is None else at_most(bound)
