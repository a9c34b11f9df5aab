"""The results as a table for the terminal, as Markdown and as JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rich.table import Table

from benchmarks.result import Result
from benchmarks.suite import Suite

Results: TypeAlias = Mapping[str, Sequence[Result]]


def as_table(results: Results, machine: Mapping[str, str]) -> Table:
    """For the terminal."""
    table = Table(title="Benchmarks", caption=_on(machine), show_lines=True)
    for column in ("what", "against"):
        table.add_column(column, overflow="fold")
    for column in ("target", "measured", "verdict"):
        table.add_column(column, justify="right")
    colours = {True: "green", False: "red", None: "default"}
    for rows in results.values():
        for row in rows:
            verdict = f"[{colours[row.met]}]{_verdict(row)}"
            table.add_row(row.what, row.against, _target(row), _measured(row), verdict)
    return table


def as_markdown(results: Results, machine: Mapping[str, str], suite: Suite) -> str:
    """For the suite's page in `docs`."""
    lines = [
        f"# {suite.title}",
        "",
        suite.introduction,
        "",
        f"Measured on {_on(machine)}.",
    ]
    for name, rows in results.items():
        title, _, body = suite.explanation(name).partition("\n\n")
        lines += ["", f"## {title.rstrip('.')}", "", " ".join(body.split()), ""]
        lines += ["| what | against | target | measured | verdict |", "|---|---|--:|--:|--:|"]
        for row in rows:
            cells = (row.what, row.against, _target(row), _measured(row), _verdict(row))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def as_json(results: Results, machine: Mapping[str, str]) -> str:
    """For programs."""
    plain = {name: [row.as_dict() for row in rows] for name, rows in results.items()}
    return json.dumps({"machine": dict(machine), "results": plain}, indent=2, ensure_ascii=False)


def _on(machine: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in machine.items())


def _number(value: float) -> str:
    if value == 0.0 or value >= 1000.0:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _with_unit(value: float, row: Result) -> str:
    return f"{_number(value)} {row.unit}".rstrip()


def _target(row: Result) -> str:
    if row.target is None:
        return "-"
    return f"{'≥' if row.target.at_least else '≤'} {_with_unit(row.target.bound, row)}"


def _measured(row: Result) -> str:
    return _with_unit(row.measured, row)


def _verdict(row: Result) -> str:
    if row.target is None:
        return "-"
    return "met" if row.met else f"missed by {row.target.shortfall(row.measured):.2f} times"
