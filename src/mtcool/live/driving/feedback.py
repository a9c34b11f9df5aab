"""What agents learn from, as it is kept in a journal."""

from __future__ import annotations

import numpy as np

from mtcool.live.driving.driver import Feedback
from mtcool.streams import Loss
from mtcool.streams.kinds import kind_of, name_of
from mtcool.types import Given


def packed_feedback(feedback: Feedback) -> list[object]:
    """A list of plain values.

    Examples
    --------
    >>> packed_feedback(2.5)
    ['target', 2.5]
    """
    if isinstance(feedback, Loss):
        kind = name_of(feedback.kind), list(feedback.kind)
        return ["loss", *kind, feedback.row.tolist()]
    if isinstance(feedback, np.ndarray):
        return ["gradient", feedback.tolist()]
    return ["target", float(feedback)]


def feedback_in(packed: Given) -> Feedback:
    """The feedback in a list that `packed_feedback` has made.

    Examples
    --------
    >>> feedback_in(["gradient", [0.5]])
    array([0.5])
    """
    match packed:
        case ["target", value]:
            return float(value)
        case ["gradient", values]:
            return np.array(values, dtype=np.float64)
        case ["loss", kind, parameters, row]:
            return Loss(kind_of(kind, parameters), row)
    raise ValueError(f"feedback must be a target, a gradient or a loss, got {packed!r}")
