"""Classification: log loss of "the target is above its median over the whole file".

Rows, features, time stamps, delays and favours as for the errors above; Vowpal Wabbit and River
have the logistic loss, gradient steps too.
"""

from benchmarks.learn.contest import (
    RIVER,
    SPREAD,
    STEPS,
    VOWPAL,
    against,
    our_scores,
    rival_scores,
)
from benchmarks.learn.problem import STREAMS, problems
from benchmarks.result import Result

RIVALS = {**VOWPAL, **RIVER, **STEPS, **SPREAD}
LIMITS = dict.fromkeys(VOWPAL, 1.0)


def run(quick: bool) -> list[Result]:
    """Each stream against each rival."""
    return [row for name in STREAMS for row in _stream(name, quick)]


def _stream(name: str, quick: bool) -> list[Result]:
    played = [problem.as_classes() for problem in problems(name, quick)]
    mine, what = our_scores(played), f"{name}, log loss"
    shown = [Result(f"{what}: {who}", str(score), score.mean, "") for who, score in mine.items()]
    return [*shown, *against(what, mine, rival_scores(played, RIVALS), LIMITS)]
