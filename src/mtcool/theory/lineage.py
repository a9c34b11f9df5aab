"""The experts of a clique that doubled its slots, each with those that it inherited from."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtcool.types import Floats

Experts: TypeAlias = Callable[[int], Floats]
"""The variances that the experts of a clique guess, ascending, as a function of its slots."""


def paper_experts(slots: int) -> Floats:
    """1/M, 2/M, ..., 1.

    Parameters
    ----------
    slots
        M.

    Examples
    --------
    >>> paper_experts(4)
    array([0.25, 0.5 , 0.75, 1.  ])
    """
    return np.arange(1, slots + 1) / slots


class Expert(NamedTuple):
    """The expert that a bound is about, and what it needs to know of its clique."""

    p: float
    """sqrt(1 + s), where s = xi (M - 1) is the squared deviation that it allows its rows."""
    steps: float
    """The largest M p / (M + 1) of it and its ancestors."""
    growth: float
    """What its regularisers lost at doublings, in units of beta."""
    restarts: float
    """What doublings cost Hedge, in units of beta."""
    focus: float
    """sqrt(ln K)."""
    widest: float
    """P, the largest p of the clique's experts; at least sqrt(M) if one of them is free."""
    variance: float
    """Squared deviation of the tasks over what the last expert admits; infinite if none does."""


class Lineage(NamedTuple):
    """The experts of a clique at the end of a run, one entry for each, ascending."""

    slots: int
    free_last: bool
    allowed: Floats
    """s = xi (M - 1)."""
    steps: Floats
    growth: Floats
    nested: NDArray[np.bool_]
    """Whether it and its ancestors never allowed what one before them did not."""
    restarts: float

    def first(self, deviation: float) -> Expert:
        """The first expert that allows tasks of this squared deviation, or the last one."""
        tolerance = 1e-9 * (self.slots - 1) / self.slots
        k = int(np.searchsorted(self.allowed, deviation - tolerance))
        k = min(k, len(self.allowed) - 1)
        admitted = self.allowed[-1] if deviation > 0.0 else 1.0
        return Expert(
            p=math.sqrt(1.0 + self.allowed[k]),
            steps=float(self.steps[k]),
            growth=float(self.growth[k]),
            restarts=self.restarts,
            focus=math.sqrt(math.log(len(self.allowed))),
            widest=math.sqrt(max(1.0 + self.allowed[-1], self.slots * self.free_last)),
            variance=deviation / admitted if self.nested[k] and admitted > 0.0 else math.inf,
        )


def lineage(start: int, slots: int, experts: Experts, free_last: bool) -> Lineage:
    """Experts of a clique that began with `start` slots (`docs/bounds.md`, "Slots that double")."""
    size, allowed = start, _allowed(start, experts)
    p = np.sqrt(1.0 + allowed)
    steps, growth = size * p / (size + 1.0), np.zeros(len(p))
    nested, restarts = np.ones(len(p), np.bool_), 0.0
    while size < slots:
        restarts += math.sqrt(math.log(len(p)))
        now = _allowed(2 * size, experts)
        parent = np.minimum(np.searchsorted(allowed, now - 1e-12), len(allowed) - 1)
        # How far the child's rows can be apart in the parent's slots; one row is not apart at all.
        apart = np.minimum(now, size)
        apart[-1] = size if free_last else apart[-1]
        apart *= size > 1
        inside = apart <= allowed[parent] + 1e-9
        inside |= free_last & (parent == len(allowed) - 1)
        own = np.sqrt(1.0 + now)
        loss = 0.5 / p[parent] - (2.0 * size + 1.0) / (4.0 * (size + 1.0) * own)
        growth = growth[parent] + np.maximum(loss, 0.0) * (1.0 + apart)
        nested = nested[parent] & inside
        size, allowed, p = 2 * size, now, own
        steps = np.maximum(steps[parent], size * p / (size + 1.0))
    return Lineage(size, free_last, allowed, steps, growth, nested, restarts)


def _allowed(slots: int, experts: Experts) -> Floats:
    """One row is not apart from itself: one expert, which plain FTRL is."""
    return np.asarray(experts(slots) * (slots - 1.0)) if slots > 1 else np.zeros(1)
