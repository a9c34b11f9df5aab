"""What agents tell each other, as rows of numbers.

An answer to a request holds what neighbours use of an agent's knowledge; a lesson holds what its
neighbours' cliques learn from one of its rows. `docs/learning.md` says what they reveal.
"""

from __future__ import annotations

import numpy as np

from mtcool.learners.panel.fields import (
    CLIQUE,
    EVIDENCE,
    EXPERTS,
    FILTER_SIZE,
    FILTERS,
    FIRST_FILTER,
    FIRST_LESSON,
    GRAPH,
    HIGHEST,
    LOWEST,
    MEAN,
    MISSED,
    MISSES,
    PRECISION,
    ROWS,
)
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

TOLD = (
    *(ROWS, LOWEST, HIGHEST, GRAPH + MISSED, GRAPH + MISSES),
    *range(EVIDENCE, EVIDENCE + EXPERTS),
)
"""Numbers of an agent that its neighbours are told."""


def knowledge_size(width: int) -> int:
    """Numbers in an answer, for features and target together `width`."""
    return len(TOLD) + (2 + FILTERS * (PRECISION + 1 - CLIQUE)) * width


def products_size(width: int) -> int:
    """Numbers in the sums of products of different columns; squares are in every answer."""
    return width * (width - 1) // 2


def lesson_size(width: int) -> int:
    """Numbers in a lesson."""
    return 2 * FILTERS * width


def knowledge_of(panel: Panel, agent: int) -> Floats:
    """What an agent tells a neighbour that asks."""
    vector = panel.vector[agent]
    parts = [panel.number[agent, list(TOLD)], vector[MEAN], np.diagonal(panel.scatter[agent])]
    for f in range(FILTERS):
        base = FIRST_FILTER + f * FILTER_SIZE
        parts.append(vector[base + CLIQUE : base + PRECISION + 1].ravel())
    return np.concatenate(parts)


def take_knowledge(panel: Panel, agent: int, numbers: Floats) -> None:
    """Write what a neighbour told into its row of a panel."""
    vector, width = panel.vector[agent], panel.vector.shape[2]
    panel.number[agent, list(TOLD)] = numbers[: len(TOLD)]
    rest = numbers[len(TOLD) :].reshape(-1, width)
    vector[MEAN] = rest[0]
    np.fill_diagonal(panel.scatter[agent], rest[1])
    count = PRECISION + 1 - CLIQUE
    for f in range(FILTERS):
        base = FIRST_FILTER + f * FILTER_SIZE
        vector[base + CLIQUE : base + PRECISION + 1] = rest[2 + f * count : 2 + (f + 1) * count]


def lesson_of(panel: Panel) -> Floats:
    """The lesson of the row that was learned from last."""
    return panel.work.vector[FIRST_LESSON : FIRST_LESSON + 2 * FILTERS].ravel()


def products_of(panel: Panel, agent: int) -> Floats:
    """The sums of products of an agent's rows, one for each pair of columns."""
    found: Floats = panel.scatter[agent][np.tril_indices(panel.vector.shape[2], -1)]
    return found


def take_products(panel: Panel, agent: int, numbers: Floats) -> None:
    """Write sums of products, if there are any, into an agent's row of a panel."""
    if len(numbers):
        panel.scatter[agent][np.tril_indices(panel.vector.shape[2], -1)] = numbers
