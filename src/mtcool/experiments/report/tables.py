"""Raw data and summaries as CSV: the same experiment, the same bytes."""

import csv
import dataclasses
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtcool.experiments.output import write
from mtcool.experiments.report.bound_curves import BoundCurve
from mtcool.experiments.report.promises import GraphFacts, PointPromises, Promise
from mtcool.experiments.report.results import Estimate, Results
from mtcool.experiments.report.theory_table import promise_records
from mtcool.files import spreadsheet_text

Row = dict[str, Any]

_MEASURED = ("worst_agent_regret", "loss", "messages", "message_bytes", "clipped")
FIELDS = {
    "runs": ("replicate", "algorithm", "rounds", "sigma", "regret", *_MEASURED),
    "summary": ("algorithm", "replicates", "sigma", "regret", "regret_error", *_MEASURED),
    "differences": (
        "algorithm",
        "other",
        "replicates",
        "difference",
        "difference_error",
        "share_better",
    ),
    "curves": ("algorithm", "time", "regret", "regret_error", "messages", "message_bytes"),
    "agents": (
        "algorithm",
        "agent",
        "time",
        "replicates",
        "activations",
        "regret",
        "regret_error",
        "messages",
        "message_bytes",
    ),
}
"""Columns after those of the swept parameters."""
BOUNDS = ("algorithm", "time", "measured", "bound", "statement", "whole_run")


def write_tables(results: Results, folder: Path) -> dict[str, list[Row]]:
    """Five tables: runs, means, paired differences, and the regret over time, also by agent."""
    swept = [sweep.parameter for sweep in results.experiment.head.sweep]
    tables = {
        "runs": list(_runs(results)),
        "summary": list(summary(results)),
        "differences": list(_differences(results)),
        "curves": list(_curves(results)),
        "agents": list(_agents(results)),
    }
    for name, rows in tables.items():
        write_rows(folder / f"{name}.csv", rows, [*swept, *FIELDS[name]])
    return tables


def write_promises(results: Results, points: Sequence[PointPromises], folder: Path) -> list[Row]:
    """The theory next to the measured regret, one row for each point and algorithm."""
    swept = [sweep.parameter for sweep in results.experiment.head.sweep]
    columns = [f.name for kind in (Promise, GraphFacts) for f in dataclasses.fields(kind)]
    rows = list(promise_records(points))
    write_rows(folder / "theory.csv", rows, [*swept, *columns, "ratio"])
    return rows


def write_bound_curves(
    results: Results, curves: Sequence[tuple[dict[str, str], list[BoundCurve]]], folder: Path
) -> list[Row]:
    """Bounds along the runs, for the points that the figure shows."""
    swept = [sweep.parameter for sweep in results.experiment.head.sweep]
    rows: list[Row] = [
        {
            **values,
            "algorithm": one.algorithm,
            "time": int(time),
            "measured": float(measured),
            "bound": float(bound),
            "statement": one.statement,
            "whole_run": one.whole_run,
        }
        for values, algorithms in curves
        for one in algorithms
        for time, measured, bound in zip(one.times, one.measured, one.bound, strict=True)
    ]
    write_rows(folder / "bounds.csv", rows, [*swept, *BOUNDS])
    return rows


def summary(results: Results) -> Iterator[Row]:
    """One row for each point and algorithm: means over the replicates."""
    for point in results.points:
        for name in point.names:
            runs = [cell.runs[point.names.index(name)] for cell in point.cells]
            regret = point.regret(name)
            yield {
                **point.values,
                "algorithm": name,
                "replicates": len(point.cells),
                "sigma": float(point.sigma.mean()),
                "regret": regret.mean,
                "regret_error": regret.error,
                "worst_agent_regret": float(np.mean([run.worst for run in runs])),
                "loss": float(np.mean([run.loss for run in runs])),
                "messages": _mean([run.messages for run in runs]),
                "message_bytes": _mean([run.message_bytes for run in runs]),
                "clipped": float(np.mean([run.clipped for run in runs])),
            }


def _mean(counts: Sequence[int | None]) -> float | None:
    """The mean; None, an empty field, where nothing was counted."""
    known = [count for count in counts if count is not None]
    return float(np.mean(known)) if known else None


def _runs(results: Results) -> Iterator[Row]:
    for point in results.points:
        for replicate, cell in enumerate(point.cells):
            for run in cell.runs:
                yield {
                    **point.values,
                    "replicate": replicate,
                    "algorithm": run.algorithm,
                    "rounds": cell.times[-1],
                    "sigma": cell.sigma,
                    "regret": run.regret[-1],
                    "worst_agent_regret": run.worst,
                    "loss": run.loss,
                    "messages": run.messages,
                    "message_bytes": run.message_bytes,
                    "clipped": run.clipped,
                }


def _differences(results: Results) -> Iterator[Row]:
    """Regret of `algorithm` minus that of `other`, on the same graphs, tasks and streams."""
    for point in results.points:
        for k, name in enumerate(point.names):
            for other in point.names[k + 1 :]:
                difference = point.difference(name, other)
                gaps = point.final[:, k] - point.final[:, point.names.index(other)]
                yield {
                    **point.values,
                    "algorithm": name,
                    "other": other,
                    "replicates": len(point.cells),
                    "difference": difference.mean,
                    "difference_error": difference.error,
                    "share_better": float((gaps < 0).mean()),
                }


def _curves(results: Results) -> Iterator[Row]:
    for point in results.points:
        for k, name in enumerate(point.names):
            sent = _totals([run.messages_at for run in point.runs(name)])
            size = _totals([run.bytes_at for run in point.runs(name)])
            for t, time in enumerate(point.times.tolist()):
                regret = Estimate.of(point.curves[:, k, t])
                yield {
                    **point.values,
                    "algorithm": name,
                    "time": time,
                    "regret": regret.mean,
                    "regret_error": regret.error,
                    "messages": sent[t] if sent else None,
                    "message_bytes": size[t] if size else None,
                }


def _totals(counts: Sequence[Sequence[int]]) -> list[float]:
    """Means over the replicates at all times; nothing where nothing was counted."""
    return np.mean(counts, axis=0).tolist() if all(counts) else []


def _agents(results: Results) -> Iterator[Row]:
    """Means over the replicates that had the agent; in random graphs it has other neighbours."""
    for number, point in enumerate(results.points):
        agents = results.agent_names(number)
        activations = point.agent_activations
        for name in point.names if len(point.agent_times) else ():
            curves, traffic = point.agent_curves(name), point.agent_traffic(name)
            for k, agent in enumerate(agents):
                had = ~np.isnan(activations[:, -1, k])
                sent, size = (part[had, :, k].mean(axis=0) if part.size else [] for part in traffic)
                for t, time in enumerate(point.agent_times.tolist()):
                    regret = Estimate.of(curves[had, t, k])
                    yield {
                        **point.values,
                        "algorithm": name,
                        "agent": agent,
                        "time": time,
                        "replicates": int(had.sum()),
                        "activations": float(activations[had, t, k].mean()),
                        "regret": regret.mean,
                        "regret_error": regret.error,
                        "messages": float(sent[t]) if len(sent) else None,
                        "message_bytes": float(size[t]) if len(size) else None,
                    }


def write_rows(path: Path, rows: list[Row], fields: Sequence[str]) -> None:
    """Write rows with these columns as CSV."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, fields, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {k: spreadsheet_text(v) if isinstance(v, str) else v for k, v in row.items()}
        )
    write(path, file.getvalue().encode())
