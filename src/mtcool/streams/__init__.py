"""Streams: losses, tasks, activations, and ready synthetic streams made of them."""

from mtcool.seeds import Seed
from mtcool.streams.activations import bursts, round_robin, sequence, stochastic
from mtcool.streams.adversaries import (
    multitask_adversary,
    regular_family,
    twice_independent,
)
from mtcool.streams.gaussian import gaussian_tasks
from mtcool.streams.losses import (
    LinearLosses,
    Losses,
    QuadraticLosses,
    dim,
    linear,
    lipschitz,
    quadratic,
    rounds,
    subgradient,
    value,
)
from mtcool.streams.regression import (
    AbsoluteLosses,
    HingeLosses,
    LogisticLosses,
    SquaredLosses,
    absolute,
    hinge,
    logistic,
    squared,
)
from mtcool.streams.stream import Loss, Stream, best_in_hindsight
from mtcool.streams.synthetic import linear_stream, quadratic_stream, regression_stream
from mtcool.streams.tasks import (
    local_variances,
    mean_local_deviation,
    tasks_with_variance,
)

__all__ = [
    "AbsoluteLosses",
    "HingeLosses",
    "LinearLosses",
    "LogisticLosses",
    "Loss",
    "Losses",
    "QuadraticLosses",
    "Seed",
    "SquaredLosses",
    "Stream",
    "absolute",
    "best_in_hindsight",
    "bursts",
    "dim",
    "gaussian_tasks",
    "hinge",
    "linear",
    "linear_stream",
    "lipschitz",
    "local_variances",
    "logistic",
    "mean_local_deviation",
    "multitask_adversary",
    "quadratic",
    "quadratic_stream",
    "regression_stream",
    "regular_family",
    "round_robin",
    "rounds",
    "sequence",
    "squared",
    "stochastic",
    "subgradient",
    "tasks_with_variance",
    "twice_independent",
    "value",
]
