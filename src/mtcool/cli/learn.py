"""The commands `mtcool learn` and `mtcool predict`."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mtcool.cli.keeping import interruptible, stdout_kept_for_json
from mtcool.cli.terminal import ascii_only, console, shown

if TYPE_CHECKING:
    from mtcool.learn.running.outcome import Outcome

AsJson = Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")]
OnBadRow = Annotated[
    str,
    typer.Option(
        "--on-bad",
        help="stop at the first bad row, or skip bad rows and count them.",
        metavar="skip|stop",
    ),
]
COLOURS = {"good": "green", "open": "yellow", "bad": "red"}


def learn(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A CSV or Parquet file, - for CSV from standard input, or one of the built-in "
            "streams births, flights, schools, which need no options.",
        ),
    ],
    agent: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the agent of each row.")
    ] = None,
    target: Annotated[str | None, typer.Option(metavar="COL", help="Column to predict.")] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column with the time of each row, a number or a date; must not go backwards. "
            "Rows of one time are all predicted before any is learned from.",
        ),
    ] = None,
    arrives: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column with the time when the target becomes known."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="COLS", help="Columns to predict from, with commas.  [default: all others]"
        ),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(metavar="COLS", help="Columns of numbers that are names, such as postcodes."),
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="GRAPH",
            help="Who talks to whom: an edge list (.csv, .txt), .graphml, .gal and others; "
            "complete, or none.  [default: complete, up to 300 agents]",
        ),
    ] = None,
    near: Annotated[
        str | None,
        typer.Option(
            metavar="LAT,LON", help="Columns with the agents' places: the nearest are neighbours."
        ),
    ] = None,
    neighbours: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many are nearest, with --near.  [default: 5]"),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="regression|classification",
            help="Predict a number, or the probability of 1.  [default: regression]",
        ),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            metavar="gradients|rows",
            help="What neighbours are told. With gradients rows stay with their agents; with rows "
            "they tell sums over them too.  [default: gradients]",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the results.  [default: results/NAME]"),
    ] = None,
    as_json: AsJson = False,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Go on with a saved model, which remembers columns and graph. Metrics and "
            "report are then about all rows since it was begun.",
        ),
    ] = None,
    on_bad: OnBadRow = "stop",
) -> None:
    """Learn from a table of many agents: does sharing help them.

    Every row is predicted before its target is used: by agents that share with their neighbours,
    by each alone, and by one model for all. The folder then has report.html, every prediction,
    metrics over time and by agent, and a model for `mtcool predict` and --resume.
    """
    from mtcool.learn.report import write_report
    from mtcool.learn.running.asked import Asked, words_of
    from mtcool.learn.running.whole import learn as learn_all

    asked = Asked(
        data=data,
        agent=agent,
        target=target,
        time=time,
        arrives=arrives,
        features=words_of(features),
        categories=words_of(categories),
        graph=graph,
        near=words_of(near),
        neighbours=neighbours,
        task=task,
        share=share,
        on_bad=on_bad,
    )
    folder = output or Path("results") / asked.short_name
    with interruptible(), stdout_kept_for_json() if as_json else nullcontext():
        outcome = learn_all(asked, folder, resume, _tell, progress=True)
        write_report(outcome, folder, progress=True)
    if as_json:
        print(json.dumps(outcome.summary(), indent=1))
    else:
        _show(outcome, folder)


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model that mtcool learn saved.")
    ],
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A CSV or Parquet file, or - for standard input.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file for the predictions.  [default: the screen]"),
    ] = None,
    as_json: AsJson = False,
    on_bad: OnBadRow = "stop",
) -> None:
    """Predict the rows of a table with a saved model.

    The model does not learn from them and stays as it is. Needs the column of the agents and the
    columns that the model was given; others are ignored. Agents that the model has not met are
    predicted from their neighbours; where there are none, the row is marked as cold.
    """
    from mtcool.learn.running.answers import CsvWriter, JsonWriter
    from mtcool.learn.running.asking import predict as answer_all

    with interruptible(), _unheard():
        if output is None and as_json:
            document = JsonWriter(sys.stdout, ascii_only=ascii_only())
            done = answer_all(model, data, on_bad, document, _tell)
            document.finish(done._asdict())
            return
        place = output or sys.stdout.buffer
        with CsvWriter(place, dated=False, target=False) as writer:
            done = answer_all(model, data, on_bad, writer, _tell, progress=output is not None)
    if output is not None:
        _end(done._asdict(), output, as_json)


@contextmanager
def _unheard() -> Iterator[None]:
    """End without a word when whoever reads our output has gone, as `head` does."""
    try:
        yield
    except BrokenPipeError:
        # Python would complain again when it empties the stream at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None


def _end(numbers: dict[str, int], output: Path, as_json: bool) -> None:
    if as_json:
        print(json.dumps(numbers))
    else:
        cold = f", {numbers['cold']:,} of them cold" if numbers["cold"] else ""
        bad = f", {numbers['skipped']:,} bad rows skipped" if numbers["skipped"] else ""
        print(f"{numbers['rows']:,} predictions{cold}{bad}: {output}")


def _tell(sentence: str) -> None:
    print(f"mtcool: {sentence}", file=sys.stderr, flush=True)


def _show(outcome: "Outcome", folder: Path) -> None:
    """Print what the report says at its top, and where the rest is."""
    from mtcool.learn.report import findings, headline_table

    screen = console()
    verdict = findings.verdict(outcome)
    screen.print(f"Does sharing help? {shown(outcome.name)}", style="bold", markup=False)
    screen.print(shown(verdict.headline), markup=False, style=COLOURS[verdict.tone])
    screen.print(shown(verdict.advice), markup=False)
    for line in headline_table(outcome):
        screen.print(f"  {shown(line)}", markup=False)
    parts = {
        "Who gains": findings.who_gains(outcome),
        "Does the graph matter": [findings.graph_matters(outcome)],
        "What it costs": [findings.costs(outcome)],
        "The data": findings.about_rows(outcome),
    }
    for title, sentences in parts.items():
        screen.print(f"{title}: {shown(' '.join(sentences))}", markup=False)
    screen.print(
        f"Open {folder / 'report.html'}; predictions, tables and the model are beside it.",
        markup=False,
    )
