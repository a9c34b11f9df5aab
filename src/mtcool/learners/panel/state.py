"""What the agents of a panel keep, all of them in one block of arrays.

A *panel* is a set of related regression or classification tasks, one for each agent. Everything
that an agent keeps has its number or its numbers for each feature in one row of these arrays, so an
agent by itself is a block with few rows: its own, and copies of its neighbours' (`agent.py` of
`mtcool.learn`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mtcool.axes import AGENT, FEATURE, LINK, VECTOR, set_axes
from mtcool.learners.panel.constants import (
    CLIQUE_PRIOR,
    PERSONAL_VARIANCE,
    RIDGE_LEVEL_VARIANCE,
    SLOPE_SHARE,
    SLOPE_VARIANCE,
    TRUST,
)
from mtcool.learners.panel.fields import (
    ACCOUNT,
    ALONE,
    ALONE_EXPERTS,
    APART,
    BETWEEN,
    CLIQUE_VARIANCE,
    EXPERTS,
    FILTER_SIZE,
    FILTERS,
    FIRST_FILTER,
    GRAPH,
    HIGHEST,
    ITS_PRECISION,
    LOWEST,
    NOISE,
    NUMBERS,
    NUMBERS_OF_A_ROUND,
    OWN_VARIANCE,
    PRECISION,
    VECTORS,
    VECTORS_OF_A_ROUND,
)
from mtcool.types import Floats, Integers


class Scratch(NamedTuple):
    """Memory for one round; nothing in it lasts."""

    vector: Floats
    """(VECTORS_OF_A_ROUND, features + 1)."""
    matrix: Floats
    """(2, features + 1, features + 1): sums of products, and a system that is solved."""
    reach: Floats
    """(FILTERS + 3, largest neighbourhood): what each neighbour contributes, and factors."""
    expert: Floats
    """(6, EXPERTS): predictions, weights and prior weights, with neighbours and alone."""
    number: Floats
    """(NUMBERS_OF_A_ROUND,)."""


class Panel(NamedTuple):
    """All agents of a panel.

    Entry e in ptr[i]:end[i] says that agent i listens to agent `idx[e]`; the first is itself.
    Those from end[i] to ptr[i + 1] are room for neighbours that may join.
    """

    ptr: Integers
    end: Integers
    idx: Integers
    back: Integers
    """The entry of the same pair seen from the other side."""
    link: Floats
    """(entries, 2)."""
    number: Floats
    """(agents, NUMBERS)."""
    vector: Floats
    """(agents, VECTORS, features + 1)."""
    scatter: Floats
    """Sums of products of deviations from the means, (agents, features + 1, features + 1)."""
    mixer: Floats
    """(agents, 3, EXPERTS) regrets, squares and largest losses with neighbours."""
    alone: Floats
    """(agents, 3, ALONE_EXPERTS), the same for learning alone."""
    logistic: int
    """1 for classification, 0 for regression."""
    rows: int
    """1 where agents tell their neighbours the sums of products of their rows, else 0."""
    work: Scratch


set_axes(
    Panel,
    link=LINK,
    number=AGENT,
    vector=(AGENT, VECTOR, FEATURE),
    scatter=(AGENT, FEATURE, FEATURE),
    mixer=AGENT,
    alone=AGENT,
)


def make_panel(
    ptr: Integers,
    idx: Integers,
    features: int,
    *,
    logistic: bool,
    rows: bool,
    end: Integers | None = None,
    back: Integers | None = None,
) -> Panel:
    """A fresh panel for agents that listen to each other as these entries say.

    Without `end` all entries are used. `back` is given for an agent by itself, whose neighbours
    have no entries here.
    """
    count, width, entries = len(ptr) - 1, features + 1, len(idx)
    number = np.zeros((count, NUMBERS))
    vector = np.zeros((count, VECTORS, width))
    panel = Panel(
        ptr=ptr,
        end=ptr[1:].copy() if end is None else end,
        idx=idx,
        back=reverse_entries(ptr, idx) if back is None else back,
        link=np.ones((entries, 2)),
        number=number,
        vector=vector,
        scatter=np.zeros((count, width, width)),
        mixer=np.zeros((count, 3, EXPERTS)),
        alone=np.zeros((count, 3, ALONE_EXPERTS)),
        logistic=int(logistic),
        rows=int(rows),
        work=make_scratch(ptr, width),
    )
    set_up_agents(panel, 0)
    set_up_features(panel, 0)
    panel.link[:, ACCOUNT] = TRUST
    return panel


def make_scratch(ptr: Integers, width: int) -> Scratch:
    """Scratch for neighbourhoods of this size and so many numbers for each agent."""
    largest = int(np.diff(ptr).max(initial=1))
    return Scratch(
        np.zeros((VECTORS_OF_A_ROUND, width)),
        np.zeros((2, width, width)),
        np.zeros((FILTERS + 3, largest)),
        np.zeros((6, EXPERTS)),
        np.zeros(NUMBERS_OF_A_ROUND),
    )


def set_up_agents(panel: Panel, first: int) -> None:
    """Give the agents from `first` on the numbers of one that has seen nothing."""
    number = panel.number[first:]
    number[:, LOWEST], number[:, HIGHEST] = np.inf, -np.inf
    number[:, BETWEEN] = RIDGE_LEVEL_VARIANCE
    number[:, GRAPH + NOISE] = number[:, ALONE + NOISE] = 1.0
    number[:, GRAPH + APART] = number[:, ALONE + APART] = RIDGE_LEVEL_VARIANCE
    set_up_features(panel, 0, first)


def set_up_features(panel: Panel, column: int, first: int = 0) -> None:
    """Give the columns from `column` on, of the agents from `first` on, their prior variances."""
    prior = np.full(panel.vector.shape[2], SLOPE_SHARE)
    prior[0] = 1.0
    precision = np.full(panel.vector.shape[2], 1.0 / SLOPE_VARIANCE)
    # The level of regression targets may be anything; log-odds are small.
    precision[0] = 1.0 if panel.logistic else 0.0
    for f in range(FILTERS):
        part = panel.vector[first:, FIRST_FILTER + f * FILTER_SIZE :, column:]
        part[:, OWN_VARIANCE] = PERSONAL_VARIANCE * prior[column:]
        part[:, CLIQUE_VARIANCE] = CLIQUE_PRIOR * prior[column:]
        part[:, PRECISION] = part[:, ITS_PRECISION] = precision[column:]


def reverse_entries(ptr: Integers, idx: Integers) -> Integers:
    """For every entry (i, j) the entry (j, i)."""
    owner = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    order = np.lexsort((owner, idx))  # by neighbour, then owner: the entries (j, i) in order
    back = np.empty(len(idx), np.int64)
    back[np.lexsort((idx, owner))] = order
    return back
