"""What the numbers say, in words that are computed from them."""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from mtcool.experiments.files import spec
from mtcool.experiments.report.cutoff import payoff_words
from mtcool.experiments.report.frontier import frontier_words
from mtcool.experiments.report.promises import IN_EXPECTATION, PointPromises
from mtcool.experiments.report.results import Estimate, PointResults, Results, numbers_of
from mtcool.reports.numbers import short

SAME = 1e-9  # a relative lead that is rounding
SHOWN = 3  # points that speak against a claim


def findings(results: Results, figure: spec.Figure) -> Iterator[str]:
    """Sentences about one figure: who has the least regret where, and how regret grows."""
    for label, points in results.panels(figure):
        where = f"{results.title_of(figure.panels)} = {label}: " if figure.panels and label else ""
        if figure.x == "rounds":
            yield from (where + sentence for sentence in _slopes(points))
        if figure.x == "time":
            yield from (where + _standing(point) for point in points)
        elif figure.x in spec.TRAFFIC:
            told = frontier_words(results, points, figure.x)
            yield from (where + sentence for sentence in told)
        else:
            varied = [name for name in points[0].names if results.depends(name, figure.x)]
            # Along epsilon the private algorithms are compared; the others follow below.
            private = figure.x.startswith("privacy.")
            compared = [point.only(varied) for point in points] if private else points
            yield from (where + sentence for sentence in _along(compared, figure.x, results))
            yield from (where + sentence for sentence in payoff_words(points, figure.x, results))


def _along(points: list[PointResults], x: str, results: Results) -> Iterator[str]:
    """Along the axis: stretches with the same best algorithm, or category by category."""
    if numbers_of(points, x) is None:
        groups = [[point] for point in points]
    else:
        ordered = sorted(points, key=lambda p: p.sigma.mean()) if x == "sigma" else points
        groups = [list(g) for _, g in itertools.groupby(ordered, key=lambda p: p.ranking()[0])]
    for group in groups:
        yield _stretch(group[0].ranking()[0], group, x, results)


def verdicts(results: Results, *, needs: int | None = None) -> Iterator[tuple[str, str, str]]:
    """For every claim of the file: its text, the verdict, and the numbers behind it.

    A claim is judged only on runs of full length. In a quick look, pass that length as `needs`;
    every claim is then "not judged".
    """
    for claim in results.experiment.head.claim:
        if needs is not None:
            yield claim.text, "not judged", f"it needs runs of {needs:,} rounds"
            continue
        points = [p.only(claim.among) for p in results.points if p.fits(claim.at)]
        leads = [(p, n, p.difference(n, claim.best)) for p in points for n in p.names]
        leads = [lead for lead in leads if lead[1] != claim.best]
        against = [lead for lead in leads if lead[2].clear() and lead[2].mean < 0.0]
        close = [lead for lead in leads if not lead[2].clear()]
        if against:
            worst = sorted(against, key=lambda lead: lead[2].certainty)[:SHOWN]
            less = (
                f"{n} has less regret by {_gap(gap)} {_place(p, results)}" for p, n, gap in worst
            )
            more = f"; and {len(against) - SHOWN} more" if len(against) > SHOWN else ""
            yield claim.text, "does not hold", "; ".join(less) + more
        elif close:
            # Where the best one is most behind, if it is anywhere: that is what is in doubt.
            point, name, gap = min(close, key=lambda lead: lead[2].certainty)
            ahead, by = (claim.best, gap) if gap.mean >= 0.0 else (name, _gap(gap))
            rival = name if gap.mean >= 0.0 else claim.best
            note = f"{ahead} is ahead of {rival} by {by} {_place(point, results)}"
            yield claim.text, "undecided", f"{note}, within the noise"
        else:
            yield claim.text, "holds", _lead(claim.best, points, leads, results)


def _lead(
    best: str,
    points: list[PointResults],
    leads: list[tuple[PointResults, str, Estimate]],
    results: Results,
) -> str:
    """The regret of the best algorithm, and who comes closest to it where."""
    told = f"{best} has the least regret ({_range(points, best)})"
    if not leads:
        return told
    point, rival, gap = min(leads, key=lambda lead: lead[2].certainty)
    return f"{told}; {_rival(rival, gap, len(leads))} {_place(point, results)}"


def _rival(name: str, lead: Estimate, leads: int) -> str:
    """Describe the narrowest lead, in standard errors, out of `leads` of them."""
    if leads == 1:
        return f"its lead is {lead} over {name}"
    return f"its closest rival is {name}, {lead} behind"


def _gap(gap: Estimate) -> Estimate:
    return Estimate(-gap.mean, gap.error, gap.count)


def theory_words(
    points: list[PointPromises], title_of: Callable[[str], str] = str
) -> Iterator[str]:
    """How close measured regret comes to what is promised and to what cannot be avoided.

    `title_of` tells how to call a swept parameter.
    """
    every = [(point, row) for point in points for row in point.rows]
    rows = [(point, row) for point, row in every if row.ratio is not None]
    if not rows:
        yield "No algorithm here meets the assumptions of a theorem."
        return
    point, row = max(rows, key=lambda found: found[1].ratio or 0.0)
    swept = ", ".join(f"{title_of(name)} = {value}" for name, value in point.values.items())
    where = f" at {swept}" if swept else ""
    over = sum((row.ratio or 0.0) > 1.0 for _, row in rows)
    some = f"{over} of" if over else "all"
    meeting = f"{some} {len(rows)} runs that meet" if len(rows) > 1 else "the one run that meets"
    held = f"the bound {'FAILS' if over else 'holds'} in {meeting} the assumptions of a theorem"
    mean = row.statement.endswith(IN_EXPECTATION)
    of = "on average over the replicates" if mean else "in the first replicate"
    yield (
        f"{held}; the tightest is {row.algorithm}{where}: {short(row.measured)} of "
        f"{short(float(row.ceiling or 0.0))} {of}, {short(row.ratio or 0.0, 2)} of the bound."
    )
    empty = sum(row.says_nothing for _, row in rows)
    if empty:
        yield (
            f"the bound says nothing in {empty} of {len(rows)}: it is above 2 D L T, which no "
            "learner in the ball can exceed."
        )
    floors = [row.measured < row.floor for _, row in every if row.floor is not None]
    below, total = sum(floors), len(floors)
    if not total:
        return
    lying = f"{below} of {total} runs lie below"
    if below in (0, total):
        whole = f"all {total} runs lie" if total > 1 else "the one run lies"
        lying = f"{whole} {'below' if below else 'above'}"
    meant = "It says what no algorithm can avoid on the worst stream, not on each"
    easier = f": {'these are' if below > 1 else 'this one is'} easier" if below else ""
    yield f"{lying} the lower bound. {meant}{easier}."


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
    among = " of the private ones" if x.startswith("privacy.") else ""
    best = f"{where} {name} has the least regret{among} ({_range(points, name)})"
    if len(points[0].names) == 1:
        return f"{where} the regret of {name} is {_range(points, name)}."
    seconds = [(p.ranking()[1], p) for p in points]
    rival, point = min(seconds, key=lambda found: found[1].difference(found[0], name).certainty)
    lead = point.difference(rival, name)
    if abs(lead.mean) <= SAME * abs(point.regret(name).mean):
        return f"{best}, the same as {rival}."
    doubt = "" if lead.clear() else ", within the noise"
    return f"{best}; {_rival(rival, lead, len(points))}{doubt}."


def _slopes(points: list[PointResults]) -> Iterator[str]:
    """Growth in T: the slope of log regret against log T, one for each replicate."""
    horizons = np.log([point.times[-1] for point in points])
    for k, name in enumerate(points[0].names):
        finals = np.array([point.final[:, k] for point in points])
        if len(points) < 2:
            yield f"{name}: one number of rounds tells nothing of growth."
            continue
        if (finals <= 0).any():
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


def _place(point: PointResults, results: Results) -> str:
    swept = [f"{results.title_of(name)} = {value}" for name, value in point.values.items()]
    return "at " + ", ".join([*swept, f"σ̄ = {point.sigma.mean():.3f}"])
