"""The page: one HTML file that opens offline, with every figure and what it shows."""

import base64
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from mtcool.files import write_whole
from mtcool.learn.metrics.evaluation import COMPARED, ROWS
from mtcool.learn.report import findings
from mtcool.learn.report.drawn_graph import draw_graph
from mtcool.learn.report.figures import draw_agents, draw_over_time, stretch_losses
from mtcool.learn.report.percents import Percent, loss_of, overall, percent
from mtcool.learn.report.pictures import TITLES, agent_percents
from mtcool.learn.report.tables import write_agents, write_agents_over_time, write_metrics
from mtcool.learn.report.verdicts import verdict_on
from mtcool.learn.running.outcome import Outcome
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


def write_report(outcome: Outcome, folder: Path, *, progress: bool = False) -> Path:
    """Write `report.html`, figures and tables into the folder; return the path of the page."""
    tables = {
        "metrics": write_metrics,
        "agents": write_agents,
        "agents-over-time": write_agents_over_time,
    }
    drawings = {"agents": draw_agents, "graph": draw_graph, "over-time": draw_over_time}
    pictures = {}
    with progress_bar("report", len(tables) + len(drawings), progress) as advance:
        for name, write in tables.items():
            write(outcome, folder / f"{name}.csv")
            advance(1)
        for name, draw in drawings.items():
            pictures[name.replace("-", "_")] = _picture(outcome, folder / f"{name}.svg", draw)
            advance(1)
    page = _page(outcome, pictures)
    path = folder / "report.html"
    write_whole(path, lambda file: file.write((page + "\n").encode()))
    return path


def _page(outcome: Outcome, pictures: dict[str, str]) -> str:
    loader = jinja2.PackageLoader("mtcool.learn", "templates")
    templates = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    return templates.get_template("report.html.jinja").render(
        outcome=outcome,
        shuffled="shuffled" in outcome.evaluation.names,
        verdict=verdict_on(outcome),
        pictures=pictures,
        table=_table(outcome),
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


def _table(outcome: Outcome) -> dict[str, Any]:
    """Metrics of every predictor, and what sharing gains on it."""
    metrics = outcome.evaluation.metrics()
    rows = []
    for name, numbers in metrics.items():
        cells = [f"{number:#.4g}" if np.isfinite(number) else "" for number in numbers.values()]
        row = {"name": TITLES[name], "cells": cells, "gain": "", "short": ""}
        if name != "learned":
            gain = overall(outcome, name)
            words = _why_unknown(outcome, name)
            row |= {"gain": _gain(gain, words), "short": _short(gain, words)}
        rows.append(row)
    return {"heads": [HEADS[key] for key in metrics["learned"]], "rows": rows}


def headline_table(outcome: Outcome) -> list[str]:
    """The table of metrics as lines of text that fit on a terminal of 80 columns."""
    table = _table(outcome)
    lines = [["", *table["heads"], "gain of sharing (95 % interval)"]]
    lines += [[row["name"], *row["cells"], row["short"]] for row in table["rows"]]
    widths = [*(max(map(len, column)) for column in zip(*lines, strict=True))][:-1]
    return ["  ".join([*map(str.ljust, line, widths), line[-1]]).rstrip() for line in lines]


def _why_unknown(outcome: Outcome, other: str) -> str:
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


def _agents(outcome: Outcome) -> dict[str, Any]:
    """Agents by their gain, the largest first; of many only those at the ends that are sure."""
    share, margin = agent_percents(outcome)
    order = np.argsort(-np.nan_to_num(share, nan=-np.inf), kind="stable").tolist()
    whole = len(order) <= LISTED
    if not whole:
        better, worse = ([k for k in order if s * share[k] > margin[k]] for s in (1, -1))
        order = [*better[: LISTED // 2], *worse[-LISTED // 2 :]]
    rows = [_agent(outcome.agents[k], outcome, k, share[k], margin[k]) for k in order]
    return {"rows": rows, "whole": whole}


def _agent(label: Label, outcome: Outcome, k: int, share: float, margin: float) -> dict[str, str]:
    gain = Percent(share, share - margin, share + margin)
    words = {1: "gains", 0: "no clear difference", -1: "loses"}
    return {
        "name": str(label),
        "rows": f"{outcome.evaluation.counts[k, ROWS]:,}",
        "gain": percent(share) if np.isfinite(share) else "",
        "interval": f"{percent(gain.low)} to {percent(gain.high)}" if gain.known else "",
        "verdict": words[gain.sign] if gain.known else "too few rows to tell",
        "tone": {1: "good", 0: "open", -1: "bad"}[gain.sign],
    }


def _over_time(outcome: Outcome) -> str:
    _, rows, metrics = outcome.evaluation.over_time(COMPARED)
    used = rows > 0
    if not used.any() or not outcome.shares:
        return ""
    learned, alone = ((rows * stretch_losses(metrics, name))[used] for name in ("learned", "alone"))
    return findings.over_time(outcome, learned, alone)


def _network(outcome: Outcome) -> str:
    if outcome.network is None:
        return "no graph: every agent alone"
    if outcome.network == "complete":
        return "complete: every agent is a neighbour of every other"
    graph = outcome.network
    return f"{graph.size:,} agents, {graph.edge_count:,} edges"


def _picture(outcome: Outcome, path: Path, draw: Callable[[Outcome, Path], bool]) -> str:
    """Draw an SVG file; return it in base64, or "" if nothing was drawn."""
    if draw(outcome, path):
        return base64.b64encode(path.read_bytes()).decode()
    path.unlink(missing_ok=True)  # of an earlier run, with other numbers
    return ""
