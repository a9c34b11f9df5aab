"""Reading included: 100,000 rows of births from CSV, next to pandas and River on a tenth of them.

Both are whole processes with a filled compile cache, from their start to their end. `mtcool learn`
reads the table and the graph, learns in three ways and writes its report; the other reads with
`pandas.read_csv` and plays River's pipeline of each state (`river_csv.py`). About half of mtcool's
seconds are imports (numba, scipy.sparse, pyarrow and the pandas that pyarrow imports), a third are
learning in four ways: shared, alone, pooled, and on the shuffled graph.
"""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.learn.problem import Problem, problems
from benchmarks.learn.rivals import river_csv
from benchmarks.learn.score import say
from benchmarks.result import Result, at_most
from benchmarks.timing import Run, fastest

ROWS = 100_000
TIMES_LESS = 10


def run(quick: bool) -> list[Result]:
    """Seconds of the one over seconds of the other."""
    problem = problems("births", quick)[0].first(ROWS)
    rows = len(problem.target)
    say(f"reading: mtcool learn on {rows:,} rows, pandas and River on {rows // TIMES_LESS:,}")
    with tempfile.TemporaryDirectory() as folder:
        many, few, graph = (Path(folder) / name for name in ("many.csv", "few.csv", "edges.csv"))
        _write(problem, many)
        _write(problem.first(rows // TIMES_LESS), few)
        _write_graph(problem, graph)
        contestants = {
            "mtcool": lambda: _learn(many, graph, tempfile.mkdtemp(dir=folder)),
            "River": lambda: _process(river_csv.__file__, str(few)),
        }
        best = fastest(contestants, repetitions=1 if quick else 3)
    return [
        Result(
            f"births from CSV, {rows:,} rows: seconds over pandas and River on {rows // 10:,}",
            f"mtcool learn {best['mtcool']:.2f} s; pandas and River {best['River']:.2f} s",
            best["mtcool"] / best["River"],
            target=at_most(1.0),
        )
    ]


def _learn(table: Path, graph: Path, output: str) -> Run:
    columns = ("--agent", "agent", "--target", "target", "--time", "time")
    places = ("--graph", str(graph), "--output", output, "--json")
    return _process("-m", "mtcool", "learn", str(table), *columns, *places)


def _process(*arguments: str) -> Run:
    command = [sys.executable, *arguments]
    # As after an installation, Python finds what it compiled before.
    keep = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run(command, env=keep, check=True, capture_output=True)


def _write(problem: Problem, path: Path) -> None:
    names = [f"x{k}" for k in range(problem.features.shape[1])]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["agent", "time", "target", *names])
        labels = (problem.graph.labels[i] for i in problem.agent)
        columns = (
            labels,
            problem.time.tolist(),
            problem.target.tolist(),
            problem.features.tolist(),
        )
        for agent, time, y, x in zip(*columns, strict=True):
            writer.writerow([agent, time, y, *x])


def _write_graph(problem: Problem, path: Path) -> None:
    edges = problem.graph.to_networkx().edges
    path.write_text("".join(f"{a},{b}\n" for a, b in edges), encoding="utf-8")
