"""Command line of the ablation."""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.command import DOCUMENTS
from benchmarks.learn.ablation.table import Losses, as_markdown
from benchmarks.learn.ablation.variants import VARIANTS
from mtcool.simulation.progress import progress_bar

PAGE = DOCUMENTS / "learning.md"
BEGIN, END = "<!-- ablation: begin -->\n", "<!-- ablation: end -->\n"

Quick = Annotated[bool, typer.Option("--quick", help="The first rows of each stream only.")]
Write = Annotated[bool, typer.Option("--write", help="Write the table into docs/learning.md.")]
Workers = Annotated[int, typer.Option(min=1, help="Variants that run beside each other.")]


def main(quick: Quick = False, write: Write = False, workers: Workers = 2) -> None:
    """Measure what each part and each constant of the learner is worth."""
    if write and quick:
        raise typer.BadParameter("the page shows full runs, drop --quick", param_hint="--write")
    with (
        ThreadPoolExecutor(workers) as pool,
        progress_bar("variants", len(VARIANTS), show=True) as advance,
    ):
        found = {}
        runs = pool.map(lambda name: run_alone(name, quick), VARIANTS)
        for name, losses in zip(VARIANTS, runs, strict=True):
            found[name] = losses
            advance(1)
    table = as_markdown(found)
    sys.stdout.write(table)
    if write:
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")


def run_alone(name: str, quick: bool) -> Losses:
    """Losses of a variant, from a process with an empty compile cache."""
    command = [sys.executable, "-m", "benchmarks.learn.ablation.one", name]
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [*command, "--quick"] if quick else command,
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[3],
        )
    if done.returncode != 0:
        raise ChildProcessError(f"variant {name!r} failed:\n{done.stderr}")
    losses: Losses = json.loads(done.stdout)
    return losses


def with_table(page: str, table: str) -> str:
    """The page with the table between its two marks."""
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not (found and ended):
        raise ValueError(f"page must have the lines {BEGIN!r} and {END!r}, got none")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


if __name__ == "__main__":
    typer.run(main)
