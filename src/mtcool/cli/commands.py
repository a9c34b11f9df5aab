"""The `mtcool` command."""

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import mtcool
from mtcool.cli import privacy
from mtcool.cli.advise import advise
from mtcool.cli.certs import certs
from mtcool.cli.errors import end
from mtcool.cli.learn import learn
from mtcool.cli.node import node
from mtcool.cli.option_names import named_as_typed
from mtcool.cli.output import interruptible, stdout_kept_for_json, workers_not_from_here
from mtcool.cli.predict import predict
from mtcool.cli.prune import prune
from mtcool.cli.reload import reload
from mtcool.cli.replay import replay
from mtcool.cli.status import status
from mtcool.cli.terminal import (
    ascii_only,
    console,
    prepare_streams,
    read_to_the_end,
    shown,
    tell,
)
from mtcool.cli.up import up
from mtcool.cli.watch import watch

if TYPE_CHECKING:
    from mtcool.experiments.report.outcome import Outcome, SectionSummary
    from mtcool.experiments.report.overview import Judged
    from mtcool.experiments.running.engines import EngineName as EngineWord

app = typer.Typer(
    help="Multitask online learning on networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # which would take [default: ...] for markup, and flags for values
)

privacy.app.command()(advise)
app.add_typer(privacy.app, name="privacy", no_args_is_help=True)
app.command()(learn)
app.command()(predict)
for live in (up, node, watch, certs, status, reload, replay, prune):
    app.command()(live)

Workers = Annotated[int, typer.Option(help="Processes to run on.")]
EngineName = Annotated[str, typer.Option("--engine", help="local, or dask.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of the Dask scheduler.")]
Quick = Annotated[bool, typer.Option("--quick", help="Few short runs, for a first look.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Side: TypeAlias = Literal["left", "right"]
Summary: TypeAlias = "dict[str, SectionSummary]"
"""Of every experiment by name."""
Tell: TypeAlias = "Callable[[Summary, Path], None]"
# Cores that this process may use, where the system tells.
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
COLOURS = {"holds": "green", "undecided": "yellow", "does not hold": "red", "not judged": "cyan"}


def _show_version(asked: bool) -> None:
    if asked:
        print(mtcool.__version__)
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
def warm(workers: Workers = CORES, as_json: AsJson = False) -> None:
    """Compile every algorithm ahead of time: for containers, fleets and continuous integration.

    Takes some minutes. Otherwise each algorithm compiles when it is first used, once per machine.
    """
    from mtcool.kernels.cache import require_cache
    from mtcool.simulation.warm import warm as compile_all

    began, folder = time.perf_counter(), str(require_cache())
    count = compile_all(workers, progress=True)
    took = time.perf_counter() - began
    if as_json:
        print(json.dumps({"combinations": count, "seconds": round(took, 1), "folder": folder}))
    else:
        print(f"{count} combinations of algorithm, learner and loss are compiled in {folder}")


@app.command()
def paper(
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the results.  [default: results/paper, or paper-quick]"),
    ] = None,
    workers: Workers = CORES,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="The paper's figures, and exact Hedge on few graphs.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="All 48 graphs everywhere.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A section to run, such as hedge; may be given again."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce the experiments of the paper, and run those that it could not show.

    Both figures run at full size and come first: the report is there when they are, and is written
    again as the rest is finished, on fewer graphs unless --full is given. Finished runs stay on
    disk: interrupt it, run it again, and it goes on.
    """
    from mtcool.experiments.api import run_all
    from mtcool.experiments.running.engines import choose_engine
    from mtcool.experiments.running.suite import (
        LEARNER,
        TITLE,
        paper_lead,
        paper_sections,
        paper_tasks,
    )

    with named_as_typed():
        sections = paper_sections(only or (), quick=quick)
        tasks = paper_tasks(sections, full=full, quick=quick)
    folder = output or Path("results") / ("paper-quick" if quick else "paper")
    place = choose_engine(cast("EngineWord", engine), workers, scheduler)
    with interruptible():
        outcomes = run_all(
            TITLE,
            paper_lead(sections),
            tasks,
            folder,
            place,
            progress=True,
            learner=LEARNER in sections,
            tell=tell,
        )
    _show(outcomes, as_json, partial(_tell_many, tally=outcomes[0].tally))


@app.command()
def run(
    experiment: Annotated[Path, typer.Argument(help="An experiment file in TOML.")],
    output: Annotated[
        Path | None, typer.Option(help="Folder for the results.  [default: results/NAME]")
    ] = None,
    workers: Workers = CORES,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    quick: Quick = False,
    as_json: AsJson = False,
) -> None:
    """Run any experiment: graphs x streams x algorithms x seeds, described in a file.

    Finished runs stay on disk: interrupt it, run it again, and it goes on.
    """
    _run_file(experiment, output, workers, engine, scheduler, quick, as_json, _tell)


@app.command()
def theory(
    experiment: Annotated[Path, typer.Argument(help="An experiment file in TOML.")],
    output: Annotated[
        Path | None, typer.Option(help="Folder for the results.  [default: results/NAME]")
    ] = None,
    workers: Workers = CORES,
    quick: Quick = False,
    as_json: AsJson = False,
) -> None:
    """Show what the theory promises and forbids for an experiment, next to the measured regret.

    Runs the experiment, or takes it from disk, and shows the graph parameters, the bound for each
    algorithm, the worst case that none can avoid, and the ratio of regret to bound: for the first
    replicate, or for the mean of all if the bound holds in expectation.
    """
    _run_file(experiment, output, workers, "local", None, quick, as_json, _tell_theory)


def _run_file(
    experiment: Path,
    output: Path | None,
    workers: int,
    engine: str,
    scheduler: str | None,
    quick: bool,
    as_json: bool,
    tell: "Tell",
) -> None:
    from mtcool import experiments

    with interruptible(), stdout_kept_for_json() if as_json else nullcontext():
        outcome = experiments.run(
            experiment,
            output,
            workers=workers,
            engine=cast("EngineWord", engine),  # other words are refused there
            scheduler=scheduler,
            quick=quick,
            progress=True,
        )
    _show([outcome], as_json, tell)


def _show(outcomes: Sequence["Outcome"], as_json: bool, tell: "Tell") -> None:
    summary = {outcome.name: outcome.summary for outcome in outcomes}
    if as_json:
        print(json.dumps(summary, indent=1, ensure_ascii=ascii_only()))
    else:
        tell(summary, outcomes[0].folder)


def _tell(summary: "Summary", folder: Path) -> None:
    """Print the findings, and where the rest is."""
    screen = console()
    for name, part in summary.items():
        _tell_name(screen, name, part["replicates"])
        _tell_quick(screen, part["quick"])
        for sentence in part["defaults"]:
            screen.print(f"  setting: {shown(sentence)}", markup=False)
        for finding in part["findings"]:
            screen.print(f"  {shown(finding)}", markup=False)
        for sentence in part["gradients"]:
            screen.print(f"  gradients: {shown(sentence)}", markup=False)
        for sentence in part["theory"]:
            screen.print(f"  theory: {shown(sentence)}", markup=False)
        for claim in part["claims"]:
            _tell_claim(screen, claim, note=True)
    screen.print(
        f"Open {folder / 'report.html'}; figures, tables and raw data are beside it.", markup=False
    )


def _tell_many(summary: "Summary", folder: Path, tally: str) -> None:
    """Print the verdict on every claim, experiment by experiment; the report has the rest."""
    screen = console()
    for name, part in summary.items():
        _tell_name(screen, name, part["replicates"])
        for claim in part["claims"]:
            _tell_claim(screen, claim, note=False)
        screen.print(f"  theory: {shown(part['theory'][0])}", markup=False)
    screen.print(shown(tally), markup=False, style="bold")
    if any(part["quick"] for part in summary.values()):
        screen.print(
            "This was a QUICK LOOK, in part on few graphs: with more of them other claims may be "
            "decided.",
            markup=False,
            style="yellow",
        )
    screen.print(
        f"Open {folder / 'report.html'} for all findings; figures, tables and raw data are beside "
        "it.",
        markup=False,
    )


def _tell_name(screen: Console, name: str, replicates: int) -> None:
    many = "s" if replicates > 1 else ""
    screen.print(f"{name} ({replicates} replicate{many})", style="bold", markup=False)


def _tell_claim(screen: Console, claim: "Judged", *, note: bool) -> None:
    told = f"  {claim['verdict'].capitalize()}: {claim['text']}"
    told += f" ({claim['note']})" if note else ""
    screen.print(shown(told), markup=False, style=COLOURS[claim["verdict"]])


def _tell_quick(screen: Console, size: dict[str, int] | None) -> None:
    if size is not None:
        told = f"  QUICK LOOK: {size['replicates']} of {size['of_replicates']} replicates"
        if size["rounds"] < size["of_rounds"]:
            told += f", {size['rounds']:,} of {size['of_rounds']:,} rounds; longer runs may end in "
            told += "another order"
        screen.print(f"{told}.", markup=False, style="yellow")


def _tell_theory(summary: "Summary", folder: Path) -> None:
    """Print graph parameters, bounds and ratios as tables."""
    screen = console()
    for part in summary.values():
        _tell_quick(screen, part["quick"])
        graph = ("graph at", "agents", "edges", "N_min", "N_max", "α", "α₂", "γ")
        screen.print(_table(graph, part["graphs"]))
        # Statements are long: the table has a number for each, and they stand below it.
        numbers = {row[-1]: "" for row in part["promises"]}
        numbers = {words: f"[{k}]" for k, words in enumerate(numbers, start=1)}
        heads = ("point", "algorithm", "worst case", "measured", "bound", "ratio", "see")
        rows = [[*row[:-1], numbers[row[-1]]] for row in part["promises"]]
        screen.print(_table(heads, rows))
        for words, number in numbers.items():
            screen.print(f"{number} {shown(words)}", markup=False)
        for sentence in part["theory"]:
            screen.print(shown(sentence), markup=False)
    screen.print(f"Open {folder / 'report.html'}; theory.csv is beside it.", markup=False)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table that is narrow enough for 80 columns, so that words stay whole."""
    table = Table(box=box.SIMPLE)
    for head in heads:
        side: Side = "left" if head in ("graph at", "point", "algorithm") else "right"
        table.add_column(shown(head), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*(escape(shown(cell)) for cell in row))
    return table


def main() -> None:
    """Run the command; an error is one sentence, not a traceback."""
    prepare_streams()
    with read_to_the_end(), workers_not_from_here():
        try:
            app()
        except (OSError, ValueError, MemoryError) as error:
            end(error)
        except ImportError as error:  # an extra that is not installed
            end(error)
