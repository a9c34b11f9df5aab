"""The chapter on the learner: two sections with a figure, a table, and what they show."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mtcool.experiments.learner.chapter import Chapter
from mtcool.experiments.learner.real_streams import (
    ALONE,
    GRADIENTS,
    NAMES,
    PAPER,
    POOLED,
    ROWS,
    SHUFFLED,
    Errors,
)
from mtcool.experiments.report.learner_figures import LEARNER, RegretLine, draw_errors, draw_regrets
from mtcool.experiments.report.results import Estimate
from mtcool.experiments.report.tables import Row, write_rows
from mtcool.reports.numbers import short
from mtcool.reports.page import picture

FIGURE = (
    "The learner of mtcool.learn on the graphs, tasks and streams of Figure 2. It uses that the "
    "losses |x − z|²/2 are quadratic: it is given z, where the others are given the gradient x − z "
    "at the point that they played. It is told no bound L. Alone is the same learner without "
    "neighbours; before its first row an agent has the mean of its neighbours' targets there, too."
)
STREAMS = (
    "Progressive validation without tuning: births in 48 states of the USA (borders), minutes that "
    "flights from New York made up (90 destinations, the five nearest), scores of pupils in 160 "
    "schools (the five most alike). NMSE is the mean squared error over the variance of the "
    "target; rows before any target was known in the neighbourhood do not count. The learner has "
    "data as they are, and a target when it arrives; its constants were chosen on these streams. "
    "The paper's algorithms are the KT versions without L; they are favoured by features and "
    "targets that are standardised in hindsight, and by targets that they know at once. Vowpal "
    "Wabbit, River and other rivals are measured by python -m benchmarks.learn."
)


def learner_sections(chapter: Chapter, folder: Path) -> list[dict[str, Any]]:
    """Write figures and tables of the chapter, and return what the report shows of it."""
    place = folder / "learner"
    place.mkdir(parents=True, exist_ok=True)
    return [_figure_two(chapter, place), _streams(chapter, place)]


def _figure_two(chapter: Chapter, place: Path) -> dict[str, Any]:
    lines = lines_of(chapter)
    count = len(chapter.regrets[0])
    point = chapter.figures.experiment.points[0]
    words = f"{count} replicates, d = {point.tasks.dim}, T = {point.rounds:,}"
    rows: list[Row] = [
        {"sigma": sigma, "algorithm": line.name, "regret": found.mean, "error": found.error}
        for line in lines
        for sigma, found in zip(line.sigma, line.regret, strict=True)
    ]
    write_rows(place / "figure-2.csv", rows, ["sigma", "algorithm", "regret", "error"])
    table = [
        [short(float(lines[0].sigma[k])), *(str(line.regret[k]) for line in lines)]
        for k in range(len(lines[0].sigma))
    ]
    return {
        "name": "learner-figure-2",
        "title": "Figure 2 with the learner",
        "question": "How far is the paper's regret from what can be had if the loss is known?",
        "setting": FIGURE,
        "alt": "Regret against the mean local deviation of the tasks, with the learner",
        "picture": picture(place / "figure-2", partial(draw_regrets, lines, words)),
        "caption": f"Mean of {count} replicates; bands are one standard error.",
        "data": "learner/figure-2.csv",
        "words": regret_words(lines),
        "summary": "Regret after the last round, mean ± standard error",
        "table": {"head": ["σ̄", *(line.name for line in lines)], "rows": table},
        "note": "",
    }


def lines_of(chapter: Chapter) -> list[RegretLine]:
    """Everybody's regret at each point, on the replicates that the learner has played."""
    points, count = chapter.figures.points, len(chapter.regrets[0])
    sigma = np.array([point.sigma[:count].mean() for point in points])
    finals = {
        name: [point.final[:count, k] for point in points] for k, name in enumerate(points[0].names)
    }
    for name, field in ((LEARNER, "learner"), (ALONE, "alone")):
        finals[name] = [
            np.array([getattr(one, field) for one in point]) for point in chapter.regrets
        ]
    colours = {name: chapter.figures.record_of(name).colour for name in points[0].names}
    return [
        RegretLine(name, sigma, [Estimate.of(final) for final in per_point], colours.get(name))
        for name, per_point in finals.items()
    ]


def regret_words(lines: Sequence[RegretLine]) -> list[str]:
    """How the learner compares with the best of the paper's algorithms, and with alone."""
    by_name = {line.name: np.array([one.mean for one in line.regret]) for line in lines}
    learned, alone = by_name.pop(LEARNER), by_name.pop(ALONE)
    best = np.min(list(by_name.values()), axis=0)
    ratio = learned / best
    below = int((ratio < 1.0).sum())
    return [
        f"The learner has less regret than the best of the paper's algorithms at {below} of "
        f"{len(ratio)} points: between {short(float(ratio.min()), 2)} and "
        f"{short(float(ratio.max()), 2)} times as much.",
        f"Its regret is between {short(float((learned / alone).min()), 2)} and "
        f"{short(float((learned / alone).max()), 2)} times that of alone: with targets that have "
        "next to no noise one row says all, and knowing the loss matters more than neighbours do.",
    ]


def _streams(chapter: Chapter, place: Path) -> dict[str, Any]:
    section: dict[str, Any] = {
        "name": "learner-streams",
        "title": "The learner on real streams",
        "question": "Who predicts real streams best, if nobody may tune?",
        "setting": STREAMS,
        "picture": "",
        "words": [],
        "table": None,
        "note": "",
    }
    if not chapter.streams:
        note = 'The data are not installed: pip install "mtcool[data]", and run it again.'
        return {**section, "note": note}
    found = {name: estimates(errors) for name, errors in chapter.streams.items()}
    rows: list[Row] = [
        {"stream": stream, "contestant": name, "nmse": one.mean, "error": one.error}
        for stream, everybody in found.items()
        for name, one in everybody.items()
    ]
    write_rows(place / "streams.csv", rows, ["stream", "contestant", "nmse", "error"])
    sizes = [_size(name, errors) for name, errors in chapter.streams.items()]
    return {
        **section,
        "alt": "Errors on three real streams, relative to learning alone",
        "picture": picture(place / "streams", partial(draw_errors, found)),
        "caption": "Errors relative to those of alone; left of 1 is better.",
        "data": "learner/streams.csv",
        "words": [*sizes, *(error_words(name, one) for name, one in found.items())],
        "summary": "NMSE, mean ± standard error over orders of the pupils",
        "table": {
            "head": ["", *found],
            "rows": [[name, *(_shown(found[stream][name]) for stream in found)] for name in NAMES],
        },
    }


def estimates(errors: Sequence[Errors]) -> dict[str, Estimate]:
    """The mean error of each contestant over the orders of a stream."""
    return {name: Estimate.of(np.array([one.nmse[name] for one in errors])) for name in NAMES}


def error_words(stream: str, found: dict[str, Estimate]) -> str:
    """What a stream says: with neighbours, without, pooled, shuffled, and the paper's."""

    def less(name: str, other: str) -> str:
        part = found[name].mean / found[other].mean - 1.0
        return f"{abs(part):.1%} {'below' if part < 0 else 'above'}"

    best = min(PAPER, key=lambda name: found[name].mean)
    return (
        f"{stream}: with rows shared the learner is {less(ROWS, ALONE)} alone, "
        f"{less(ROWS, POOLED)} pooled and {less(ROWS, best)} {best}, the best of the paper's; "
        f"with gradients only {less(GRADIENTS, ROWS)} rows; on the graph with its labels shuffled "
        f"{less(SHUFFLED, ALONE)} alone."
    )


def _size(name: str, errors: Sequence[Errors]) -> str:
    first = errors[0]
    orders = f", {len(errors)} orders" if len(errors) > 1 else ""
    return f"{name}: {first.rows:,} rows of {first.agents} agents{orders}, {first.cold} cold."


def _shown(found: Estimate) -> str:
    error = "" if found.error is None else f" ± {found.error:.4f}"
    return f"{found.mean:.4f}{error}"
