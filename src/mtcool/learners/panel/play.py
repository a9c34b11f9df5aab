"""One round of a panel: fetch, predict, pay, learn, send.

`play` is the only kernel: it serves whole streams, single calls, and agents by themselves.
"""

from __future__ import annotations

import math

from mtcool.kernels import inline, kernel, routine
from mtcool.learners.panel.clamp import between
from mtcool.learners.panel.constants import ALONE_SHARE, HEARSAY
from mtcool.learners.panel.fields import (
    ALONE,
    ALONE_EXPERTS,
    CENTRE,
    DRAWN_TO,
    EVIDENCE,
    EXPERTS,
    FETCHED,
    FILTERS,
    FIRST_LESSON,
    GRAPH,
    LISTENS,
    MEAN,
    MISSED,
    MISSES,
    NOISE,
    ROWS,
    SAID_ALONE,
    SAID_BY_ITSELF,
    SAID_EXPERTS,
    SAID_PLAYED,
    SCALE_SHARED,
    SIDE_OWN,
    SIDE_SHARED,
    SLOW,
    SPREAD,
    TO_ITSELF,
    TO_NEIGHBOURS,
    TO_SHARED,
    X_SHARED,
)
from mtcool.learners.panel.filters import (
    WILD,
    fetch_again,
    learn_by_itself,
    learn_shared,
    predict_by_itself,
    predict_shared,
    still_holds,
    take_lesson,
)
from mtcool.learners.panel.guard import (
    FRESH_ROWS,
    guarded,
    range_of_neighbours,
    settle,
    settle_neighbour,
    unit_of,
    within_own_range,
)
from mtcool.learners.panel.limits import HUGE, MOST_EVIDENCE
from mtcool.learners.panel.mixing import (
    learn_weights,
    mix,
    prior_of,
    weigh_evidence,
    weighted_mean,
)
from mtcool.learners.panel.regression import draw_to_neighbours
from mtcool.learners.panel.ridges import is_due, predict_ridge, solve_ridges
from mtcool.learners.panel.scaling import TINY, add_row, keep_scale, look_up_scale, scale_row
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats, Integers

# Rows of `Scratch.expert`.
WITH_OTHERS, WEIGHTS, PRIORS, BY_ONESELF, OWN_WEIGHTS, OWN_PRIORS = range(6)
MOST_HEARSAY = 3.0
"""Neighbours' evidence divides the weight of an expert beforehand by at most e to this power."""
LARGEST_MISS = 25.0
"""A squared error counts as at most so many variances in the estimate of the noise."""
CERTAIN = 0.02
"""Probabilities of a ridge are at least this far from zero and one."""


@kernel
def play(
    panel: Panel,
    agents: Integers,
    features: Floats,
    target: Floats,
    events: Integers,
    said: Floats,
    out: Floats,
) -> None:
    """Play events in order: e >= 0 predicts row e, e < 0 learns from row ~e.

    `out` gets for each predicted row the prediction, that of learning alone, and 1 if no target was
    known in the neighbourhood, as scores: log-odds in classification. `said` holds what was said of
    a row until it is learned from (`keep_said`); NaN for a row that was not predicted.
    """
    for t in range(events.shape[0]):
        row = events[t] if events[t] >= 0 else ~events[t]
        agent = agents[row]
        played, alone, wish = predict(panel, agent, features[row])
        if events[t] >= 0:
            out[row, 0], out[row, 1] = played, alone
            out[row, 2] = 0.0 if knows_a_target(panel, agent) else 1.0
            keep_said(panel, agent, played, alone, said[row])
        else:
            if panel.number[agent, ROWS] >= 1.0:
                judge(panel, agent, played, alone, wish, target[row], said[row])
            learn(panel, agent, features[row], target[row])


@inline
def knows_a_target(panel: Panel, agent: int) -> bool:
    """Whether the agent or one of its neighbours has learned from a row."""
    for e in range(panel.ptr[agent], panel.end[agent]):
        if panel.number[panel.idx[e], ROWS] > 0.0:
            return True
    return False


@inline
def predict(panel: Panel, agent: int, features: Floats) -> tuple[float, float, float]:
    """The prediction, that of learning alone, and the one before the guard."""
    look_up_scale(panel, agent, GRAPH)
    look_up_scale(panel, agent, ALONE)
    scale_row(panel, features)
    experts = panel.work.expert
    alone = predict_alone(panel, agent, features)
    count = predict_with_others(panel, agent, features)
    fresh = panel.number[agent, ROWS] < 1.0
    if fresh and panel.logistic == 0:
        alone = panel.work.vector[SCALE_SHARED + CENTRE, 0]  # it has nothing of its own
    experts[WITH_OTHERS, count] = alone
    if panel.number[agent, ROWS] < FRESH_ROWS and panel.logistic == 0:
        low, high = range_of_neighbours(panel, agent)
        for k in range(count if not fresh else count + 1):
            experts[WITH_OTHERS, k] = min(high, max(low, experts[WITH_OTHERS, k]))
        alone = experts[WITH_OTHERS, count]
    set_priors(panel, agent, experts[PRIORS], count + 1)
    mixer, weights = panel.mixer[agent], experts[WEIGHTS]
    wish = mix(mixer, experts[WITH_OTHERS], weights, experts[PRIORS], count + 1, ALONE_SHARE)
    if panel.end[agent] - panel.ptr[agent] == 1:
        return alone, alone, wish  # there is nobody to share with
    played = wish if fresh else guarded(panel, agent, alone, wish)
    return played, alone, wish


@inline
def set_priors(panel: Panel, agent: int, priors: Floats, count: int) -> None:
    """The weights of the experts beforehand, less where neighbours have evidence against them."""
    for k in range(count):
        told = 0.0
        for e in range(panel.ptr[agent] + 1, panel.end[agent]):
            theirs = between(-MOST_EVIDENCE, panel.number[panel.idx[e], EVIDENCE + k], 0.0)
            told += panel.link[e, LISTENS] * theirs
        priors[k] = prior_of(k, count, ALONE_SHARE) * math.exp(max(HEARSAY * told, -MOST_HEARSAY))


@inline
def predict_alone(panel: Panel, agent: int, features: Floats) -> float:
    """The prediction of learning alone; leaves those of its experts."""
    experts = panel.work.expert[BY_ONESELF]
    for f in range(FILTERS):
        experts[f] = within_own_range(panel, agent, predict_by_itself(panel, agent, f))
    ridge, mean = predict_ridge(panel, agent, TO_ITSELF, features), panel.vector[agent, MEAN, 0]
    if panel.logistic == 1:
        rows = panel.number[agent, ROWS]
        ridge, mean = log_odds(ridge), log_odds((mean * rows + 0.5) / (rows + 1.0))
        if rows < 1.0:
            ridge = experts[SLOW]
    experts[FILTERS] = within_own_range(panel, agent, ridge)
    experts[FILTERS + 1] = mean
    weights, priors = panel.work.expert[OWN_WEIGHTS], panel.work.expert[OWN_PRIORS]
    for k in range(ALONE_EXPERTS):
        priors[k] = 1.0 / ALONE_EXPERTS
    return mix(panel.alone[agent], experts, weights, priors, ALONE_EXPERTS, 0.0)


@inline
def predict_with_others(panel: Panel, agent: int, features: Floats) -> int:
    """Leave the predictions of the experts that share; returns how many there are."""
    experts = panel.work.expert[WITH_OTHERS]
    for f in range(FILTERS):
        experts[f] = within_own_range(panel, agent, predict_shared(panel, agent, f))
    for k in range(FILTERS, FILTERS + 1 + panel.rows):
        experts[k] = experts[SLOW]
        if panel.number[agent, ROWS] >= 1.0:
            which = TO_SHARED if k == FILTERS else TO_NEIGHBOURS
            ridge = predict_ridge(panel, agent, which, features)
        elif k > FILTERS and knows_a_target(panel, agent):
            ridge = predict_by_neighbours(panel, agent)
        else:
            continue
        if panel.logistic == 1 and abs(ridge) < HUGE:
            ridge = log_odds(ridge)
        if abs(ridge) < HUGE:  # else what neighbours said was too much for it
            experts[k] = within_own_range(panel, agent, ridge)
    return FILTERS + 1 + panel.rows


@routine
def predict_by_neighbours(panel: Panel, agent: int) -> float:
    """The prediction of the regression on the neighbours' rows, for an agent without a row."""
    drawn, x = panel.work.vector[DRAWN_TO], panel.work.vector[X_SHARED]
    scale = panel.work.vector[SCALE_SHARED : SCALE_SHARED + 2]
    spread, noise = panel.work.number[SIDE_SHARED + SPREAD], panel.work.number[SIDE_SHARED + NOISE]
    draw_to_neighbours(panel, agent, scale, spread, noise, drawn)
    prediction = drawn[0]
    for k in range(1, drawn.shape[0]):
        prediction += drawn[k] * spread * x[k]
    return float(prediction)


@inline
def log_odds(probability: float) -> float:
    """The log-odds of a probability that is kept away from zero and one."""
    probability = min(1.0 - CERTAIN, max(CERTAIN, probability))
    return math.log(probability / (1.0 - probability))


@inline
def learn(panel: Panel, agent: int, features: Floats, target: float) -> None:
    """Learn from a row with what the neighbours hold now, and send them the lesson.

    `predict` and `judge` have just been called.
    """
    for f in range(FILTERS):
        if not still_holds(panel, agent, f):
            fetch_again(panel, agent, f)
        prediction = panel.work.number[FETCHED + 2 * f]
        if f == SLOW:
            count_miss(panel, agent, GRAPH, SIDE_SHARED, prediction, target)
        learn_shared(panel, agent, f, prediction, target)
        itself = predict_by_itself(panel, agent, f)
        if f == SLOW:
            count_miss(panel, agent, ALONE, SIDE_OWN, itself, target)
        learn_by_itself(panel, agent, f, itself, target)
    send_lesson(panel, agent)
    keep_scale(panel, agent)
    add_row(panel, agent, features, target)
    if is_due(panel, agent):
        solve_ridges(panel, agent)


@inline
def send_lesson(panel: Panel, agent: int) -> None:
    """Let the cliques of the closed neighbourhood learn from the lesson in the scratch."""
    lesson = panel.work.vector[FIRST_LESSON : FIRST_LESSON + 2 * FILTERS]
    for e in range(panel.ptr[agent], panel.end[agent]):
        take_lesson(panel, panel.idx[e], panel.back[e], lesson)


@inline
def count_miss(
    panel: Panel, agent: int, side: int, at: int, prediction: float, target: float
) -> None:
    """Add a squared error to the estimate of the noise."""
    spread = panel.work.number[at + SPREAD]
    if panel.logistic == 0 and knows_a_target(panel, agent):
        miss = (target - prediction) * (target - prediction)
        if spread > TINY:
            miss = min(miss, LARGEST_MISS * spread * spread)
        if side == GRAPH or panel.number[agent, ROWS] >= 1.0:
            panel.number[agent, side + MISSED] += miss
            panel.number[agent, side + MISSES] += 1.0


@inline
def keep_said(panel: Panel, agent: int, played: float, alone: float, said: Floats) -> None:
    """Keep what was said of a row; for alone NaN, if the agent has no row of its own."""
    said[SAID_PLAYED] = played
    said[SAID_ALONE] = alone if panel.number[agent, ROWS] >= 1.0 else math.nan
    for k in range(EXPERTS):
        said[SAID_EXPERTS + k] = panel.work.expert[WITH_OTHERS, k]
    for k in range(ALONE_EXPERTS):
        said[SAID_BY_ITSELF + k] = panel.work.expert[BY_ONESELF, k]


@inline
def judge(
    panel: Panel,
    agent: int,
    played: float,
    alone: float,
    wish: float,
    target: float,
    said: Floats,
) -> None:
    """Book the losses of a row: guard, accounts of the neighbours, weights of the experts.

    Guard and weights go by what was said when the row was predicted, since when neighbours may have
    learned from rows of the same moment; accounts go by what neighbours contribute now.
    """
    experts = panel.work.expert
    charge_neighbours(panel, agent, played, target)
    own, count = alone, FILTERS + 2 + panel.rows
    if math.isnan(said[SAID_ALONE]):
        # It was not predicted, so as if it were now; or before there was anything to stay close to.
        settle(panel, agent, alone, played if math.isnan(said[SAID_PLAYED]) else alone, target)
    else:
        settle(panel, agent, said[SAID_ALONE], said[SAID_PLAYED], target)
        wish = recall(said, SAID_EXPERTS, experts[WITH_OTHERS], experts[WEIGHTS], count)
        own = recall(said, SAID_BY_ITSELF, experts[BY_ONESELF], experts[OWN_WEIGHTS], ALONE_EXPERTS)
    slope_all = slope_of(panel, wish, target, panel.work.number[SIDE_SHARED + SPREAD])
    learn_weights(panel.mixer[agent], experts[WITH_OTHERS], wish, slope_all, count, ALONE_SHARE)
    weigh_evidence(panel.mixer[agent], panel.number[agent, EVIDENCE:], count, ALONE_SHARE)
    slope_own = slope_of(panel, own, target, panel.work.number[SIDE_OWN + SPREAD])
    learn_weights(panel.alone[agent], experts[BY_ONESELF], own, slope_own, ALONE_EXPERTS, 0.0)


@inline
def recall(said: Floats, first: int, predictions: Floats, weights: Floats, count: int) -> float:
    """Put back the predictions that experts made; their mixture with the weights of now."""
    for k in range(count):
        predictions[k] = said[first + k]
    return weighted_mean(predictions, weights, count)


@inline
def charge_neighbours(panel: Panel, agent: int, played: float, target: float) -> None:
    """Book in the neighbours' accounts what their contributions to the filters won or cost."""
    unit, weights = unit_of(panel, agent), panel.work.expert[WEIGHTS]
    of_filters = weights[0] + weights[1]
    if unit <= TINY or panel.number[agent, ROWS] < 2.0 or of_filters <= TINY:
        return
    first = panel.ptr[agent]
    for e in range(first + 1, panel.end[agent]):
        if panel.link[e, LISTENS] > 0.0:
            given = 0.0
            for f in range(FILTERS):
                given += weights[f] / of_filters * panel.work.reach[f, e - first]
            settle_neighbour(panel, e, unit, played, given, target)


@inline
def slope_of(panel: Panel, prediction: float, target: float, spread: float) -> float:
    """The derivative of the loss, in units of the targets' variance; a wild target is nearer."""
    if panel.logistic == 1:
        return 1.0 / (1.0 + math.exp(-prediction)) - target
    if spread <= TINY:
        return 0.0
    return 2.0 * between(-WILD, (prediction - target) / spread, WILD) / spread
