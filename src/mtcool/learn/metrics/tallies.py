"""Sums over groups of rows, and the metrics that follow from them."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from mtcool.learn.model import Task
from mtcool.types import Floats

Metrics: TypeAlias = dict[str, Floats]
"""Arrays of equal shape by the name of the metric."""

LEAST_PROBABILITY = 1e-15  # so that one certain mistake does not make a log loss infinite
HEAD = 3
"""Entries of a tally before the losses: rows, sum of targets, sum of squared targets."""


def losses(task: Task, target: Floats, predictions: Floats) -> Floats:
    """Two losses of each row (first axis) and predictor (second).

    Regression: squared and absolute error. Classification: log loss, and whether the class is
    wrong.
    """
    wanted = target[:, np.newaxis]
    if task == "regression":
        miss = predictions - wanted
        return np.stack([miss**2, np.abs(miss)], axis=2)
    right = np.where(wanted > 0.5, predictions, 1.0 - predictions)
    wrong = (predictions >= 0.5) != (wanted > 0.5)
    return np.stack([-np.log(np.maximum(right, LEAST_PROBABILITY)), wrong], axis=2)


def tally_rows(target: Floats, paid: Floats) -> Floats:
    """What each row adds to a tally; `paid` is from `losses`."""
    ones = np.ones_like(target)
    return np.concatenate(
        [np.stack([ones, target, target**2], axis=1), paid.reshape(len(target), -1)], axis=1
    )


def variance(tallies: Floats) -> Floats:
    """The variances of the targets in tallies, the last axis of which is one tally."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = tallies[..., 1] / tallies[..., 0]
        found: Floats = np.maximum(tallies[..., 2] / tallies[..., 0] - mean**2, 0.0)
    return found


def metrics_of(
    task: Task, names: Sequence[str], tallies: Floats, spread: Floats | None = None
) -> dict[str, Metrics]:
    """The metrics of every predictor by name, one number for each tally; NaN without rows.

    NMSE is the mean squared error over the variance of the targets, `spread` if it is given.

    Examples
    --------
    >>> target, predictions = np.array([1.0, 3.0]), np.array([[1.5], [2.5]])
    >>> tally = tally_rows(target, losses("regression", target, predictions)).sum(axis=0)
    >>> {key: float(value) for key, value in metrics_of("regression", ["a"], tally)["a"].items()}
    {'nmse': 0.25, 'rmse': 0.5, 'mae': 0.5}
    """
    by = variance(tallies) if spread is None else spread
    with np.errstate(invalid="ignore", divide="ignore"):
        means = tallies[..., HEAD:] / tallies[..., :1]
        nmse = means[..., ::2] / np.where(by > 0, by, np.nan)[..., np.newaxis]
    found = {}
    for k, name in enumerate(names):
        first, second = means[..., 2 * k], means[..., 2 * k + 1]
        if task == "classification":
            found[name] = {"logloss": first, "accuracy": 1.0 - second}
        else:
            found[name] = {"nmse": nmse[..., k], "rmse": np.sqrt(first), "mae": second}
    return found
