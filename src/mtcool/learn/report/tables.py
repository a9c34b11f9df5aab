"""The tables beside the report: metrics over time and by agent."""

from pathlib import Path
from typing import TypeAlias

import numpy as np

from mtcool.files import write_whole
from mtcool.learn.metrics.evaluation import COLD, FIRST, ROWS
from mtcool.learn.metrics.tallies import Metrics
from mtcool.learn.reading.pieces import pyarrow
from mtcool.learn.running.answers import written_names, written_times
from mtcool.learn.running.outcome import LearnOutcome
from mtcool.types import AnyArray, Given, Integers

Columns: TypeAlias = dict[str, Given]
"""Arrays of NumPy, or of pyarrow, by the names of the columns."""


def write_metrics(outcome: LearnOutcome, path: Path) -> None:
    """Write `metrics.csv`: one line for each stretch of the stream, at most 256."""
    times, rows, found = outcome.evaluation.over_time()
    first, last = (written_times(ends, dated=outcome.dated) for ends in times.T)
    _write(path, {"from": first, "to": last, "rows": rows, **_columns(found)})


def write_agents_over_time(outcome: LearnOutcome, path: Path) -> None:
    """Write `agents-over-time.csv`: at most 32 stretches of the rows of every agent."""
    agents, rows, times, found = outcome.evaluation.agents_over_time()
    when = written_times(times, dated=outcome.dated)
    columns = {"agent": _names(outcome, agents), "time": when, "rows": rows}
    _write(path, columns | _columns(found))


def write_agents(outcome: LearnOutcome, path: Path) -> None:
    """Write `agents.csv`: neighbours, rows, metrics and gains of every agent.

    A gain is the loss of another minus that of sharing, in squared error or log loss, on the same
    rows, as a share of the loss of the other, which is what `--json` gives for all agents; its
    standard error is that of batch means, empty where there are too few rows.
    """
    evaluation = outcome.evaluation
    agents = np.arange(len(evaluation.counts))
    columns: Columns = {
        "agent": _names(outcome, agents),
        "neighbours": np.array([outcome.neighbours(agent) for agent in agents.tolist()]),
        "rows": evaluation.counts[:, ROWS],
        "cold": evaluation.counts[:, COLD],
        "first": evaluation.counts[:, FIRST],
        **_columns(evaluation.of_agents()),
    }
    for other in evaluation.names[1:]:
        gains, loss = evaluation.gains(other), evaluation.agent_losses(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain, error = gains.mean / loss, gains.error / loss
        columns |= {f"gain_on_{other}": gain, f"error_on_{other}": error}
    _write(path, columns)


def _names(outcome: LearnOutcome, agents: Integers) -> Given:
    return written_names(np.array([*map(str, outcome.agents), None], dtype=object)[agents])


def _columns(found: dict[str, Metrics]) -> Columns:
    return {
        f"{name}_{metric}": values
        for name, metrics in found.items()
        for metric, values in metrics.items()
    }


def _not_finite(column: AnyArray) -> AnyArray | None:
    return ~np.isfinite(column) if column.dtype.kind == "f" else None


def _write(path: Path, columns: Columns) -> None:
    """Write the columns as CSV; what is not a finite number is left empty."""
    pa, files = pyarrow(), pyarrow("pyarrow.csv")
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, mask=_not_finite(column))
        for column in columns.values()
    ]
    table = pa.table(arrays, names=list(columns))
    head = ",".join(columns) + "\n"

    def fill(file: object) -> None:
        file.write(head.encode())  # type: ignore[attr-defined]
        files.write_csv(table, file, files.WriteOptions(include_header=False))

    write_whole(path, fill)
