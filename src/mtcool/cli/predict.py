"""The command `mtcool predict`."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mtcool.cli.learn_options import AsJson, OnBadRow
from mtcool.cli.option_names import named_as_typed
from mtcool.cli.output import interruptible
from mtcool.cli.terminal import ascii_only, tell


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

    The model does not learn from them and stays as it is. Needs the column of the agents; features
    that are missing are taken as unknown, other columns are ignored. Agents that the model has not
    met are predicted from their neighbours; where there are none, the row is marked as cold.
    """
    from mtcool.learn.running.answers import CsvWriter, JsonWriter
    from mtcool.learn.running.predict_command import answer, open_question

    with named_as_typed(), interruptible(), _unheard():
        question = open_question(model, data, tell)
        if output is None and as_json:
            document = JsonWriter(sys.stdout, ascii_only=ascii_only())
            done = answer(question, on_bad, document, tell)
            document.finish(done._asdict())
            return
        timed = question.columns.time is not None
        place = output or sys.stdout.buffer
        with CsvWriter(place, dated=question.dated, target=False, timed=timed) as writer:
            done = answer(question, on_bad, writer, tell, progress=output is not None)
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
