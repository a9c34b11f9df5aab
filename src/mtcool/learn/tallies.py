"""Sums over groups of rows, and the metrics that follow from them."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from mtcool.types import Floats

Task: TypeAlias = Literal["regression", "classification"]
Metrics: TypeAlias = dict[str, float]

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


def variance(tally: Floats) -> float:
    """The variance of the targets in a tally."""
    rows, total, squares = (float(entry) for entry in tally[:HEAD])
    return max(squares / rows - (total / rows) ** 2, 0.0) if rows else float("nan")


def metrics_of(
    task: Task, names: Sequence[str], tally: Floats, spread: float | None = None
) -> dict[str, Metrics]:
    """The metrics of every predictor by name.

    NMSE is the mean squared error over the variance of the targets, `spread` if it is given.

    Examples
    --------
    >>> target, predictions = np.array([1.0, 3.0]), np.array([[1.5], [2.5]])
    >>> tally = tally_rows(target, losses("regression", target, predictions)).sum(axis=0)
    >>> metrics_of("regression", ["learned"], tally)
    {'learned': {'nmse': 0.25, 'rmse': 0.5, 'mae': 0.5}}
    """
    rows = float(tally[0])
    means = tally[HEAD:].reshape(-1, 2) / rows if rows else np.full((len(names), 2), np.nan)
    if task == "classification":
        return {
            name: {"logloss": float(log), "accuracy": 1.0 - float(wrong)}
            for name, (log, wrong) in zip(names, means, strict=True)
        }
    by = variance(tally) if spread is None else spread
    return {
        name: {
            "nmse": float(squared) / by if by > 0 else float("nan"),
            "rmse": float(np.sqrt(squared)),
            "mae": float(absolute),
        }
        for name, (squared, absolute) in zip(names, means, strict=True)
    }
