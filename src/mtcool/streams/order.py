"""The order in which rows are predicted and learned from, when targets arrive later."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mtcool.types import Integers
from mtcool.validation import numbers, vector


def progressive_order(time: ArrayLike, arrives: ArrayLike) -> Integers:
    """The events of progressive validation with delays, in the order of the clock.

    Event e >= 0 predicts row e, and event e < 0 learns from row ~e. A row is predicted at its time
    and learned from when its target arrives. Rows with one time stamp share what happened then, so
    all predictions of a time stamp come before anything that is learned at it.

    Parameters
    ----------
    time
        When each row is predicted.
    arrives
        When the target of each row is known, not before it is predicted.

    Returns
    -------
    Integers
        Two events for each row; those that are otherwise equal keep the order of the rows.

    Examples
    --------
    >>> progressive_order([0, 0, 1], [0, 1, 2])
    array([ 0,  1, -1,  2, -2, -3])
    """
    asked = numbers("time", time)
    if asked.ndim != 1:
        raise ValueError(f"time must be a vector, got shape {asked.shape}")
    known = vector("arrives", arrives, asked.size)
    check_arrivals(asked, known)
    rows = np.arange(asked.size)
    learns = np.repeat([False, True], asked.size)
    order = np.lexsort((learns, np.concatenate([asked, known])))
    return np.concatenate([rows, ~rows])[order]


def check_arrivals(time: ArrayLike, arrives: ArrayLike) -> None:
    """Refuse a target that is known before its row is predicted."""
    early = np.less(arrives, time)
    if early.any():
        row = int(early.argmax())
        raise ValueError(
            f"arrives must not be before time, got {np.asarray(arrives)[row]} "
            f"before {np.asarray(time)[row]} in row {row}"
        )
