"""Checks of what callers of a model pass; whatever is refused has changed nothing."""

from __future__ import annotations

import numpy as np

from mtcool import validation
from mtcool.learners.panel.constants import OVERFLOW
from mtcool.types import Floats, Given, Integers


def target_of(y: float, *, classes: bool) -> float:
    """One target; plain numbers pass without the detour over arrays."""
    plain = type(y) in (float, int) and -OVERFLOW <= y <= OVERFLOW
    if plain and (not classes or y in (0, 1)):
        return float(y)
    return float(targets_of([y], 1, classes=classes)[0])


def targets_of(y: Given, count: int, *, classes: bool) -> Floats:
    """So many targets; `classes` are 0 and 1."""
    targets = validation.vector("y", np.asarray(y), count)
    check_targets(targets, classes=classes)
    return targets


def check_targets(targets: Floats, *, classes: bool) -> None:
    """Refuse targets that are not finite, too large, or no classes."""
    if not np.isfinite(targets).all():
        raise ValueError(f"y must be finite, got {targets[~np.isfinite(targets)][0]}")
    large = np.abs(targets) > OVERFLOW
    if large.any():
        raise ValueError(f"y must be at most {OVERFLOW:g} in size, got {targets[large][0]}")
    wrong = (targets != 0.0) & (targets != 1.0)
    if classes and wrong.any():
        raise ValueError(f"y must be 0 or 1 in classification, got {targets[wrong][0]}")


def integers(name: str, given: Given) -> Integers:
    """A list of whole numbers as an array."""
    array = np.asarray(given)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        raise ValueError(f"{name} must be a list of whole numbers, got {array.dtype} {array.shape}")
    return np.ascontiguousarray(array, dtype=np.int64)


def check_within(name: str, array: Integers, least: int, limit: int) -> None:
    """Refuse numbers below the least, or at the limit and above."""
    if len(array) and (array.min() < least or array.max() >= limit):
        wrong = array[(array < least) | (array >= limit)][0]
        raise ValueError(f"{name} must be from {least} to {limit - 1}, got {wrong}")
