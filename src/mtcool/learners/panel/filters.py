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

from mtcool.kernels import inline, routine
from mtcool.kernels.lanes import (
    LANES,
    Lanes,
    count_from,
    load_within,
    root,
    spread,
    store_within,
    total,
    where_above,
)
from mtcool.learners.panel.clamp import between, lanes_between
from mtcool.learners.panel.constants import (
    ALONE_DRIFT,
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
    FETCHED,
    FILTER_SIZE,
    FILTERS,
    FIRST_FETCHED,
    FIRST_FILTER,
    FIRST_LESSON,
    GRAPH,
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
from mtcool.learners.panel.guard import FRESH_ROWS, most, unit_of
from mtcool.learners.panel.limits import HUGE
from mtcool.learners.panel.scaling import patience
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

LONGEST_STEP = 3.0
"""A neighbour moves a coordinate by at most so many of the agent's own standard deviations."""
LARGEST_ERROR = 1e20
"""An error counts as at most so many deviations: the products of larger ones overflow."""
WILD = 5.0
"""Experts learn from an error as if it had at most so many standard deviations, at first."""
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
def by_kind(k: int, level: float, slope: float) -> Lanes:
    """One number for the level, which is coordinate 0, and another for slopes, from k on."""
    return where_above(count_from(float(k)), 0.5, slope, level)


@inline
def or_one(precision: Lanes) -> Lanes:
    """What can be divided by: one in place of a precision that is zero or less."""
    return where_above(precision, 0.0, precision, 1.0)


@inline
def predict_shared(panel: Panel, agent: int, f: int) -> float:
    """The prediction of filter f with neighbours, each within what it may cost the agent."""
    first, last = panel.ptr[agent], panel.end[agent]
    reach, number = panel.work.reach, panel.work.number
    for e in range(first, last):
        reach[FACTORS, e - first] = 1.0
        known = e == first or panel.number[panel.idx[e], ROWS] > 0.0
        reach[HEARD, e - first] = panel.link[e, LISTENS] if known else 0.0
    shortened = 0.0
    for turn in range(2):
        number[FETCHED + 2 * f] = fetch_and_sum(panel, agent, f)
        if turn == 1 or not too_much(panel, agent, f):
            break
        shortened = 1.0
    for e in range(1, last - first):
        reach[f, e] *= reach[FACTORS, e]
    number[FETCHED + 2 * f + 1] = shortened
    return float(number[FETCHED + 2 * f])


@inline
def too_much(panel: Panel, agent: int, f: int) -> bool:
    """Whether a neighbour contributes more than it may; leaves the factors that end that."""
    if panel.number[agent, ROWS] < 2.0:
        return False  # the guard's bounds hold from here on
    first, last, reach = panel.ptr[agent], panel.end[agent], panel.work.reach
    unit, found = unit_of(panel, agent), False
    for e in range(first + 1, last):
        size = abs(reach[f, e - first])
        if size > 0.0:
            allowed = most(panel, agent, unit * panel.link[e, ACCOUNT])
            if size > allowed:
                reach[FACTORS, e - first] = allowed / size
                found = True
    return found


@inline
def still_holds(panel: Panel, agent: int, f: int) -> bool:
    """Whether `predict_shared`, called again after accounts have changed, would say the same."""
    first, heard = panel.ptr[agent], panel.work.reach[HEARD]
    for e in range(1, panel.end[agent] - first):
        if heard[e] > 0.0 and panel.link[first + e, LISTENS] == 0.0:
            return False
    return panel.work.number[FETCHED + 2 * f + 1] == 0.0 and not too_much(panel, agent, f)


@routine
def fetch_again(panel: Panel, agent: int, f: int) -> None:
    """`predict_shared`, where that is seldom needed."""
    predict_shared(panel, agent, f)


@inline
def fetch_and_sum(panel: Panel, agent: int, f: int) -> float:
    """Fetch the neighbours' parts and add all up.

    Leaves the shared part and its variance in the scratch, and in `reach` what each neighbour
    contributes to the prediction before its factor. Neighbours may say anything: what could not be
    computed with is left out.
    """
    first, last = panel.ptr[agent], panel.end[agent]
    vector, reach, own = panel.work.vector, panel.work.reach, panel.vector[agent]
    base, fetched = FIRST_FILTER + f * FILTER_SIZE, FIRST_FETCHED + 2 * f
    unit = spread_of(panel, SIDE_SHARED)
    count = 0.0
    for e in range(last - first):
        reach[f, e] = 0.0
        count += reach[HEARD, e]
    share = 1.0 / math.sqrt(count)
    prediction = 0.0
    for k in range(0, vector.shape[1], LANES):
        x = by_kind(k, 1.0, unit) * load_within(vector, X_SHARED, k)
        precision = load_within(own, base + PRECISION, k)
        precisions = where_above(precision, 0.0, precision, 0.0)
        for e in range(1, last - first):
            if reach[HEARD, e] > 0.0:
                theirs = load_within(panel.vector[panel.idx[first + e]], base + PRECISION, k)
                precisions = precisions + where_above(theirs, 0.0, theirs, 0.0)
        # A level that is not known yet is 0.
        centre = where_above(precision, 0.0, load_within(own, base + SHARED, k), 0.0)
        farthest = by_kind(k, unit, 1.0) * (LONGEST_STEP / root(or_one(precision)))
        farthest = where_above(precision, 0.0, farthest, HUGE)
        largest = where_above(precisions, 0.0, HUGE, 0.0)
        farthest = where_above(precisions, 0.0, farthest, 0.0)
        over = where_above(precisions, 0.0, 1.0 / or_one(precisions), 0.0)
        moved, clique = spread(0.0), load_within(own, base + CLIQUE, k)
        for e in range(1, last - first):
            if reach[HEARD, e] > 0.0:
                them = panel.vector[panel.idx[first + e]]
                step = load_within(them, base + SHARED, k) - centre
                step = load_within(them, base + PRECISION, k) * over * step
                step = lanes_between(0.0 - farthest, step, farthest)
                part = load_within(them, base + CLIQUE, k)
                part = lanes_between(0.0 - largest, part, largest)
                reach[f, e] += total((step + part * share) * x)
                moved = moved + step * reach[FACTORS, e]
                clique = clique + part * reach[FACTORS, e]
        mean = centre + moved
        store_within(vector, fetched, k, mean)
        variance = lanes_between(0.0, over * count, UNKNOWN)
        store_within(vector, fetched + 1, k, where_above(precisions, 0.0, variance, math.inf))
        prediction += total((load_within(own, base + OWN, k) + mean + clique * share) * x)
    return between(-HUGE, prediction, HUGE)


@inline
def predict_by_itself(panel: Panel, agent: int, f: int) -> float:
    """The prediction of filter f without neighbours."""
    own, at, unit = panel.vector[agent], by_itself(f), spread_of(panel, SIDE_OWN)
    prediction = 0.0
    for k in range(0, own.shape[1], LANES):
        x = by_kind(k, 1.0, unit) * load_within(panel.work.vector, X_OWN, k)
        prediction += total(load_within(own, at, k) * x)
    return prediction


@inline
def by_itself(f: int) -> int:
    """Where the means of filter f without neighbours stand; their precisions come next."""
    return FIRST_FILTER + f * FILTER_SIZE + BY_ITSELF


@inline
def drift_of(f: int, k: int) -> Lanes:
    """How much the variances of the coordinates from k on grow with every row."""
    drift = SLOW_DRIFT if f == SLOW else FAST_DRIFT
    return by_kind(k, drift, drift * SLOPE_DRIFT)


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
def step_of(panel: Panel, agent: int, error: float, whole: float) -> float:
    """The error over its variance; a wild target counts as one that is only unlikely."""
    if panel.logistic == 0:
        farthest = WILD * patience(panel, agent) * math.sqrt(whole)
        error = between(-farthest, error, farthest)
    return error / whole


@inline
def learn_shared(panel: Panel, agent: int, f: int, prediction: float, target: float) -> None:
    """Let the parts of filter f learn from a row; leaves the lesson for the cliques' keepers.

    What `predict_shared` fetched is in the scratch.
    """
    first, last = panel.ptr[agent], panel.end[agent]
    vector, own, heard = panel.work.vector, panel.vector[agent], panel.work.reach[HEARD]
    base, fetched, lesson = (
        FIRST_FILTER + f * FILTER_SIZE,
        FIRST_FETCHED + 2 * f,
        FIRST_LESSON + 2 * f,
    )
    error, noise = error_of(panel, SIDE_SHARED, prediction, target)
    whole, count = noise, 0.0
    for e in range(last - first):
        count += heard[e]
    if panel.logistic == 0 and panel.number[agent, ROWS] < FRESH_ROWS:
        level = PERSONAL_SHARE * panel.work.number[SIDE_SHARED + APART]
        own[base + OWN_VARIANCE, 0] = max(own[base + OWN_VARIANCE, 0], level)
    for k in range(0, vector.shape[1], LANES):
        cliques = spread(0.0)
        for e in range(last - first):
            them = panel.vector[panel.idx[first + e]]
            theirs = load_within(them, base + CLIQUE_VARIANCE, k)
            cliques = cliques + lanes_between(0.0, theirs, LARGEST_VARIANCE) * heard[e]
        variance = load_within(vector, fetched + 1, k)
        here = load_within(own, base + OWN_VARIANCE, k) + cliques * (1.0 / count)
        here = here + where_above(math.inf, variance, variance, 0.0)
        x = load_within(vector, X_SHARED, k)
        whole += total(x * x * here)
        store_within(vector, lesson, k, spread(0.0))
        store_within(vector, lesson + 1, k, spread(0.0))
    if vector[fetched + 1, 0] == math.inf:  # the first target in the neighbourhood is the level
        own[base + SHARED, 0], own[base + PRECISION, 0] = target, 1.0 / whole
        return
    unit, step = spread_of(panel, SIDE_SHARED), step_of(panel, agent, error, whole)
    if unit <= 0.0:
        return
    for k in range(0, vector.shape[1], LANES):
        x, drift = load_within(vector, X_SHARED, k), drift_of(f, k)
        along = by_kind(k, unit, 1.0) * x * step
        part = load_within(own, base + OWN_VARIANCE, k)
        store_within(own, base + OWN, k, load_within(own, base + OWN, k) + part * along)
        store_within(own, base + OWN_VARIANCE, k, after(part, x, whole) + drift * PART_DRIFT)
        store_within(vector, lesson, k, along * (1.0 / math.sqrt(count)))
        store_within(vector, lesson + 1, k, x * x * (1.0 / (count * whole)))
        variance = load_within(vector, fetched + 1, k)
        store_within(own, base + SHARED, k, load_within(vector, fetched, k) + variance * along)
        store_within(own, base + PRECISION, k, 1.0 / (after(variance, x, whole) + drift))


@inline
def after(variance: Lanes, x: Lanes, whole: float) -> Lanes:
    """The variances of coordinates after a row."""
    gain = variance * x
    rest = variance - gain * gain * (1.0 / whole)
    return where_above(rest, 0.0, rest, 0.0)


@inline
def learn_by_itself(panel: Panel, agent: int, f: int, prediction: float, target: float) -> None:
    """Let filter f, without neighbours, learn from a row."""
    own, at, scratch = panel.vector[agent], by_itself(f), panel.work.vector
    error, noise = error_of(panel, SIDE_OWN, prediction, target)
    whole = noise
    for k in range(0, own.shape[1], LANES):
        x, precision = load_within(scratch, X_OWN, k), load_within(own, at + 1, k)
        whole += total(where_above(precision, 0.0, x * x / or_one(precision), 0.0))
    if own[at + 1, 0] == 0.0:
        own[at, 0], own[at + 1, 0] = target, 1.0 / whole
        return
    unit, step = spread_of(panel, SIDE_OWN), step_of(panel, agent, error, whole)
    if unit <= 0.0:
        return
    for k in range(0, own.shape[1], LANES):
        x, variance = load_within(scratch, X_OWN, k), 1.0 / or_one(load_within(own, at + 1, k))
        along = by_kind(k, unit, 1.0) * x * step
        store_within(own, at, k, load_within(own, at, k) + variance * along)
        drift = drift_of(f, k) * ALONE_DRIFT
        store_within(own, at + 1, k, 1.0 / (after(variance, x, whole) + drift))


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
    learn_lesson(panel.vector[agent], lesson, unit if unit > 0.0 else HUGE, listens)


@routine
def learn_lesson(own: Floats, lesson: Floats, unit: float, listens: float) -> None:
    """Add a lesson to a clique; compiled once, so that all forms of an agent agree to the bit."""
    for f in range(FILTERS):
        mean = FIRST_FILTER + f * FILTER_SIZE + CLIQUE
        variance = FIRST_FILTER + f * FILTER_SIZE + CLIQUE_VARIANCE
        for k in range(0, own.shape[1], LANES):
            before = load_within(own, variance, k)
            farthest = by_kind(k, unit, 1.0) * (LONGEST_LESSON * root(before))
            step = before * load_within(lesson, 2 * f, k)
            step = lanes_between(0.0 - farthest, step, farthest)
            store_within(own, mean, k, load_within(own, mean, k) + step * listens)
            information = lanes_between(0.0, load_within(lesson, 2 * f + 1, k), HUGE)
            shrunk = lanes_between(0.0, before * before * information, before)
            then = before + (drift_of(f, k) * PART_DRIFT - shrunk) * listens
            if not lesson[2 * f + 1, 0] > 0.0:
                then = where_above(information, 0.0, then, before)
            store_within(own, variance, k, then)
