"""All of `mtcool predict`: answers of a saved model, which stays as it is."""

from pathlib import Path
from typing import NamedTuple, cast

from mtcool import validation
from mtcool.learn.reading.sources import OpenTable, open_source
from mtcool.learn.reading.tables import Columns, OnBad, read_batches
from mtcool.learn.running.answers import AnswerWriter
from mtcool.learn.running.current import Tell
from mtcool.learn.running.feed import (
    ROWS,
    STANDARD_INPUT,
    check_no_pipe,
    count_rows,
    is_dated,
)
from mtcool.learn.running.learn_command import TOLD
from mtcool.learn.running.run import Pass
from mtcool.learn.running.saved import read_pass
from mtcool.simulation.progress import progress_bar

SHOWN = 10
"""Columns of the data that are named where none of them is known."""


class Answered(NamedTuple):
    """How many rows were answered, and how."""

    rows: int
    skipped: int
    cold: int


class PredictOptions(NamedTuple):
    """A saved model, and rows that it is asked about.

    Attributes
    ----------
    play
        The model, which has learned from all targets that it was told.
    source
        The rows.
    columns
        Which of their columns is what; without a time if they have none.
    dated
        Whether their times are dates.
    total
        Rows, nearly; None if that is not known.
    """

    play: Pass
    source: OpenTable
    columns: Columns
    dated: bool
    total: int | None


def open_question(model: Path, data: str, tell: Tell) -> PredictOptions:
    """Open a model and a table, and tell which of the model's features the table does not have.

    Targets that the model was told, and that were still waiting for their time, count as known.
    Columns that the data have and the model does not know are ignored.
    """
    play, settings = read_pass(model)
    play.settle()
    if data != STANDARD_INPUT:
        check_no_pipe(data)
    known = settings.columns
    source = open_source(data, known.agent)
    features = tuple(name for name in play.learned.encoder.kinds if name in source.names)
    missing = [name for name in play.learned.encoder.kinds if name not in features]
    if missing and not features:
        raise ValueError(
            f"{source.name} must have columns that the model knows, such as {missing[0]!r}, got "
            f"{', '.join(map(repr, source.names[:SHOWN]))}"
        )
    if missing:
        names = ", ".join(missing)
        are = "which is" if len(missing) == 1 else "which are"
        tell(f"{source.name} has no column {names}, {are} taken as unknown")
    columns = Columns(
        agent=known.agent,
        time=known.time if known.time in source.names else None,
        features=features,
    )
    from_file = data != STANDARD_INPUT
    dated = is_dated(data, columns) if from_file else settings.dated
    return PredictOptions(
        play, source, columns, dated, count_rows(Path(data)) if from_file else None
    )


def answer(
    question: PredictOptions,
    on_bad: str,
    writer: AnswerWriter,
    tell: Tell,
    *,
    progress: bool = False,
) -> Answered:
    """Write what the model predicts for every row of the data; nothing is learned from them."""
    play, source, columns, _, total = question
    stops = cast("OnBad", validation.one_of("on_bad", on_bad, ("skip", "stop")))
    batches = read_batches(source, columns, play.learned.encoder, on_bad=stops, rows=ROWS)
    known, strangers = set(play.learned.agents), dict[str, None]()
    rows = skipped = cold = 0
    with progress_bar("rows", total, progress) as advance:
        for batch, bad in batches:
            for row in bad[: max(TOLD - skipped, 0)]:
                tell(f"{source.name}, {source.unit} {row.line}: {row.reason} (skipped)")
            if batch.line.size:
                answers = play.answer(batch)
                writer.write(answers)
                cold += int(answers.cold.sum())
                strangers |= dict.fromkeys(name for name in batch.agents if name not in known)
            rows, skipped = rows + batch.line.size, skipped + len(bad)
            advance(batch.line.size + len(bad))
    if strangers:
        names = ", ".join([*strangers][:TOLD])
        more = f" and {len(strangers) - TOLD:,} more" if len(strangers) > TOLD else ""
        tell(f"agents that the model has not met: {names}{more}")
    return Answered(rows, skipped, cold)
