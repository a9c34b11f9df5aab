"""The tables beside the report: metrics over time and by agent."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mtcool.files import write_whole
from mtcool.learn.evaluation import COLD, FIRST, ROWS
from mtcool.learn.outcome import Outcome
from mtcool.learn.tallies import Metrics


def write_metrics(outcome: Outcome, path: Path) -> None:
    """Write `metrics.csv`: one line for each stretch of the stream, at most 256."""
    times, rows, found = outcome.evaluation.over_time()
    names = list(outcome.evaluation.names)
    heads = ["from", "to", "rows", *_heads(names, found)]
    lines = (
        [first, last, count, *_numbers(names, metrics)]
        for (first, last), count, metrics in zip(times.tolist(), rows.tolist(), found, strict=True)
    )
    _write(path, heads, lines)


def write_agents_over_time(outcome: Outcome, path: Path) -> None:
    """Write `agents-over-time.csv`: at most 32 stretches of the rows of every agent."""
    agents, rows, times, found = outcome.evaluation.agents_over_time()
    names = list(outcome.evaluation.names)
    lines = (
        [outcome.agents[agent], time, count, *_numbers(names, metrics)]
        for agent, count, time, metrics in zip(
            agents.tolist(), rows.tolist(), times.tolist(), found, strict=True
        )
    )
    _write(path, ["agent", "time", "rows", *_heads(names, found)], lines)


def write_agents(outcome: Outcome, path: Path) -> None:
    """Write `agents.csv`: rows, metrics and gains of every agent.

    A gain is the loss of another minus that of sharing, in squared error or log loss, on the same
    rows; its standard error is that of batch means, empty where there are too few rows.
    """
    evaluation = outcome.evaluation
    names, others = list(evaluation.names), evaluation.names[1:]
    found = [evaluation.of_agent(agent) for agent in range(len(evaluation.counts))]
    gains = {other: evaluation.gains(other) for other in others}
    heads = ["agent", "neighbours", "rows", "cold", "first", *_heads(names, found)]
    heads += [f"{part}_{other}" for other in others for part in ("gain_on", "error_on")]
    lines = (
        [
            outcome.agents[agent],
            outcome.neighbours(agent),
            *(int(evaluation.counts[agent, kind]) for kind in (ROWS, COLD, FIRST)),
            *_numbers(names, metrics),
            *(
                _shown(float(part[agent]))
                for other in others
                for part in (gains[other].mean, gains[other].error)
            ),
        ]
        for agent, metrics in enumerate(found)
    )
    _write(path, heads, lines)


def _heads(names: Sequence[str], found: Sequence[dict[str, Metrics]]) -> list[str]:
    return [f"{name}_{metric}" for name in names for metric in (found[0][name] if found else ())]


def _numbers(names: Sequence[str], metrics: dict[str, Metrics]) -> list[float | str]:
    return [_shown(number) for name in names for number in metrics[name].values()]


def _shown(number: float) -> float | str:
    return number if np.isfinite(number) else ""


def _write(path: Path, heads: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(lines)
    write_whole(path, lambda file: file.write(text.getvalue().encode()))
