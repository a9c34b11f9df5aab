"""Words for where the gradient bound L is too small for the gradients, or far too large.

Clipped gradients are counted. What a gradient can at most be is known beforehand, on the ball that
an algorithm is given.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mtcool.config import schema
from mtcool.config.algorithms import learner_of
from mtcool.experiments.report.results import PointResults, Results
from mtcool.learners import KT, MTFTRLKT
from mtcool.reports.numbers import short

FAR = 2.0  # times the longest gradient: from there on L wastes more than rounding


@dataclass(frozen=True)
class _Fit:
    """One algorithm at one point."""

    algorithm: schema.AlgorithmSpec
    point: PointResults
    runs: int
    clipped: int
    """Runs in which gradients were clipped."""
    share: float
    """Clipped gradients over rounds, in the run with most of them."""
    longest: float
    """No gradient on the ball was longer, in any replicate."""

    @property
    def given(self) -> float:
        """L, or what an algorithm without one measured."""
        return self.longest if self.algorithm.lipschitz == "adaptive" else self.algorithm.lipschitz

    @property
    def spare(self) -> float:
        """L over the longest gradient; 0 for flat losses, which need no L."""
        return self.given / self.longest if self.longest > 0.0 else 0.0


def gradient_words(results: Results) -> Iterator[str]:
    """At most two sentences: gradients that were clipped, and an L far above all of them."""
    fits = list(_fits(results))
    clipped = [fit for fit in fits if fit.clipped]
    if clipped:
        yield _too_small(results, fits, clipped)
    names = dict.fromkeys(fit.algorithm.name for fit in fits)
    loose = [
        name
        for name in names
        if all(f.spare >= FAR and not f.clipped for f in fits if f.algorithm.name == name)
    ]
    if loose:
        yield _too_large([fit for fit in fits if fit.algorithm.name in loose], loose)


def _fits(results: Results) -> Iterator[_Fit]:
    for described, point in zip(results.experiment.points, results.points, strict=True):
        for k, algorithm in enumerate(described.algorithm):
            runs = [cell.runs[k] for cell in point.cells]
            yield _Fit(
                algorithm,
                point,
                len(runs),
                sum(run.clipped > 0 for run in runs),
                max(run.clipped for run in runs) / described.rounds,
                max(run.longest_gradient for run in runs),
            )


def _too_small(results: Results, fits: list[_Fit], clipped: list[_Fit]) -> str:
    worst = min(clipped, key=lambda fit: fit.spare)
    count, of = sum(fit.clipped for fit in clipped), sum(fit.runs for fit in fits)
    share = max(fit.share for fit in clipped)
    often = f"in up to {short(100.0 * share, 2)} % of the rounds" if share < 1.0 else "in any round"
    place = ", ".join(f"{results.title_of(k)} = {v}" for k, v in worst.point.values.items())
    where = f" at {place}" if place else ""
    return (
        f"L is too small: gradients were longer and were clipped in {count} of {of} runs, "
        f"{often}, most of all with {worst.algorithm.name}{where}, where L = "
        f"{worst.given:g}. " + (_left(worst) if worst.spare >= 1.0 else _advice(clipped))
    )


def _too_large(fits: list[_Fit], names: list[str]) -> str:
    bounds = sorted({fit.given for fit in fits})
    shown = " to ".join(f"{bound:g}" for bound in dict.fromkeys((bounds[0], bounds[-1])))
    return (
        f"L is larger than it need be, which makes steps smaller: {shown} for {', '.join(names)}. "
        + _advice(fits)
    )


def _advice(fits: list[_Fit]) -> str:
    fit = max(fits, key=lambda fit: fit.longest)
    kt = any(isinstance(learner_of(one.algorithm), KT | MTFTRLKT) for one in fits)
    limit = ", which KT may leave," if kt else ""
    return (
        f"On the ball of radius {fit.algorithm.radius:g}{limit} no gradient is longer than "
        f"{short(fit.longest)}: use lipschitz = {upwards(fit.longest)}."
    )


def _left(fit: _Fit) -> str:
    """Explain gradients that are longer than any on the ball: predictions left it."""
    one = fit.algorithm
    return (
        f"Predictions left the ball of radius {one.radius:g}, on which no gradient is longer than "
        f"{short(fit.longest)}: try lipschitz = {upwards(2.0 * fit.given)}."
    )


def upwards(number: float, digits: int = 3) -> str:
    """Round a positive number up to a few digits, as one writes it in a file.

    Examples
    --------
    >>> upwards(1.2341), upwards(12345.0), upwards(1.0)
    ('1.24', '12400', '1')
    """
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(number)))
    return f"{math.ceil(number * scale * (1.0 - 1e-12)) / scale:.10g}"
