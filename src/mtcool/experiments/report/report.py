"""The report: one HTML file that opens offline, with every figure and what it shows."""

import json
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from mtcool.experiments.files import spec
from mtcool.experiments.files.inputs import keep_inputs
from mtcool.experiments.learner.chapter import Chapter
from mtcool.experiments.output import write
from mtcool.experiments.report.bound_curves import bound_curves
from mtcool.experiments.report.cutoff import published_words
from mtcool.experiments.report.environment import environment
from mtcool.experiments.report.figures import draw
from mtcool.experiments.report.findings import findings, theory_words
from mtcool.experiments.report.gradients import gradient_words
from mtcool.experiments.report.learner import learner_sections
from mtcool.experiments.report.outcome import Outcome, SectionSummary
from mtcool.experiments.report.overview import judged, judged_bounds, tally
from mtcool.experiments.report.panels import draw_agents, draw_bound_curves
from mtcool.experiments.report.promises import promises
from mtcool.experiments.report.results import PointResults, Results, default_figures
from mtcool.experiments.report.setting import default_words, setting
from mtcool.experiments.report.tables import (
    write_bound_curves,
    write_promises,
    write_tables,
)
from mtcool.experiments.report.theory_figure import draw_promises
from mtcool.experiments.report.theory_table import graph_rows, promise_rows
from mtcool.experiments.report.traffic_figure import draw_traffic
from mtcool.experiments.running.cells import code_digest
from mtcool.experiments.running.runner import Task
from mtcool.reports.page import TableCell, picture, write_page
from mtcool.simulation.progress import Advance
from mtcool.types import Plain


class Report:
    """Tables, figures, configuration and `report.html` of experiments.

    It can be written when the first experiments are finished, and again when more of them are.

    Parameters
    ----------
    learner
        Whether a chapter on the learner follows the experiments.
    """

    def __init__(
        self, title: str, lead: str, tasks: Sequence[Task], folder: Path, *, learner: bool = False
    ) -> None:
        self.title, self.lead, self.folder = title, lead, folder
        self.tasks, self.learner = tasks, learner
        self.sections: list[dict[str, Any]] = []
        """Of the experiments that are written; their tables and figures are not made again."""

    def write(
        self,
        results: Sequence[Results],
        chapter: Chapter | None = None,
        advance: Advance = lambda steps: None,
    ) -> list[Outcome]:
        """Write the results of the first experiments, or of all, and return what they say.

        `advance` is called after every section.
        """
        for task, result in list(zip(self.tasks, results, strict=False))[len(self.sections) :]:
            self.sections.append(_section(task, result, self.folder))
            advance(1)
        heads = [task.experiment.head for task in self.tasks[len(results) :]]
        coming = [head.title or head.name for head in heads]
        if self.learner and chapter is None:
            coming.append("the learner of mtcool.learn")
        about = self._configuration()
        bounds = judged_bounds(
            [(one["title"], point) for one in self.sections for point in one["promises"]]
        )
        claims = [claim for section in self.sections for claim in section["claims"]]
        counted = tally(claims, bounds)
        write_page(
            self.folder / "report.html",
            "mtcool.experiments",
            title=self.title,
            lead=self.lead,
            sections=self.sections,
            chapters=[] if chapter is None else learner_sections(chapter, self.folder),
            coming=coming,
            bounds=bounds,
            tally=counted,
            shortened=any(task.needs for task in self.tasks),
            environment=about["environment"],
        )
        return [
            Outcome(one["name"], self.folder, one["tables"], _summary(one), counted)
            for one in self.sections
        ]

    def _configuration(self) -> dict[str, Any]:
        """Write what was run, and on what; returns it."""
        about = {
            "environment": environment(),
            "code": code_digest(),
            "experiments": {
                task.experiment.head.name: {
                    "seed": task.experiment.head.seed,
                    "replicates": task.replicates,
                    "points": msgspec.to_builtins(task.experiment.points),
                }
                for task in self.tasks
            },
        }
        text = json.dumps(_finite(about), indent=1, allow_nan=False)
        write(self.folder / "configuration.json", f"{text}\n".encode())
        return about


def _section(task: Task, results: Results, folder: Path) -> dict[str, Any]:
    """One experiment: its folder, and what the report says of it."""
    head = task.experiment.head
    place = folder / head.name
    place.mkdir(parents=True, exist_ok=True)
    keep_inputs(task, place)
    theory = _theory(results, place)
    tables = write_tables(results, place) | theory.pop("tables")
    figures = []
    for number, figure in enumerate(default_figures(task.experiment), start=1):
        how = draw_traffic if figure.x in spec.TRAFFIC else draw
        figures.append(
            {
                "alt": f"Regret against {results.title_of(figure.x)}",
                "picture": picture(place / f"figure-{number}", partial(how, results, figure)),
                "findings": list(findings(results, figure)),
                "title": figure.title or "",
                "panels": figure.panels is not None,
            }
        )
    for old in place.glob("figure-*"):  # of an earlier run with more figures
        if int(old.stem.removeprefix("figure-")) > len(figures):
            old.unlink()
    return {
        "name": head.name,
        "title": head.title or head.name,
        "question": head.question,
        "paper": head.paper,
        "setting": setting(task),
        "defaults": list(default_words(task)),
        "replicates": task.replicates,
        "quick": _quick(task),
        "gradients": list(gradient_words(results)),
        "figures": figures,
        "claims": judged(task, results),
        "agents": picture(place / "agents", partial(draw_agents, results)),
        **theory,
        "table": _table(results),
        "tables": tables,
        "source": task.source,
    }


def _theory(results: Results, place: Path) -> dict[str, Any]:
    """Bounds next to the measured regret: a table, a picture, and what the report shows."""
    points = [
        promises(job, point) for job, point in zip(results.firsts, results.points, strict=True)
    ]
    graphs = [point.cells[0].instance.graph for point in results.points]
    curves = list(bound_curves(results, points))
    tables = {
        "theory": write_promises(results, points, place),
        "bounds": write_bound_curves(results, curves, place),
    }
    over_time = picture(place / "bounds", partial(draw_bound_curves, results, curves))
    return {
        "promises": points,
        "tables": tables,
        "theory": {
            "picture": picture(place / "theory", partial(draw_promises, points)),
            "over_time": over_time,
            "facts": graph_rows(points),
            "rows": promise_rows(points),
            "words": [
                *theory_words(points, results.title_of),
                *published_words(results.experiment.points, graphs),
            ],
        },
    }


def _quick(task: Task) -> dict[str, int] | None:
    """Sizes of a quick look, and those of the file; None for a full run."""
    if task.quick is None:
        return None
    return {
        "replicates": task.replicates,
        "of_replicates": task.quick.replicates,
        "rounds": task.rounds,
        "of_rounds": task.quick.rounds,
    }


def _table(results: Results) -> dict[str, Any]:
    """Points by algorithms; below each mean, the paired difference from the point's best."""
    swept = [sweep.parameter for sweep in results.experiment.head.sweep]
    names = results.points[0].names
    rows = []
    for point in results.points:
        cells = [*(point.values[name] for name in swept), f"{point.sigma.mean():.3f}"]
        rows.append([*cells, *(_cell(point, name) for name in names)])
    return {"head": [*map(results.title_of, swept), "σ̄", *names], "rows": rows}


def _cell(point: PointResults, name: str) -> TableCell:
    best = point.ranking()[0]
    more = "" if name == best else f"+{point.difference(name, best)}"
    return TableCell(str(point.regret(name)), "best" if name == best else "", more)


def _summary(section: dict[str, Any]) -> SectionSummary:
    return {
        "replicates": section["replicates"],
        "quick": section["quick"],
        "regret": section["tables"]["summary"],
        "theory": section["theory"]["words"],
        "graphs": section["theory"]["facts"],
        "promises": section["theory"]["rows"],
        "findings": [
            f"{figure['title']}: {sentence}" if figure["title"] else sentence
            for figure in section["figures"]
            for sentence in figure["findings"]
        ],
        "defaults": section["defaults"],
        "gradients": section["gradients"],
        "claims": section["claims"],
    }


def _finite(value: Plain) -> Plain:
    """The value with infinite numbers as words, because JSON has none."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
