"""What the numbers say, in words that are computed from them."""

import itertools
from collections.abc import Iterator

import numpy as np

from mtcool.experiments import spec
from mtcool.experiments.results import Estimate, PointResults, Results, numbers_of, short

SAME = 1e-9  # a relative lead that is rounding


def findings(results: Results, figure: spec.Figure) -> Iterator[str]:
    """Sentences about one figure: who has the least regret where, and how regret grows."""
    for label, points in results.panels(figure):
        where = f"{results.title_of(figure.panels)} = {label}: " if figure.panels and label else ""
        if figure.x == "rounds":
            yield from (where + sentence for sentence in _slopes(points))
        elif figure.x == "time":
            yield from (where + _standing(point) for point in points)
        else:
            yield from (where + sentence for sentence in _along(points, figure.x, results))


def _along(points: list[PointResults], x: str, results: Results) -> Iterator[str]:
    """Along the axis: stretches with the same best algorithm, or category by category."""
    if numbers_of(points, x) is None:
        groups = [[point] for point in points]
    else:
        ordered = sorted(points, key=lambda p: p.sigma.mean()) if x == "sigma" else points
        groups = [list(g) for _, g in itertools.groupby(ordered, key=lambda p: p.ranking()[0])]
    for group in groups:
        yield _stretch(group[0].ranking()[0], group, x, results)


def verdicts(results: Results) -> Iterator[tuple[str, bool, str]]:
    """For every claim of the file: its text, whether it holds, and where it does not."""
    for claim in results.experiment.head.claim:
        points = [p.only(claim.among) for p in results.points if p.fits(claim.at)]
        against = [point for point in points if point.ranking()[0] != claim.best]
        if not against:
            close = [p for p in points if not p.difference(p.ranking()[1], claim.best).clear()]
            note = "" if not close else f", by less than two standard errors {_places(close)}"
            yield claim.text, True, f"{claim.best} has the least regret{note}"
            continue
        point = against[0]
        rival = point.ranking()[0]
        gap = point.difference(claim.best, rival)
        yield (
            claim.text,
            False,
            f"{rival} has less regret than {claim.best}, by {gap}"
            f"{'' if gap.clear() else ' (less than two standard errors)'}, {_places(against)}",
        )


def _standing(point: PointResults) -> str:
    ranking = [f"{name} {point.regret(name)}" for name in point.ranking()]
    return (
        f"after {point.times[-1]:,} rounds at σ̄ = {point.sigma.mean():.3f}: {', '.join(ranking)}."
    )


def _stretch(name: str, points: list[PointResults], x: str, results: Results) -> str:
    """A stretch of the axis on which one algorithm has the least regret."""
    ends = list(dict.fromkeys((_shown(points[0], x), _shown(points[-1], x))))
    axis = "σ̄" if x == "sigma" else results.title_of(x)
    where = f"at {axis} = {ends[0]}" if len(ends) == 1 else f"from {axis} = {ends[0]} to {ends[1]}"
    leads = [(point.ranking()[1], point) for point in points if len(point.names) > 1]
    if not leads:
        return f"{where} the regret of {name} is {points[0].regret(name)}."
    rival, point = min(leads, key=lambda lead: lead[1].difference(lead[0], name).mean)
    lead = point.difference(rival, name)
    regret = _range(points, name)
    if lead.mean <= SAME * abs(point.regret(name).mean):
        return f"{where} {name} has the least regret ({regret}), the same as {rival}."
    doubt = "" if lead.clear() else ", less than two standard errors"
    smallest = "its lead" if len(points) == 1 else "its smallest lead"
    return (
        f"{where} {name} has the least regret ({regret}); {smallest} is {lead} over {rival}{doubt}."
    )


def _slopes(points: list[PointResults]) -> Iterator[str]:
    """Growth in T: the slope of log regret against log T, one for each replicate."""
    horizons = np.log([point.times[-1] for point in points])
    for k, name in enumerate(points[0].names):
        finals = np.array([point.final[:, k] for point in points])
        if len(points) < 2 or (finals <= 0).any():
            yield f"{name}: regret is not positive everywhere, so its growth has no exponent."
            continue
        slope = Estimate.of(np.polyfit(horizons, np.log(finals), 1)[0])
        yield f"{name}: regret grows as T to the power {slope}."


def _shown(point: PointResults, x: str) -> str:
    return f"{point.sigma.mean():.3f}" if x == "sigma" else point.values[x]


def _range(points: list[PointResults], name: str) -> str:
    means = [point.regret(name).mean for point in points]
    if len(points) == 1:
        return str(points[0].regret(name))
    return f"{short(min(means))} to {short(max(means))}"


def _places(points: list[PointResults]) -> str:
    """At which points, or at how many of them if there are many."""
    if len(points) > 3:
        return f"at {len(points)} points"
    places = [
        ", ".join([*(f"{key} = {v}" for key, v in p.values.items()), f"σ̄ = {p.sigma.mean():.3f}"])
        for p in points
    ]
    return "at " + "; ".join(places)
