"""Hostile neighbours: three in ten agents, drawn at random, attack from the first round on.

Numbers are NMSE of the honest agents over that of the same agents alone, means over five draws of
the hostile ones. Alone, nobody hears an attack.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.learn import ours
from benchmarks.learn.attack import attack
from benchmarks.learn.beside_alone import Run, over_alone
from benchmarks.learn.problem import ORDERS, STREAMS, problems
from benchmarks.learn.score import say
from benchmarks.result import Result

HOSTILE = 0.3
LIMITS = {"births": 1.05, "flights": 1.05, "schools": 1.25}


def run(quick: bool) -> list[Result]:
    """Each stream in both modes of sharing."""
    return [_attacked(name, share, quick) for name in STREAMS for share in ours.SHARES]


def _attacked(name: str, share: ours.Share, quick: bool) -> Result:
    what = f"{name}, {HOSTILE:.0%} hostile: honest agents, mtcool ({share})"
    say(what)
    return over_alone(what, _runs(name, share, quick), LIMITS[name])


def _runs(name: str, share: ours.Share, quick: bool) -> Iterator[Run]:
    found = problems(name, quick)
    for seed in range(2 if quick else ORDERS):
        problem = found[seed % len(found)]
        order = np.random.default_rng(seed).permutation(problem.graph.size)
        hostile = order < HOSTILE * problem.graph.size
        yield problem, attack(problem, hostile, share), ~hostile[problem.agent]
