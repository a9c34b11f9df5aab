"""Networks that change, whose messages are few, coded or late; proofs in `docs/bounds.md`.

The bounds are about what the cliques received (`received.py`), whatever the reasons.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.theory.betting import SHORT, gain
from mtcool.theory.bound import IN_EXPECTATION, Bound
from mtcool.theory.lineage import Experts, lineage, paper_experts
from mtcool.theory.received import Received
from mtcool.theory.setting import in_units, trivial, unit
from mtcool.theory.upper import IN_THE_BALL
from mtcool.types import Floats

HEDGE = "MT-CO2OL with MTFTRL and adaptive rates, weights of any kind"
BETS = "MT-CO2OL with MTFTRLKT and adaptive rates, weights of any kind"
COVERED = "variances that the experts admit from start to end; a free last expert admits all"
CHANCE = "tasks that do not depend on chance"


class _Experts(NamedTuple):
    """`Expert`, an entry for each clique."""

    p: Floats
    steps: Floats
    growth: Floats
    restarts: Floats
    focus: Floats
    widest: Floats
    variance: Floats


class _Tasks(NamedTuple):
    """The tasks of the members of each clique."""

    rows: Floats
    """N."""
    deviation: Floats
    """Sum of the squared distances from their mean, sigma^2 (N - 1)."""
    centre: Floats
    """|mean|^2."""


def changing(
    received: Received,
    tasks: ArrayLike,
    *,
    experts: Experts = paper_experts,
    free_last: bool = False,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """MT-CO2OL with MTFTRL on a network that changes, from what its cliques received.

    `adaptive` for each clique, with its slots M in place of N, plus what doublings cost, plus what
    was late, lost and coded. With D the longest lag and A - W = 2 sum of weight times lag, late
    gradients cost of order sqrt(M) (sqrt(A - W) + D ln T): the root of the total lag.

    Parameters
    ----------
    received
        What the cliques received.
    tasks
        A row for each agent that ever was, in the ball of `radius`.
    experts, free_last
        Those of the learner: `learner.variances` and `learner.free_last`.
    radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> in_time = Received([(0, 1, 2)], slots=3, bound=1 / 3, squares=100.0)
    >>> late = Received([(0, 1, 2)], 3, 1 / 3, 100.0, lagged=300.0, lag=0.7, late=250.0)
    >>> [round(changing(run, [[0.0]] * 3).value) for run in (in_time, late)]
    [40, 115]
    """
    found = _tasks_of(received, tasks, radius, inside=True)
    family = cache(partial(lineage, experts=experts, free_last=free_last))
    cliques = zip(received.start, received.slots, found.deviation, strict=True)
    chosen = [family(int(start), int(slots)).first(v) for start, slots, v in cliques]
    expert = _Experts(*np.array(chosen).T)
    m, steps = received.slots, np.sqrt(received.squares)
    end = _end(received)
    norm = (1.0 + m) * found.deviation + m * found.centre  # |U|_A^2, vacant slots at the mean
    parts = {
        "similarity": norm / (2.0 * m * expert.p) * end + 2.0 * expert.steps * steps,
        "experts": expert.focus * (end + steps),
        "growth": (expert.growth + expert.restarts) * end,
        "late": _late(received, expert, end),
        "lost": 2.0 * received.lost,
        "coded": received.moved,
    }
    scale = unit(radius, lipschitz)
    # Weights are at most their bound, and those of a round add up to one: at most so many rounds.
    rounds = received.bound * received.updates + received.lost
    return Bound.of(
        "changing networks",
        (HEDGE, *_chance(received), COVERED, IN_THE_BALL),
        variance=float(expert.variance.max()),
        admitted=math.inf if free_last else 1.0,
        trivial=math.inf if np.isnan(rounds).any() else trivial(rounds, radius, lipschitz),
        **{name: float(part.sum()) * scale for name, part in parts.items()},
    )


def kt_changing(
    received: Received, tasks: ArrayLike, *, radius: float = 1.0, lipschitz: float = 1.0
) -> Bound:
    """MT-CO2OL with KT on a network that changes, from what its cliques received; any tasks.

    `kt_adaptive` for each clique, with its slots M in place of N. The coin's unit remains that of
    the slots at the start, so each doubling can cost a factor sqrt(2). Nothing is proved of
    gradients that are late or lost, because bets have no limit.

    Parameters
    ----------
    received
        What the cliques received, with `updates`.
    tasks
        A row for each agent that ever was.
    radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> run = Received([(0, 1, 2)], slots=3, bound=1 / 3, squares=100.0, updates=900)
    >>> round(kt_changing(run, [[0.5]] * 3).value, 2)
    31.96
    """
    if received.late.any() or received.lost.any():
        raise ValueError("received must have nothing late or lost for KT, got weights of them")
    if np.isnan(received.updates).any():
        raise ValueError("received must have updates for KT, got none")
    found = _tasks_of(received, tasks, radius, inside=False)
    m, first, n = received.slots, received.start, found.rows
    # |U|_A with the vacant slots where it is least.
    norm = np.sqrt((m + 1.0) * (found.deviation + found.centre * n / (n + 1.0)))
    coin = received.bound * np.where(first == 1.0, 1.0, np.sqrt(2.0 / first))
    bets = zip(coin, norm, received.updates, strict=True)
    magnitude = sum(stake * (1.0 + gain(v, int(count))) for stake, v, count in bets if count > 0)
    long = 2.0 * np.sqrt(first) / (first + 1.0) * np.sqrt(received.squares)
    direction = norm * (_end(received) / (2.0 * np.sqrt(m)) + long)
    scale = unit(radius, lipschitz)
    return Bound.of(
        "changing networks, KT",
        (BETS, *_chance(received), SHORT),
        magnitude=float(magnitude) * scale,
        direction=float(direction.sum()) * scale,
        coded=float(received.moved.sum()) * scale,
    )


def _tasks_of(received: Received, tasks: ArrayLike, radius: float, inside: bool) -> _Tasks:
    points = validation.matrix("tasks", tasks, (None, None))
    known = max(map(max, received.members)) + 1
    if len(points) < known:
        raise ValueError(f"tasks must have a row for each of {known} agents, got {len(points)}")
    scaled = in_units(points, radius, inside)
    cliques = [scaled[list(agents)] for agents in received.members]
    means = np.array([rows.mean(axis=0) for rows in cliques])
    apart = [((rows - mean) ** 2).sum() for rows, mean in zip(cliques, means, strict=True)]
    number = [float(len(rows)) for rows in cliques]
    return _Tasks(np.array(number), np.array(apart), (means**2).sum(axis=1))


def _end(received: Received) -> Floats:
    """The last beta. A clique that received nothing has no regret."""
    last = np.sqrt(received.bound**2 + received.lagged)
    return np.where(received.squares > 0.0, last, 0.0)


def _late(received: Received, expert: _Experts, end: Floats) -> Floats:
    """What rows moved between reading and learning, times the weights; at most to and fro."""
    b, first, m = received.bound, received.first_bound, received.slots
    under_way = np.minimum(received.lag + b, received.late)
    lags = np.maximum(received.lagged - received.squares, 0.0)  # rounding may be below
    pairs = np.sqrt(first**2 + lags) - first + b * received.lag / first
    step = 2.0 * m * expert.widest / (m + 1.0) + expert.focus
    shrink = math.sqrt(2.0) * expert.widest + expert.focus**2
    slower = shrink * np.log(np.maximum(end / first, 1.0))
    moved = step * pairs + (slower + 2.0 * received.doublings) * under_way
    return received.power * np.minimum(moved, 2.0 * received.late)


def _chance(received: Received) -> tuple[str, ...]:
    return (IN_EXPECTATION, CHANCE) if received.in_expectation else ()
