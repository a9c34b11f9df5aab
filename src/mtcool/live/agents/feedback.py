"""What agents learn from, as it is kept in a journal and told by applications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from mtcool.live.agents.driver import Feedback
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


class ToldLoss(Protocol):
    """A loss in plain values."""

    @property
    def kind(self) -> str:
        """Its name."""

    @property
    def row(self) -> Sequence[float]:
        """The numbers of its round."""

    @property
    def parameters(self) -> Sequence[float]:
        """The numbers of its kind."""


def told_feedback(gradient: Sequence[float] | None, loss: ToldLoss | None) -> Feedback:
    """The feedback of an application that has told a gradient or a loss.

    Examples
    --------
    >>> told_feedback([0.5], None)
    array([0.5])
    """
    if (gradient is None) == (loss is None):
        raise ValueError("one of gradient and loss must be given")
    if loss is None:
        return feedback_in(["gradient", gradient])
    return feedback_in(["loss", loss.kind, loss.parameters, loss.row])
