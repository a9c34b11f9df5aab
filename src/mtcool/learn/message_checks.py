"""The check of numbers that neighbours tell: what no agent can have is refused.

A neighbour may lie, but its numbers must not make those of the agent that it tells NaN or infinite.
"""

from __future__ import annotations

import numpy as np

from mtcool.agents.received import MOST
from mtcool.learn.exchange import TOLD
from mtcool.learners.panel.fields import CLIQUE, CLIQUE_VARIANCE, FILTERS, PRECISION
from mtcool.learners.panel.limits import (
    LARGEST_PRODUCT,
    LARGEST_TOLD,
    MOST_EVIDENCE,
    ROUNDED,
)
from mtcool.types import Floats

TOLD_NUMBERS = len(TOLD)
"""Numbers at the beginning of an answer."""


def check_knowledge(numbers: Floats, width: int) -> None:
    """Refuse an answer that no agent can give."""
    rows, low, high, missed, misses, *evidence = numbers[:TOLD_NUMBERS]
    rest = numbers[TOLD_NUMBERS:].reshape(-1, width)
    _check_between("rows", rows, 0.0, MOST)
    if rows != np.floor(rows):
        raise ValueError(f"rows of a message must be a whole number, got {rows}")
    if rows > 0.0 or (low, high) != (np.inf, -np.inf):
        _check_between("smallest and largest target", [low, high], -LARGEST_TOLD, LARGEST_TOLD)
    _check_between("squared errors", [missed], 0.0, LARGEST_PRODUCT)
    _check_between("number of errors", [misses], 0.0, MOST)
    _check_between("evidence", evidence, -MOST_EVIDENCE, 0.0)
    _check_between("means", rest[0], -LARGEST_TOLD, LARGEST_TOLD)
    _check_between("squares", rest[1], 0.0, LARGEST_PRODUCT)
    parts = rest[2:].reshape(FILTERS, -1, width)
    _check_between("levels and slopes", parts, -LARGEST_TOLD, LARGEST_TOLD)
    uncertain = parts[:, [CLIQUE_VARIANCE - CLIQUE, PRECISION - CLIQUE]]
    _check_between("variances and precisions", uncertain, 0.0, LARGEST_TOLD)


def check_lesson(numbers: Floats, width: int) -> None:
    """Refuse a lesson that no agent can send."""
    parts = numbers.reshape(FILTERS, 2, width)
    _check_between("gradients", parts[:, 0], -LARGEST_TOLD, LARGEST_TOLD)
    _check_between("information", parts[:, 1], 0.0, LARGEST_TOLD)


def check_products(numbers: Floats, knowledge: Floats, width: int) -> None:
    """Refuse sums that no rows have: products of two features are bounded by their squares."""
    if len(numbers):
        squares = knowledge[TOLD_NUMBERS:].reshape(-1, width)[1]
        first, second = np.tril_indices(width, -1)
        most = ROUNDED * np.sqrt(squares[first]) * np.sqrt(squares[second])
        most += 1.0 / LARGEST_PRODUCT  # squares may have vanished
        _check_between("products", numbers, -most, most)


def _check_between(
    name: str, given: Floats | list[float], least: Floats | float, most: Floats | float
) -> None:
    numbers = np.asarray(given)
    wrong = ~((numbers >= least) & (numbers <= most))  # NaN is neither
    if wrong.any():
        found = numbers[wrong][0]
        raise ValueError(f"{name} of a message must be what an agent can have, got {found}")
