"""The opening of the report: every claim, whether it holds, and by how much."""

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from mtcool.experiments.report.findings import verdicts
from mtcool.experiments.report.promises import IN_EXPECTATION, PointPromises
from mtcool.experiments.report.results import Results
from mtcool.experiments.report.theory_table import place_of
from mtcool.experiments.running.runner import Task
from mtcool.reports.numbers import short

# How a verdict is told of one claim, and of many.
TOLD = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not hold", "do not hold"),
    "undecided": ("is undecided", "are undecided"),
    "not judged": ("is not judged", "are not judged"),
}


class Judged(TypedDict):
    """A claim with its verdict."""

    text: str
    source: str
    verdict: str
    note: str


def judged(task: Task, results: Results) -> list[Judged]:
    """The claims that a file makes, in its order."""
    found = verdicts(results, needs=task.needs)
    return [
        Judged(text=text, source=claim.source, verdict=verdict, note=note)
        for claim, (text, verdict, note) in zip(task.experiment.head.claim, found, strict=True)
    ]


def judged_bounds(places: Sequence[tuple[str, PointPromises]]) -> list[Judged]:
    """What every upper bound claims, judged by all points of all experiments, given by title.

    Bounds hold for runs of any length.
    """
    rows: dict[str, list[tuple[float, str]]] = {}
    for title, point in places:
        for row in point.rows:
            if row.ratio is not None:
                where = f" at {place_of(point)}" if point.values else ""
                told = f"{row.algorithm} in “{title}”{where}"
                statement = row.statement.removesuffix(IN_EXPECTATION)
                rows.setdefault(statement, []).append((row.ratio, told))
    return [_bound(statement, rows[statement]) for statement in sorted(rows)]


def _bound(statement: str, ratios: list[tuple[float, str]]) -> Judged:
    highest, told = max(ratios)
    over = sum(ratio > 1.0 for ratio, _ in ratios)
    if len(ratios) == 1:
        count = "the one run exceeds it" if over else "in the one run that it covers"
    else:
        count = f"{over} of {len(ratios)} runs exceed it" if over else f"in all {len(ratios)} runs"
    return Judged(
        text=f"Regret stays below the bound for {statement}.",
        source="the paper",
        verdict="does not hold" if over else "holds",
        note=f"{count}; the most is {short(highest, 2)} of the bound, {told}",
    )


def tally(claims: Sequence[Judged], bounds: Sequence[Judged] = ()) -> str:
    """How many claims of files hold and how many do not, and then the bounds of the theory.

    Examples
    --------
    >>> claim = Judged(text="A wins.", source="", verdict="holds", note="")
    >>> tally([claim, claim, {**claim, "verdict": "undecided"}], [claim])
    'Of 3 claims 2 hold, 1 is undecided. The bound of the theory holds.'
    >>> tally([], [claim, claim])
    'No claims were made. All 2 bounds of the theory hold.'
    """
    told = [_counted(claims, "claim") if claims else "No claims were made."]
    if bounds:
        told.append(_counted(bounds, "bound", " of the theory"))
    return " ".join(told)


def _counted(judged: Sequence[Judged], what: str, of: str = "") -> str:
    count = Counter(one["verdict"] for one in judged)
    one, many = TOLD[judged[0]["verdict"]]
    if len(judged) == 1:
        return f"The {what}{of} {one}."
    if len(count) == 1:
        return f"All {len(judged)} {what}s{of} {many}."
    parts = [f"{count[key]} {told[count[key] > 1]}" for key, told in TOLD.items() if count[key]]
    return f"Of {len(judged)} {what}s{of} {', '.join(parts)}."
