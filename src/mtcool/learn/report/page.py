"""The page: one HTML file that opens offline, with every figure and what it shows."""

import platform
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from mtcool.learn.metrics.evaluation import COMPARED, ROWS
from mtcool.learn.report import findings
from mtcool.learn.report.percents import Percent, loss_of, overall, stretch_losses
from mtcool.learn.report.pictures import TITLES, agent_percents
from mtcool.learn.report.tables import write_agents, write_agents_over_time, write_metrics
from mtcool.learn.report.verdicts import verdict_on
from mtcool.learn.running.outcome import LearnOutcome
from mtcool.reports.numbers import percent
from mtcool.reports.page import TableCell, picture, write_page
from mtcool.simulation.progress import progress_bar
from mtcool.types import Label

HEADS = {
    "nmse": "NMSE",
    "rmse": "RMSE",
    "mae": "MAE",
    "logloss": "log loss",
    "accuracy": "accuracy",
    "auc": "AUC",
}
LISTED = 40
"""Agents that the page lists; of more, those that gain or lose most for sure."""


def write_report(outcome: LearnOutcome, folder: Path, *, progress: bool = False) -> Path:
    """Write `report.html`, figures and tables into the folder; return the path of the page."""
    tables = {
        "metrics": write_metrics,
        "agents": write_agents,
        "agents-over-time": write_agents_over_time,
    }
    pictures = {}
    with progress_bar("report", len(tables) + 3, progress) as advance:
        for name, write in tables.items():
            write(outcome, folder / f"{name}.csv")
            advance(1)
        # Where matplotlib has never run, its import looks through all fonts, which takes seconds.
        from mtcool.learn.report.drawn_graph import draw_graph
        from mtcool.learn.report.figures import draw_agents, draw_over_time

        drawings = {"agents": draw_agents, "graph": draw_graph, "over-time": draw_over_time}
        for name, draw in drawings.items():
            drawn = picture(folder / name, partial(draw, outcome), "svg")
            pictures[name.replace("-", "_")] = drawn
            advance(1)
    path = folder / "report.html"
    write_page(
        path,
        "mtcool.learn",
        outcome=outcome,
        shuffled="shuffled" in outcome.evaluation.names,
        verdict=verdict_on(outcome),
        pictures=pictures,
        table=_table(outcome, f"sharing against it, in {loss_of(outcome)}", _gain),
        who=list(findings.who_gains(outcome)),
        agents=_agents(outcome),
        over_time=_over_time(outcome),
        graph_matters=findings.graph_matters(outcome),
        costs=findings.costs(outcome),
        about=list(findings.about_rows(outcome)),
        loss=loss_of(outcome),
        network=_network(outcome),
        environment=f"mtcool {version('mtcool')}, Python {platform.python_version()}",
    )
    return path


def headline_table(outcome: LearnOutcome) -> list[str]:
    """The table of metrics as lines of text that fit on a terminal of 80 columns."""
    lines = _table(outcome, "gain of sharing (95 % interval)", _short)
    widths = [*(max(map(len, column)) for column in zip(*lines, strict=True))][:-1]
    return ["  ".join([*map(str.ljust, line, widths), line[-1]]).rstrip() for line in lines]


def _table(
    outcome: LearnOutcome, title: str, tell: Callable[[Percent, str], str]
) -> list[list[str]]:
    """Metrics of every predictor below their names; the last column tells the gain of sharing."""
    metrics = outcome.evaluation.metrics()
    lines = [["", *(HEADS[key] for key in metrics["learned"]), title]]
    for name, numbers in metrics.items():
        cells = [f"{number:#.4g}" if np.isfinite(number) else "" for number in numbers.values()]
        unknown = _why_unknown(outcome, name)
        gain = "" if name == "learned" else tell(overall(outcome, name), unknown)
        lines.append([TITLES[name], *cells, gain])
    return lines


def _why_unknown(outcome: LearnOutcome, other: str) -> str:
    """Why there is no gain on another predictor, if there is none."""
    loss = outcome.evaluation.loss(other)
    if np.isnan(loss):
        return "no rows to compare"
    return "too few rows to tell" if loss > 0.0 else "no error to lower"


def _short(gain: Percent, if_unknown: str) -> str:
    if not gain.known:
        return if_unknown
    ends = f"{percent(gain.low)} to {percent(gain.high)}"
    return f"{percent(gain.mean)} ({ends}){'' if gain.sign else ', not clear'}"


def _gain(gain: Percent, if_unknown: str) -> str:
    if not gain.known:
        return if_unknown
    word = {1: "gains", 0: "no clear difference:", -1: "loses"}[gain.sign]
    mean = gain.mean if gain.sign >= 0 else -gain.mean
    return f"{word} {percent(mean)} ({gain.interval})"


def _agents(outcome: LearnOutcome) -> dict[str, Any]:
    """Agents by their gain, the largest first; of many only those at the ends that are sure."""
    share, margin = agent_percents(outcome)
    order = np.argsort(-np.nan_to_num(share, nan=-np.inf), kind="stable").tolist()
    whole = len(order) <= LISTED
    if not whole:
        better, worse = ([k for k in order if s * share[k] > margin[k]] for s in (1, -1))
        order = [*better[: LISTED // 2], *worse[-LISTED // 2 :]]
    rows = [_agent(outcome.agents[k], outcome, k, share[k], margin[k]) for k in order]
    return {"rows": rows, "whole": whole}


def _agent(
    label: Label, outcome: LearnOutcome, k: int, share: float, margin: float
) -> list[str | TableCell]:
    gain = Percent(share, share - margin, share + margin)
    words = {1: "gains", 0: "no clear difference", -1: "loses"}
    return [
        str(label),
        f"{outcome.evaluation.counts[k, ROWS]:,}",
        percent(share) if np.isfinite(share) else "",
        f"{percent(gain.low)} to {percent(gain.high)}" if gain.known else "",
        TableCell(
            words[gain.sign] if gain.known else "too few rows to tell",
            {1: "good", 0: "open", -1: "bad"}[gain.sign],
        ),
    ]


def _over_time(outcome: LearnOutcome) -> str:
    _, rows, metrics = outcome.evaluation.over_time(COMPARED)
    used = rows > 0
    if not used.any() or not outcome.shares:
        return ""
    learned, alone = ((rows * stretch_losses(metrics, name))[used] for name in ("learned", "alone"))
    return findings.over_time(outcome, learned, alone)


def _network(outcome: LearnOutcome) -> str:
    if outcome.network is None:
        return "no graph: every agent alone"
    if outcome.network == "complete":
        return "complete: every agent is a neighbour of every other"
    graph = outcome.network
    return f"{graph.size:,} agents, {graph.edge_count:,} edges"
