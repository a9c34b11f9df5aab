"""Streams: losses, tasks, activations, ready synthetic streams made of them, and real ones."""

from typing import TYPE_CHECKING

from mtcool.kernels import inline
from mtcool.lazy import attach
from mtcool.seeds import Seed
from mtcool.streams.kinds import KINDS, kind_of, make_kind, name_of
from mtcool.streams.loss import Loss
from mtcool.streams.losses import (
    Kind,
    Linear,
    Losses,
    Quadratic,
    check,
    dim,
    linear,
    lipschitz,
    quadratic,
    rounds,
    subgradient,
    value,
    width,
)
from mtcool.streams.regression import (
    Absolute,
    Hinge,
    Logistic,
    Squared,
    absolute,
    examples,
    hinge,
    logistic,
    squared,
)

if TYPE_CHECKING:
    from mtcool.streams.activations import bursts, round_robin, sequence, stochastic
    from mtcool.streams.adversaries import multitask_adversary, regular_family, twice_independent
    from mtcool.streams.checking import check_loss
    from mtcool.streams.gaussian import gaussian_tasks
    from mtcool.streams.hindsight import best_in_hindsight
    from mtcool.streams.order import progressive_order
    from mtcool.streams.real.births import births
    from mtcool.streams.real.flights import flights
    from mtcool.streams.real.schools import schools
    from mtcool.streams.stream import Stream
    from mtcool.streams.synthetic import linear_stream, quadratic_stream, regression_stream
    from mtcool.streams.table import Table
    from mtcool.streams.tasks import (
        local_variances,
        mean_local_deviation,
        tasks_in_groups,
        tasks_with_variance,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "activations": ("bursts", "round_robin", "sequence", "stochastic"),
            "adversaries": ("multitask_adversary", "regular_family", "twice_independent"),
            "checking": ("check_loss",),
            "gaussian": ("gaussian_tasks",),
            "hindsight": ("best_in_hindsight",),
            "order": ("progressive_order",),
            "real": ("births", "flights", "schools"),
            "stream": ("Stream",),
            "synthetic": ("linear_stream", "quadratic_stream", "regression_stream"),
            "table": ("Table",),
            "tasks": (
                "local_variances",
                "mean_local_deviation",
                "tasks_in_groups",
                "tasks_with_variance",
            ),
        },
    )

__all__ = [
    "KINDS",
    "Absolute",
    "Hinge",
    "Kind",
    "Linear",
    "Logistic",
    "Loss",
    "Losses",
    "Quadratic",
    "Seed",
    "Squared",
    "Stream",
    "Table",
    "absolute",
    "best_in_hindsight",
    "births",
    "bursts",
    "check",
    "check_loss",
    "dim",
    "examples",
    "flights",
    "gaussian_tasks",
    "hinge",
    "inline",
    "kind_of",
    "linear",
    "linear_stream",
    "lipschitz",
    "local_variances",
    "logistic",
    "make_kind",
    "mean_local_deviation",
    "multitask_adversary",
    "name_of",
    "progressive_order",
    "quadratic",
    "quadratic_stream",
    "regression_stream",
    "regular_family",
    "round_robin",
    "rounds",
    "schools",
    "sequence",
    "squared",
    "stochastic",
    "subgradient",
    "tasks_in_groups",
    "tasks_with_variance",
    "twice_independent",
    "value",
    "width",
]
