"""The bound of a theorem along a run, next to the measured regret.

A bound speaks of a whole run. The first t rounds of a run are a run, too, and an algorithm that
does not know how long it will run meets the bound for t rounds. One that is tuned to a horizon does
not: for it the bound of the whole run is taken at all times. That is correct, because the rounds
after t could have had no loss at all. The same is done for bounds in expectation, which would have
to be computed for every replicate at every time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mtcool.experiments.report.promises import (
    IN_EXPECTATION,
    KnownReplicate,
    PointPromises,
    Promise,
    bound_of,
    question_of,
)
from mtcool.experiments.report.results import PointResults, Results
from mtcool.types import Floats, Integers

PANELS = 4  # points to draw: more would be too small to read


@dataclass(frozen=True)
class BoundCurve:
    """One algorithm at one point."""

    algorithm: str
    times: Integers
    measured: Floats
    """Regret of the first replicate; the mean of all if the bound holds in expectation."""
    bound: Floats
    statement: str
    whole_run: bool
    """The bound is that of the whole run, at all times."""


def bound_curves(
    results: Results, promised: Sequence[PointPromises]
) -> Iterator[tuple[dict[str, str], list[BoundCurve]]]:
    """Curves of the algorithms that have a bound, at some points evenly spread over all of them."""
    bounded = [
        k
        for k, point in enumerate(promised)
        if len(results.points[k].agent_times) and any(row.ceiling is not None for row in point.rows)
    ]
    for k in bounded[:: max(1, -(-len(bounded) // PANELS))]:
        kept = KnownReplicate.of(results.firsts[k], results.points[k].cells[0])
        yield (
            results.points[k].values,
            [
                _curve(kept, results.points[k], row, position)
                for position, row in enumerate(promised[k].rows)
                if row.ceiling is not None
            ],
        )


def _curve(kept: KnownReplicate, point: PointResults, row: Promise, position: int) -> BoundCurve:
    on_average = row.statement.endswith(IN_EXPECTATION)
    curves = point.curves[:, position]
    regret = curves.mean(axis=0) if on_average else curves[0]
    times = point.agent_times
    question = question_of(kept, kept.replicate.point.algorithm[position])
    settings = question.settings
    whole_run = on_average or settings.horizon is not None or settings.privacy is not None
    bounds = [float(row.ceiling or 0.0)] * len(times)
    if not whole_run:
        for t, counts in enumerate(point.cells[0].activations[:-1]):
            first = question._replace(activations=np.array(counts))
            bound = bound_of(first, point.cells[0].runs[position])
            bounds[t] = np.nan if bound is None else bound.value
    return BoundCurve(
        algorithm=row.algorithm,
        times=times,
        measured=regret[np.isin(point.times, times)],
        bound=np.array(bounds),
        statement=row.statement,
        whole_run=whole_run,
    )
