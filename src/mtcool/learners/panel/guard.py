"""What sharing may cost: the guard of an agent, and its accounts with its neighbours.

An agent plays what learning alone would, plus a step towards what it learned with its neighbours.
The step is so short that the next target cannot cost more than the credit that is left, unless that
target is farther from the prediction than any before. The same rule bounds what a single neighbour
contributes. `docs/learning-promises.md` has theorems and proofs.
"""

from __future__ import annotations

import math

from mtcool.kernels import inline
from mtcool.learners.panel.clamp import between, rows_of
from mtcool.learners.panel.constants import CREDIT, OVERFLOW
from mtcool.learners.panel.fields import (
    ACCOUNT,
    ALONE,
    BALANCE,
    FILTERS,
    HIGHEST,
    LISTENS,
    LOWEST,
    MISSED,
    MISSES,
    ROWS,
    WORST,
)
from mtcool.learners.panel.limits import HUGE
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

FEW_ROWS = 5.0
"""With fewer rows an agent takes the unit of its accounts from its neighbours."""
FRESH_ROWS = 3.0
"""With fewer rows an agent predicts within the range of its neighbours' targets."""
SORTED = FILTERS + 1
"""Row of `Scratch.reach` in which medians are found."""
EMPTY = 0.02
"""An account with less than this part of what it began with is closed."""


@inline
def loss_of(logistic: int, score: float, target: float) -> float:
    """Squared error, or log loss of a prediction in log-odds."""
    if logistic == 0:
        return (score - target) * (score - target)
    signed = score if target < 0.5 else -score
    return max(signed, 0.0) + math.log1p(math.exp(-abs(signed)))


@inline
def unit_of(panel: Panel, agent: int) -> float:
    """The unit of the agent's accounts.

    The variance of its targets, or the mean squared error of its slow filter alone if that is less;
    the median of its neighbours' variances while it has few rows, or its own if that is more.
    """
    if panel.logistic == 1:
        return 1.0
    rows = panel.number[agent, ROWS]
    if rows >= FEW_ROWS and panel.scatter[agent, 0, 0] > 0.0:
        number = panel.number[agent]
        missed = number[ALONE + MISSED] / max(number[ALONE + MISSES], 1.0)
        return float(min(panel.scatter[agent, 0, 0] / rows, missed))
    found, count = panel.work.reach[SORTED], 0
    for e in range(panel.ptr[agent], panel.end[agent]):
        j = panel.idx[e]
        if panel.number[j, ROWS] > 1.0:
            found[count] = between(0.0, panel.scatter[j, 0, 0], HUGE) / rows_of(panel, j)
            count += 1
    own = panel.scatter[agent, 0, 0] / rows if rows > 1.0 else 0.0
    return float(max(median(found, count), own)) if count > 0 else 0.0


@inline
def median(values: Floats, count: int) -> float:
    """The median of the first values, which are sorted on the way."""
    for k in range(1, count):
        value, m = values[k], k
        while m > 0 and values[m - 1] > value:
            values[m] = values[m - 1]
            m -= 1
        values[m] = value
    return float(0.5 * (values[(count - 1) // 2] + values[count // 2]))


@inline
def most(panel: Panel, agent: int, credit: float) -> float:
    """How far a prediction may be moved if the loss must not grow by more than `credit`.

    For squared errors whatever the target, as long as it is no farther away than the worst so far:
    d^2 + 2 B d <= credit. Log loss grows by at most d.
    """
    if credit <= 0.0:
        return 0.0
    if panel.logistic == 1:
        return credit
    worst = panel.number[agent, WORST]
    return float(credit / (math.sqrt(worst * worst + credit) + worst))


@inline
def credit_of(panel: Panel, agent: int) -> float:
    """What sharing may cost the agent.

    From its third row on the agent's own targets bound it, whatever the neighbours say of theirs.
    """
    unit, number = unit_of(panel, agent), panel.number[agent]
    if panel.logistic == 0 and number[ROWS] >= 2.0:
        wide = 2.0 * (number[HIGHEST] - number[LOWEST])
        unit = min(unit, wide * wide)
    return CREDIT * unit


@inline
def guarded(panel: Panel, agent: int, alone: float, wish: float) -> float:
    """The prediction that is played: a step from learning alone towards the wish."""
    credit = credit_of(panel, agent) + panel.number[agent, BALANCE]
    step = most(panel, agent, credit)
    return alone + between(-step, wish - alone, step)


@inline
def settle(panel: Panel, agent: int, alone: float, played: float, target: float) -> None:
    """Book what sharing has won or cost in a row."""
    number, kind = panel.number[agent], panel.logistic
    if kind == 0:
        number[WORST] = max(number[WORST], abs(target - alone))
    number[BALANCE] += loss_of(kind, alone, target) - loss_of(kind, played, target)


@inline
def settle_neighbour(
    panel: Panel, entry: int, unit: float, played: float, contributed: float, target: float
) -> None:
    """Book what a neighbour has won or cost; one with an empty account is not heard again."""
    kind = panel.logistic
    cost = loss_of(kind, played, target) - loss_of(kind, played - contributed, target)
    rest = panel.link[entry, ACCOUNT] - cost / unit
    panel.link[entry, ACCOUNT] = min(OVERFLOW, max(-OVERFLOW, rest))
    if panel.link[entry, ACCOUNT] <= EMPTY:
        panel.link[entry, LISTENS] = 0.0


@inline
def within_own_range(panel: Panel, agent: int, prediction: float) -> float:
    """The prediction, within the range of the agent's targets and its length beyond."""
    if panel.logistic == 1:
        return min(FARTHEST_LOG_ODDS, max(-FARTHEST_LOG_ODDS, prediction))
    if panel.number[agent, ROWS] < 2.0:
        return prediction
    low, high = panel.number[agent, LOWEST], panel.number[agent, HIGHEST]
    return float(min(high + (high - low), max(low - (high - low), prediction)))


@inline
def range_of_neighbours(panel: Panel, agent: int) -> tuple[float, float]:
    """Medians of the neighbours' smallest and largest targets, and the agent's own targets.

    Infinite if no neighbour has a target.
    """
    found = panel.work.reach[SORTED]
    low, high = -math.inf, math.inf
    for side in range(2):
        count = 0
        for e in range(panel.ptr[agent] + 1, panel.end[agent]):
            j = panel.idx[e]
            if panel.number[j, ROWS] > 0.0:
                said = panel.number[j, LOWEST if side == 0 else HIGHEST]
                found[count] = between(-HUGE, said, HUGE)
                count += 1
        if count > 0 and side == 0:
            low = min(median(found, count), panel.number[agent, LOWEST])
        elif count > 0:
            high = max(median(found, count), panel.number[agent, HIGHEST])
    return low, high


FARTHEST_LOG_ODDS = 8.0
"""Log-odds are at most this far from even."""
