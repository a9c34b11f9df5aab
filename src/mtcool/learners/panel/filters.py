"""A linear model that is a sum of parts, each with a mean and a variance for every feature.

The *shared* part is the average of what the neighbours hold, weighted by their precisions. When an
agent learns from a row it makes the corrected average its own, so that knowledge travels on. The
*clique* part of an agent is used by all its neighbours, and learns from the rows of all of them.
The *personal* part is for what nobody else has. All parts learn from the same error, in proportion
to their variances, as in a Kalman filter with a variance for each coordinate.

Levels are in units of the target, slopes in units of its deviation over the feature's.
"""

from __future__ import annotations

import math

from mtcool.kernels import inline
from mtcool.learners.panel.constants import (
    FAST_DRIFT,
    PART_DRIFT,
    PERSONAL_SHARE,
    SLOPE_DRIFT,
    SLOW_DRIFT,
)
from mtcool.learners.panel.fields import (
    ACCOUNT,
    APART,
    BY_ITSELF,
    CLIQUE,
    CLIQUE_VARIANCE,
    FILTER_SIZE,
    FILTERS,
    FIRST_FETCHED,
    FIRST_FILTER,
    FIRST_LESSON,
    GRAPH,
    ITS_PRECISION,
    LISTENS,
    NOISE,
    OWN,
    OWN_VARIANCE,
    PRECISION,
    ROWS,
    SHARED,
    SIDE_OWN,
    SIDE_SHARED,
    SLOW,
    SPREAD,
    X_OWN,
    X_SHARED,
)
from mtcool.learners.panel.heard import HUGE, between
from mtcool.learners.panel.promises import FRESH_ROWS, most, unit_of
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

LONGEST_STEP = 3.0
"""A neighbour moves a coordinate by at most so many of the agent's own standard deviations."""
LARGEST_ERROR = 1e20
"""An error counts as at most so many deviations: the products of larger ones overflow."""
LONGEST_LESSON = 5.0
"""A lesson moves a coordinate of a clique by at most so many of its standard deviations."""
UNKNOWN = 1e6
"""Largest variance of the shared part, in variances of the target."""
LARGEST_VARIANCE = 1.0
"""Of a clique part, as neighbours may state it, in variances of the target."""
LEAST_WEIGHT = 0.02
"""Least mu (1 - mu) in classification: a wrong certainty is not taken for infinite information."""
LOG_ODDS_SPREAD = 2.0
"""The unit of log-odds, as the deviation is of regression targets."""
FACTORS, HEARD = FILTERS, FILTERS + 2
"""Rows of `Scratch.reach`: factors by which neighbours' contributions are shortened; 1 for the
agent itself and for those that it listens to and that have learned from a row, 0 for others."""


@inline
def spread_of(panel: Panel, side: int) -> float:
    """The unit of levels: the deviation of the targets, or that of log-odds."""
    return LOG_ODDS_SPREAD if panel.logistic == 1 else panel.work.number[side + SPREAD]


@inline
def predict_shared(panel: Panel, agent: int, f: int) -> float:
    """The prediction of filter f with neighbours, each within what it may cost the agent."""
    first, last = panel.ptr[agent], panel.ptr[agent + 1]
    reach = panel.work.reach
    for e in range(first, last):
        reach[FACTORS, e - first] = 1.0
        known = e == first or panel.number[panel.idx[e], ROWS] > 0.0
        reach[HEARD, e - first] = panel.link[e, LISTENS] if known else 0.0
    p = fetch_and_sum(panel, agent, f)
    if panel.number[agent, ROWS] < 2.0:
        return p  # the guard's bounds hold from here on
    unit, again = unit_of(panel, agent), False
    for e in range(first + 1, last):
        size = abs(reach[f, e - first])
        if size > 0.0:
            allowed = most(panel, agent, unit * panel.link[e, ACCOUNT])
            if size > allowed:
                reach[FACTORS, e - first] = allowed / size
                again = True
    if again:
        p = fetch_and_sum(panel, agent, f)
        for e in range(1, last - first):
            reach[f, e] *= reach[FACTORS, e]
    return p


@inline
def fetch_and_sum(panel: Panel, agent: int, f: int) -> float:
    """Fetch the neighbours' parts and add all up.

    Leaves the shared part and its variance in the scratch, and in `reach` what each neighbour
    contributes to the prediction before its factor. Neighbours may say anything: what could not be
    computed with is left out.
    """
    first, last = panel.ptr[agent], panel.ptr[agent + 1]
    vector, reach = panel.work.vector, panel.work.reach
    base, fetched = FIRST_FILTER + f * FILTER_SIZE, FIRST_FETCHED + 2 * f
    spread, own = spread_of(panel, SIDE_SHARED), panel.vector[agent]
    count = 0.0
    for e in range(last - first):
        reach[f, e] = 0.0
        count += reach[HEARD, e]
    share = 1.0 / math.sqrt(count)
    prediction = 0.0
    for k in range(vector.shape[1]):
        unit = 1.0 if k == 0 else spread
        total = 0.0
        for e in range(first, last):
            if reach[HEARD, e - first] > 0.0:
                total += max(0.0, panel.vector[panel.idx[e], base + PRECISION, k])
        mine, precision = own[base + SHARED, k], own[base + PRECISION, k]
        centre = mine if precision > 0.0 else 0.0  # a level that is not known yet
        farthest = HUGE
        if precision > 0.0:
            farthest = LONGEST_STEP / math.sqrt(precision) * (spread if k == 0 else 1.0)
        moved, clique = 0.0, own[base + CLIQUE, k]
        if total > 0.0:
            for e in range(first + 1, last):
                if reach[HEARD, e - first] > 0.0:
                    theirs = panel.vector[panel.idx[e]]
                    step = theirs[base + PRECISION, k] / total * (theirs[base + SHARED, k] - centre)
                    step = between(-farthest, step, farthest)
                    part = between(-HUGE, theirs[base + CLIQUE, k], HUGE)
                    contribution = step + part * share
                    reach[f, e - first] += contribution * unit * vector[X_SHARED, k]
                    factor = reach[FACTORS, e - first]
                    moved += factor * step
                    clique += factor * part
        vector[fetched, k] = centre + moved
        vector[fetched + 1, k] = min(count / total, UNKNOWN) if total > 0.0 else math.inf
        whole = own[base + OWN, k] + centre + moved + clique * share
        prediction += whole * unit * vector[X_SHARED, k]
    return between(-HUGE, prediction, HUGE)


@inline
def predict_by_itself(panel: Panel, agent: int, f: int) -> float:
    """The prediction of filter f without neighbours."""
    base, x = FIRST_FILTER + f * FILTER_SIZE, panel.work.vector[X_OWN]
    mean, spread = panel.vector[agent, base + BY_ITSELF], spread_of(panel, SIDE_OWN)
    prediction = mean[0]
    for k in range(1, x.shape[0]):
        prediction += mean[k] * spread * x[k]
    return float(prediction)


@inline
def drift_of(f: int, k: int) -> float:
    """How much the variance of coordinate k grows with every row."""
    drift = SLOW_DRIFT if f == SLOW else FAST_DRIFT
    return drift if k == 0 else drift * SLOPE_DRIFT


@inline
def error_of(panel: Panel, side: int, prediction: float, target: float) -> tuple[float, float]:
    """The error in units of the spread, and the variance of the noise."""
    if panel.logistic == 1:
        mu = 1.0 / (1.0 + math.exp(-prediction))
        weight = max(mu * (1.0 - mu), LEAST_WEIGHT)
        spread = LOG_ODDS_SPREAD
        return (target - mu) / weight / spread, 1.0 / (weight * spread * spread)
    spread = panel.work.number[side + SPREAD]
    error = (target - prediction) / spread if spread > 0.0 else 0.0
    error = between(-LARGEST_ERROR, error, LARGEST_ERROR)
    return error, panel.work.number[side + NOISE]


@inline
def learn_shared(panel: Panel, agent: int, f: int, prediction: float, target: float) -> None:
    """Let the parts of filter f learn from a row; leaves the lesson for the cliques' keepers.

    `predict_shared` has just been called: what it fetched is in the scratch.
    """
    first, last = panel.ptr[agent], panel.ptr[agent + 1]
    vector, own, heard = panel.work.vector, panel.vector[agent], panel.work.reach[HEARD]
    base, fetched, lesson = (
        FIRST_FILTER + f * FILTER_SIZE,
        FIRST_FETCHED + 2 * f,
        FIRST_LESSON + 2 * f,
    )
    x, mean, variance = vector[X_SHARED], vector[fetched], vector[fetched + 1]
    error, noise = error_of(panel, SIDE_SHARED, prediction, target)
    total, count = noise, 0.0
    for e in range(last - first):
        count += heard[e]
    if panel.logistic == 0 and panel.number[agent, ROWS] < FRESH_ROWS:
        level = PERSONAL_SHARE * panel.work.number[SIDE_SHARED + APART]
        own[base + OWN_VARIANCE, 0] = max(own[base + OWN_VARIANCE, 0], level)
    for k in range(x.shape[0]):
        cliques = 0.0
        for e in range(first, last):
            theirs = panel.vector[panel.idx[e], base + CLIQUE_VARIANCE, k]
            cliques += heard[e - first] * between(0.0, theirs, LARGEST_VARIANCE)
        here = own[base + OWN_VARIANCE, k] + cliques / count
        if variance[k] < math.inf:
            here += variance[k]
        total += x[k] * x[k] * here
        vector[lesson, k] = vector[lesson + 1, k] = 0.0
    if variance[0] == math.inf:  # the first target in the neighbourhood is the level
        own[base + SHARED, 0], own[base + PRECISION, 0] = target, 1.0 / total
        return
    spread = spread_of(panel, SIDE_SHARED)
    if spread <= 0.0:
        return
    step = error / total
    for k in range(x.shape[0]):
        unit, drift = spread if k == 0 else 1.0, drift_of(f, k)
        part = own[base + OWN_VARIANCE, k]
        own[base + OWN, k] += unit * part * x[k] * step
        own[base + OWN_VARIANCE, k] = after(part, x[k], total) + PART_DRIFT * drift
        vector[lesson, k] = unit * x[k] * step / math.sqrt(count)
        vector[lesson + 1, k] = x[k] * x[k] / (count * total)
        own[base + SHARED, k] = mean[k] + unit * variance[k] * x[k] * step
        own[base + PRECISION, k] = 1.0 / (after(variance[k], x[k], total) + drift)


@inline
def after(variance: float, x: float, total: float) -> float:
    """The variance of a coordinate after a row."""
    gain = variance * x
    return max(variance - gain * gain / total, 0.0)


@inline
def learn_by_itself(panel: Panel, agent: int, f: int, prediction: float, target: float) -> None:
    """Let filter f, without neighbours, learn from a row."""
    base, x = FIRST_FILTER + f * FILTER_SIZE, panel.work.vector[X_OWN]
    mean, precision = (
        panel.vector[agent, base + BY_ITSELF],
        panel.vector[agent, base + ITS_PRECISION],
    )
    error, noise = error_of(panel, SIDE_OWN, prediction, target)
    total = noise
    for k in range(x.shape[0]):
        if precision[k] > 0.0:
            total += x[k] * x[k] / precision[k]
    if precision[0] == 0.0:
        mean[0], precision[0] = target, 1.0 / total
        return
    spread = spread_of(panel, SIDE_OWN)
    if spread <= 0.0:
        return
    step = error / total
    for k in range(x.shape[0]):
        unit, variance = spread if k == 0 else 1.0, 1.0 / precision[k]
        mean[k] += unit * variance * x[k] * step
        precision[k] = 1.0 / (after(variance, x[k], total) + drift_of(f, k))


@inline
def take_lesson(panel: Panel, agent: int, entry: int, lesson: Floats) -> None:
    """Let the agent's clique learn from a neighbour's row; `entry` says how it listens to it.

    `lesson` has two rows for each filter: the gradient, and how much information it carries. An
    agent takes part from its first row on, so that it does not matter when it was made known.
    """
    if panel.number[agent, ROWS] == 0.0 and panel.idx[entry] != agent:
        return
    listens = panel.link[entry, LISTENS]
    unit = LOG_ODDS_SPREAD if panel.logistic == 1 else panel.number[agent, GRAPH + SPREAD]
    unit = unit if unit > 0.0 else HUGE
    for f in range(FILTERS):
        base = FIRST_FILTER + f * FILTER_SIZE
        mean, variance = (
            panel.vector[agent, base + CLIQUE],
            panel.vector[agent, base + CLIQUE_VARIANCE],
        )
        for k in range(mean.shape[0]):
            before, information = variance[k], between(0.0, lesson[2 * f + 1, k], HUGE)
            farthest = LONGEST_LESSON * math.sqrt(before) * (unit if k == 0 else 1.0)
            mean[k] += listens * between(-farthest, before * lesson[2 * f, k], farthest)
            if information > 0.0 or lesson[2 * f + 1, 0] > 0.0:
                shrunk = before * before * min(information, 1.0 / before)
                variance[k] = before + listens * (PART_DRIFT * drift_of(f, k) - shrunk)
