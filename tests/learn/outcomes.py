"""Outcomes of passes that never were: predictions that are as good as one says."""

import numpy as np

from mtcool.graphs import ring
from mtcool.learn.metrics.evaluation import Evaluation, PredictedRows
from mtcool.learn.running.outcome import LearnOutcome


def outcome(
    errors,
    *,
    agents=6,
    rows=6000,
    task="regression",
    network="ring",
    names=None,
    seed=0,
    cold=3,
    **more,
):
    """An outcome in which predictor k errs with deviation `errors[k]` (of the log odds)."""
    rng = np.random.default_rng(seed)
    who = rng.integers(agents, size=rows)
    target = rng.normal(size=rows)
    deviations = np.array(errors)
    spread = deviations[who] if deviations.ndim == 2 else deviations
    predictions = target[:, np.newaxis] + spread * rng.normal(size=(rows, 1))
    if task == "classification":
        target = (target > 0).astype(float)
        predictions = 1 / (1 + np.exp(-2 * predictions))
    columns = ("learned", "alone", "pooled", "shuffled")[: predictions.shape[1]]
    evaluation = Evaluation(task, columns)
    places = np.arange(rows)
    time = 1.7e9 + 3600.0 * np.arange(rows)
    evaluation.add(PredictedRows(who, time, target, predictions, places < cold, places < 10))
    labels = names or [f"town {k}" for k in range(agents)]
    graph = ring(agents)
    if network == "ring":
        network = type(graph)(graph.ptr, graph.idx, labels)
    return LearnOutcome(
        name="towns.csv",
        target="demand",
        share="gradients",
        agents=tuple(labels),
        network=network,
        evaluation=evaluation,
        messages=100,
        message_bytes=12_345,
        dated=True,
        **more,
    )
