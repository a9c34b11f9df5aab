"""The `mtcool` command."""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

app = typer.Typer(
    help="Multitask online learning on networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        print(version("mtcool"))
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Multitask online learning on networks."""


@app.command()
def paper(
    output: Annotated[Path, typer.Option(help="Folder for the figure and the numbers.")] = Path(
        "results/paper"
    ),
    graphs: Annotated[int, typer.Option(help="Number of random graphs.")] = 8,
    rounds: Annotated[int, typer.Option(help="Rounds on each graph.")] = 150_000,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes to run on.")] = os.cpu_count() or 1,
    quick: Annotated[bool, typer.Option("--quick", help="A small run, for a first look.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Compare MT-CO2OL with its baselines on the paper's instance, at two gradient bounds.

    The paper does not say which gradient bound L its algorithms were given, and L decides who wins:
    both L = 1, its own normalisation, and L = 4 are shown. The first run compiles for about a
    minute; after that the default size takes about a minute on two cores.
    """
    from mtcool.experiments.comparison import compare
    from mtcool.experiments.figures import regret_over_time

    if quick:
        graphs, rounds = min(graphs, 2), min(rounds, 10_000)
    show = not as_json and sys.stderr.isatty()
    comparisons = [
        compare(graphs, rounds, bound, seed=seed, workers=workers, progress=show)
        for bound in (1.0, 4.0)
    ]
    output.mkdir(parents=True, exist_ok=True)
    regret_over_time(comparisons, output / "regret.png")
    summary = {
        "graphs": graphs,
        "rounds": rounds,
        "seed": seed,
        "mean_local_deviation": comparisons[0].deviation,
        "regret": {
            f"L = {comparison.bound:g}": {
                name: {"mean": mean, "standard_error": error}
                for name, (mean, error) in comparison.final().items()
            }
            for comparison in comparisons
        },
    }
    (output / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    if as_json:
        print(json.dumps(summary, indent=2))
        return
    table = Table(title=f"Regret after {rounds:,} rounds, mean ± standard error of {graphs} graphs")
    table.add_column("algorithm")
    for comparison in comparisons:
        table.add_column(f"L = {comparison.bound:g}", justify="right")
    for name in comparisons[0].regret:
        table.add_row(name, *(_cell(*comparison.final()[name]) for comparison in comparisons))
    Console().print(table)
    Console().print(f"Figure and numbers are in {output}", highlight=False)


def _cell(mean: float, error: float | None) -> str:
    return f"{mean:.3g}" if error is None else f"{mean:.3g} ± {error:.2g}"


def main() -> None:
    """Run the command; an error is one sentence, not a traceback."""
    try:
        app()
    except (ValueError, OSError) as error:
        print(f"mtcool: {error}", file=sys.stderr)
        sys.exit(2)
