"""What a prediction costs when its target, or its loss, is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from mtcool.live.agents import Feedback, Prediction
from mtcool.live.config import Description
from mtcool.streams import Loss
from mtcool.streams.kinds import kind_of
from mtcool.streams.regression import cost

SMALLEST = 1e-15
"""Probabilities are kept so far from 0 and 1, where the log loss is infinite."""


class Cost(NamedTuple):
    """The loss of a prediction, and that of the agent by itself; None where it is not known."""

    loss: float | None
    alone: float | None


Judge: TypeAlias = Callable[[Prediction, Feedback], Cost]
Price: TypeAlias = Callable[[float, float], float]
"""The loss of a prediction, given it and its target."""


def price_of(description: Description) -> Price | None:
    """The loss that predictions of a network are judged by; None if each round has its own.

    Examples
    --------
    >>> from mtcool.live.config import described
    >>> network = described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...     "learn": {"features": ["x"]}, "shards": {"count": 1}})
    >>> price_of(network)(3.0, 1.0)
    4.0
    """
    learn, table = description.file.learn, description.file.algorithm
    if learn is not None:
        return _squared if learn.task == "regression" else _log_loss
    if table is None or table.loss is None:
        return None
    kind = kind_of(table.loss)
    its_cost = cost.dispatch(type(kind))  # looked up once: every round asks twice
    return lambda value, target: float(its_cost(kind, value, target))


def judge_of(description: Description) -> Judge:
    """What rounds of a network cost, from the prediction and what was learned from.

    An agent that learns from tables knows nothing by itself before its first target: such rounds
    are not judged, so that both sums are over the same rounds.
    """
    price, table = price_of(description), description.file.learn is not None

    def judge(said: Prediction, feedback: Feedback) -> Cost:
        if isinstance(feedback, Loss):
            if isinstance(said.value, tuple):
                return Cost(feedback.value(said.value), None)
            return Cost(None, None)
        if price is None or not isinstance(feedback, float) or not isinstance(said.value, float):
            return Cost(None, None)
        if table and said.alone is None:
            return Cost(None, None)
        alone = None if said.alone is None else price(said.alone, feedback)
        return Cost(price(said.value, feedback), alone)

    return judge


def _squared(value: float, target: float) -> float:
    return (value - target) ** 2


def _log_loss(value: float, target: float) -> float:
    chance = min(max(value if target == 1.0 else 1.0 - value, SMALLEST), 1.0)
    return -math.log(chance)
