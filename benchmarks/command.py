"""The command line that the suites of benchmarks share."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.machine import machine
from benchmarks.report import Results, as_json, as_markdown, as_table
from benchmarks.suite import Suite
from mtcool.simulation.progress import progress_bar

DOCUMENTS = Path(__file__).parent.parent / "docs"

Quick = Annotated[bool, typer.Option("--quick", help="Small sizes, a few seconds each.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Write = Annotated[bool, typer.Option("--write", help="Write the page in docs as well.")]


def command(suite: Suite) -> Callable[..., None]:
    """What `typer.run` takes: it runs the suite, prints its results and writes its page."""
    named = ", ".join(suite.benchmarks)
    one_of = typer.Option("--only", metavar="NAME", help=f"Run only this one of: {named}.")
    Only = Annotated[list[str] | None, one_of]

    def main(
        quick: Quick = False, only: Only = None, json: Json = False, write: Write = False
    ) -> None:
        chosen = only or list(suite.benchmarks)
        if unknown := [name for name in chosen if name not in suite.benchmarks]:
            raise typer.BadParameter(
                f"must be one of {named}, got {unknown[0]}", param_hint="--only"
            )
        if write and (quick or only):
            raise typer.BadParameter(
                "the document shows full runs of all benchmarks, drop --quick and --only",
                param_hint="--write",
            )
        results, on = _run(suite, chosen, quick), machine(suite.packages)
        # In a file or a pipe there is no width to keep to.
        console = Console(width=None if sys.stdout.isatty() else 160)
        if json:
            console.file.write(as_json(results, on) + "\n")
        else:
            console.print(as_table(results, on))
        if write:
            page = as_markdown(results, on, suite)
            (DOCUMENTS / suite.document).write_text(page, encoding="utf-8")

    main.__doc__ = suite.purpose
    return main


def _run(suite: Suite, names: list[str], quick: bool) -> Results:
    """One after the other; what runs shows on standard error."""
    results = {}
    with progress_bar("benchmarks", len(names), show=True) as advance:
        for name in names:
            results[name] = suite.benchmarks[name].run(quick)
            advance(1)
    return results
