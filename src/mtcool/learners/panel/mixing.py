"""A mixture of experts: Bernstein online aggregation (Wintenberger 2017).

Each expert has a learning rate of its own, from the losses that it has had relative to the mixture;
losses are linearised, so the weights may find a combination better than every expert.
"""

from __future__ import annotations

import math

from mtcool.kernels import inline
from mtcool.learners.panel.constants import OVERFLOW
from mtcool.learners.panel.fields import LARGEST, REGRET, SQUARES
from mtcool.learners.panel.limits import MOST_EVIDENCE
from mtcool.types import Floats

SMALLEST = 1e-9
"""Losses below this, in variances of the targets, are none: they would be rounding errors."""


@inline
def rate(squares: float, largest: float, surprise: float) -> float:
    """The learning rate of an expert that has had a loss."""
    return min(0.5 / largest, math.sqrt(surprise / squares))


@inline
def surprise_of(prior: float) -> float:
    """How much an expert with this weight beforehand would have to prove."""
    return -math.log(min(prior, 0.5))


@inline
def mix(
    state: Floats,
    predictions: Floats,
    weights: Floats,
    priors: Floats,
    count: int,
    last_prior: float,
) -> float:
    """The weighted mean of the first `count` predictions; leaves the weights.

    Learning rates are for experts of which the last has the prior weight `last_prior`, if that is
    positive, and the others equal ones; `priors` may be others, and need not add up to one.
    """
    first, last = prior_of(0, count, last_prior), prior_of(count - 1, count, last_prior)
    of_first, of_last = surprise_of(first), surprise_of(last)
    greatest, highest = 0.0, 0.0
    for k in range(count):
        weights[k] = 0.0
        if state[LARGEST, k] > 0.0:
            surprise = of_last if k == count - 1 else of_first
            weights[k] = rate(state[SQUARES, k], state[LARGEST, k], surprise)
            greatest = max(greatest, weights[k])
    if greatest == 0.0:
        greatest = 1.0  # no expert has differed from the mixture
    for k in range(count):
        if weights[k] == 0.0:
            weights[k] = greatest  # one that never did
        exponent = weights[k] * state[REGRET, k]
        highest = exponent if k == 0 else max(highest, exponent)
    whole = 0.0
    for k in range(count):
        weights[k] *= priors[k] * math.exp(weights[k] * state[REGRET, k] - highest)
        whole += weights[k]
    for k in range(count):
        weights[k] /= whole
    return weighted_mean(predictions, weights, count)


@inline
def weighted_mean(predictions: Floats, weights: Floats, count: int) -> float:
    """Of the first `count` predictions; experts that agree are not rounded."""
    mean = predictions[0]
    for k in range(1, count):
        mean += weights[k] * (predictions[k] - predictions[0])
    return float(mean)


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
    first, last = prior_of(0, count, last_prior), prior_of(count - 1, count, last_prior)
    of_first, of_last = surprise_of(first), surprise_of(last)
    for k in range(count):
        loss = slope * (predictions[k] - mixture)
        loss = min(OVERFLOW, max(-OVERFLOW, loss))
        if abs(loss) > SMALLEST:
            state[LARGEST, k] = max(state[LARGEST, k], abs(loss))
            state[SQUARES, k] += loss * loss
            surprise = of_last if k == count - 1 else of_first
            own = rate(state[SQUARES, k], state[LARGEST, k], surprise)
            state[REGRET, k] -= loss + own * loss * loss


@inline
def weigh_evidence(state: Floats, evidence: Floats, count: int, last_prior: float) -> None:
    """What an agent's own rows say about its experts: logarithms of weights, the largest zero."""
    highest = -math.inf
    for k in range(count):
        evidence[k] = 0.0
        if state[LARGEST, k] > 0.0:
            surprise = surprise_of(prior_of(k, count, last_prior))
            own = rate(state[SQUARES, k], state[LARGEST, k], surprise)
            evidence[k] = own * state[REGRET, k]
        highest = max(highest, evidence[k])
    for k in range(count):
        evidence[k] = max(evidence[k] - highest, -MOST_EVIDENCE)
