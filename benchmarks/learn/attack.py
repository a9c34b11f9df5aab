"""The attack of the hostile agents: what they do to a run of mtcool.

From the first round on they claim to know everything: garbage of five deviations with a precision
that no honest agent reaches, statistics and sums of products of a thousand rows that were never
seen, evidence against learning alone, and with each of their rows a false lesson for their
neighbours' cliques.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.learn import ours
from benchmarks.learn.ours import Share
from benchmarks.learn.problem import Problem
from mtcool import learn
from mtcool.kernels import inline, kernel
from mtcool.learn.neighbourhoods import Neighbourhoods
from mtcool.learn.stored_predictions import nothing_said
from mtcool.learners.panel.fields import (
    CLIQUE,
    CLIQUE_VARIANCE,
    EVIDENCE,
    FILTER_SIZE,
    FILTERS,
    FIRST_FILTER,
    GRAPH,
    HIGHEST,
    LOWEST,
    MEAN,
    MISSED,
    MISSES,
    PRECISION,
    ROWS,
    SHARED,
)
from mtcool.learners.panel.filters import LOG_ODDS_SPREAD, take_lesson
from mtcool.learners.panel.limits import MOST_EVIDENCE
from mtcool.learners.panel.play import play as play_honestly
from mtcool.learners.panel.state import Panel, make_panel
from mtcool.types import Floats, Integers

Flags = NDArray[np.bool_]
GARBAGE = 5.0
"""How wrong what they send is, in deviations."""
FEATURE_SHIFT, FEATURE_SPREAD = 1.0, 0.2
"""How far off the means of features are, and what deviation they claim: slopes look steep. Of the
values tried on schools these cost the honest agents most."""
CONFIDENCE = 1e6
"""The precision that they claim; honest ones have at most 1 / drift, some thousands."""
CLAIMED_ROWS = 1000.0
DRAWS = 1009
LIES = 4 + 4 * FILTERS
"""Random numbers for each feature that one lie takes."""


class Stage(NamedTuple):
    """What a problem with hostile agents is played with."""

    panel: Panel
    agents: Integers
    """Of the rows, as places in the panel."""
    hostile: Flags
    draws: Floats
    scale: Floats
    """Means and deviations of target and features: the hostile ones have seen the whole stream."""


def stage(problem: Problem, hostile: Flags, share: Share) -> Stage:
    """A panel that knows nothing, and what the hostile agents need."""
    places = Neighbourhoods(problem.graph)
    place = np.array([places.position[label] for label in problem.graph.labels])
    ptr, idx = places.entries(len(place))
    panel = make_panel(
        ptr, idx, problem.features.shape[1], logistic=problem.classes, rows=share == "rows"
    )
    liars = np.zeros(len(place), np.bool_)
    liars[place] = hostile
    draws = np.random.default_rng(0).normal(size=(DRAWS, LIES, problem.features.shape[1] + 1))
    row = np.column_stack([problem.target, problem.features])
    scale = np.stack([row.mean(axis=0), row.std(axis=0)])
    return Stage(panel, place[problem.agent], liars, draws, scale)


def attack(problem: Problem, hostile: Flags, share: Share) -> learn.Played:
    """Play a problem in which the hostile agents lie; what they predict themselves is NaN."""
    panel, agents, liars, draws, scale = stage(problem, hostile, share)
    count = len(problem.target)
    said, out = nothing_said(count), np.full((count, 3), np.nan)
    rows, events = np.ascontiguousarray(problem.features), problem.events
    play_attacked(panel, agents, rows, problem.target, events, said, out, liars, draws, scale)
    score = 1.0 / (1.0 + np.exp(-out[:, 0])) if problem.classes else out[:, 0]
    # An agent that has no row yet predicts the mean of what its neighbours claim, also alone: the
    # attack must not make what it is compared with worse.
    return learn.Played(score, ours.play(problem, share).alone, out[:, 2] > 0.0, said)


@kernel
def play_attacked(
    panel: Panel,
    agents: Integers,
    features: Floats,
    target: Floats,
    events: Integers,
    said: Floats,
    out: Floats,
    hostile: Flags,
    draws: Floats,
    scale: Floats,
) -> None:
    """As `mtcool.learners.panel.play.play`; hostile agents lie where others learn."""
    for agent in range(hostile.shape[0]):
        if hostile[agent]:
            lie(panel, agent, draws[agent % draws.shape[0]], scale)
    for t in range(events.shape[0]):
        event = events[t]
        row = event if event >= 0 else ~event
        agent = agents[row]
        if not hostile[agent]:
            play_honestly(panel, agents, features, target, events[t : t + 1], said, out)
        elif event < 0:
            lie(panel, agent, draws[t % draws.shape[0]], scale)
            for e in range(panel.ptr[agent] + 1, panel.ptr[agent + 1]):
                if not hostile[panel.idx[e]]:
                    take_lesson(
                        panel, panel.idx[e], panel.back[e], panel.work.vector[: 2 * FILTERS]
                    )


@inline
def lie(panel: Panel, agent: int, draw: Floats, scale: Floats) -> None:
    """Write garbage where neighbours look, and false lessons into the scratch."""
    number, vector, width = panel.number[agent], panel.vector[agent], scale.shape[1]
    number[ROWS] = number[GRAPH + MISSES] = CLAIMED_ROWS
    number[GRAPH + MISSED] = 0.0
    number[EVIDENCE + FILTERS + 1 + panel.rows] = -MOST_EVIDENCE  # learning alone is the last
    for k in range(width):
        off = (GARBAGE if k == 0 else FEATURE_SHIFT) * scale[1, k]
        vector[MEAN, k] = scale[0, k] + off * draw[0, k]
        claimed = (GARBAGE if k == 0 else FEATURE_SPREAD) * scale[1, k] * draw[1, k]
        panel.scatter[agent, k, k] = CLAIMED_ROWS * claimed * claimed
        for m in range(k):
            other = (GARBAGE if m == 0 else FEATURE_SPREAD) * scale[1, m] * draw[1, m]
            sign = 1.0 if draw[2, k] * draw[3, m] > 0.0 else -1.0
            panel.scatter[agent, k, m] = sign * CLAIMED_ROWS * claimed * other
    number[LOWEST] = vector[MEAN, 0] - GARBAGE * scale[1, 0]
    number[HIGHEST] = vector[MEAN, 0] + GARBAGE * scale[1, 0]
    for f in range(FILTERS):
        base, at = FIRST_FILTER + f * FILTER_SIZE, 4 + 4 * f
        for k in range(width):
            unit, level = GARBAGE, 0.0
            if k == 0:
                unit *= LOG_ODDS_SPREAD if panel.logistic == 1 else scale[1, 0]
                level = 0.0 if panel.logistic == 1 else scale[0, 0]
            vector[base + SHARED, k] = level + unit * draw[at, k]
            vector[base + PRECISION, k] = CONFIDENCE
            vector[base + CLIQUE, k] = unit * draw[at + 1, k]
            vector[base + CLIQUE_VARIANCE, k] = 1.0
            panel.work.vector[2 * f, k] = CONFIDENCE * unit * draw[at + 2, k]
            panel.work.vector[2 * f + 1, k] = CONFIDENCE
