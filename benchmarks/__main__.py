"""Command line of the benchmarks."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.machine import machine
from benchmarks.report import Results, as_json, as_markdown, as_table
from benchmarks.suite import SUITE
from mtcool.simulation.progress import progress_bar

DOCUMENT = Path(__file__).parent.parent / "docs" / "benchmarks.md"

Quick = Annotated[bool, typer.Option("--quick", help="Small sizes, a few seconds each.")]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="NAME", help=f"Run only this one of: {', '.join(SUITE)}."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Write = Annotated[bool, typer.Option("--write", help="Write docs/benchmarks.md as well.")]


def main(quick: Quick = False, only: Only = None, json: Json = False, write: Write = False) -> None:
    """Measure mtcool against peers and floors, and its targets."""
    chosen = only or list(SUITE)
    if unknown := [name for name in chosen if name not in SUITE]:
        names = ", ".join(SUITE)
        raise typer.BadParameter(f"must be one of {names}, got {unknown[0]}", param_hint="--only")
    if write and (quick or only):
        raise typer.BadParameter(
            "the document shows full runs of all benchmarks, drop --quick and --only",
            param_hint="--write",
        )
    results = _run(chosen, quick)
    # In a file or a pipe there is no width to keep to.
    console = Console(width=None if sys.stdout.isatty() else 160)
    if json:
        console.file.write(as_json(results, machine()) + "\n")
    else:
        console.print(as_table(results, machine()))
    if write:
        DOCUMENT.write_text(as_markdown(results, machine()), encoding="utf-8")


def _run(names: list[str], quick: bool) -> Results:
    """One after the other; what runs shows on standard error."""
    results = {}
    with progress_bar("benchmarks", len(names), show=True) as advance:
        for name in names:
            results[name] = SUITE[name].run(quick)
            advance(1)
    return results


if __name__ == "__main__":
    typer.run(main)
