"""Gains in percent, with their intervals, and the words that they are told in."""

from typing import NamedTuple

import numpy as np

from mtcool.learn.metrics.batch_means import Estimates
from mtcool.learn.metrics.tallies import Metrics
from mtcool.learn.model import Task
from mtcool.learn.running.outcome import LearnOutcome
from mtcool.reports.numbers import percent
from mtcool.types import Floats

LOSS: dict[Task, str] = {"regression": "squared error", "classification": "log loss"}


class Percent(NamedTuple):
    """A gain in percent of the loss of the other one, with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether there were rows enough for an interval."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    @property
    def sign(self) -> int:
        """1 for a sure gain, -1 for a sure loss, 0 where the interval covers zero."""
        return int(self.low > 0) - int(self.high < 0) if self.known else 0

    @property
    def interval(self) -> str:
        """The interval in words."""
        low, high = (self.low, self.high) if self.sign >= 0 else (-self.high, -self.low)
        return f"95 % interval: {percent(low)} to {percent(high)}"


def overall(outcome: LearnOutcome, other: str, of: str | None = None) -> Percent:
    """What sharing, or whoever is named, gains on another predictor, over all rows."""
    return _percent(outcome.evaluation.gain(other, of), outcome.evaluation.loss(other))


def ahead(outcome: LearnOutcome, other: str) -> Percent:
    """How much less loss another predictor has than sharing, in percent of that of sharing."""
    gain = outcome.evaluation.gain(other)
    return _percent(gain._replace(mean=-gain.mean), outcome.evaluation.loss("learned"))


def stretch_losses(metrics: dict[str, Metrics], name: str) -> Floats:
    """The loss of each stretch in which gains are counted."""
    found = metrics[name]
    return found["rmse"] ** 2 if "rmse" in found else found["logloss"]


def loss_of(outcome: LearnOutcome) -> str:
    """What the loss of a task is called."""
    return LOSS[outcome.evaluation.task]


def _percent(gain: Estimates, loss: float) -> Percent:
    mean, margin = float(gain.mean[0]), float(gain.margin[0])
    if not loss > 0:
        return Percent(0.0, np.nan, np.nan)
    # No loss is below zero, so nobody gains more than all of it, whatever the margin.
    high = min(100 * (mean + margin) / loss, 100.0)
    return Percent(100 * mean / loss, 100 * (mean - margin) / loss, high)
