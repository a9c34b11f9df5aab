"""A mixture of experts: Bernstein online aggregation (Wintenberger 2017).

Each expert has a learning rate of its own, from the losses that it has had relative to the mixture;
losses are linearised, so the weights may find a combination better than every expert.
"""

from __future__ import annotations

import math

from mtcool.kernels import inline
from mtcool.learners.panel.constants import OVERFLOW
from mtcool.learners.panel.fields import LARGEST, REGRET, SQUARES
from mtcool.types import Floats

SMALLEST = 1e-100
"""Losses below this are none: their squares would be zero."""


@inline
def rate(squares: float, largest: float, prior: float) -> float:
    """The learning rate of an expert that has had a loss."""
    return min(0.5 / largest, math.sqrt(-math.log(min(prior, 0.5)) / squares))


@inline
def mix(
    state: Floats, predictions: Floats, weights: Floats, count: int, last_prior: float
) -> float:
    """The weighted mean of the first `count` predictions; leaves the weights.

    The last expert has the prior weight `last_prior` if that is positive, the others equal ones.
    """
    greatest = 0.0
    for k in range(count):
        if state[LARGEST, k] > 0.0:
            prior = prior_of(k, count, last_prior)
            greatest = max(greatest, rate(state[SQUARES, k], state[LARGEST, k], prior))
    highest = -math.inf
    for k in range(count):
        prior = prior_of(k, count, last_prior)
        weights[k] = math.log(prior)
        if greatest > 0.0:
            own = greatest  # of an expert that never differed from the mixture
            if state[LARGEST, k] > 0.0:
                own = rate(state[SQUARES, k], state[LARGEST, k], prior)
            weights[k] += math.log(own) + own * state[REGRET, k]
        highest = max(highest, weights[k])
    total, mixture = 0.0, 0.0
    for k in range(count):
        weights[k] = math.exp(weights[k] - highest)
        total += weights[k]
    for k in range(count):
        weights[k] /= total
        mixture += weights[k] * predictions[k]
    return mixture


@inline
def prior_of(k: int, count: int, last_prior: float) -> float:
    """The weight of expert k beforehand."""
    if last_prior <= 0.0:
        return 1.0 / count
    return last_prior if k == count - 1 else (1.0 - last_prior) / (count - 1)


@inline
def learn_weights(
    state: Floats, predictions: Floats, mixture: float, slope: float, count: int, last_prior: float
) -> None:
    """Update the regrets; `slope` is the derivative of the loss at the mixture."""
    for k in range(count):
        loss = slope * (predictions[k] - mixture)
        loss = min(OVERFLOW, max(-OVERFLOW, loss))
        if abs(loss) > SMALLEST:
            state[LARGEST, k] = max(state[LARGEST, k], abs(loss))
            state[SQUARES, k] += loss * loss
            own = rate(state[SQUARES, k], state[LARGEST, k], prior_of(k, count, last_prior))
            state[REGRET, k] -= loss + own * loss * loss
