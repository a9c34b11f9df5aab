"""All of `mtcool predict`: answers of a saved model, which stays as it is."""

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from mtcool import validation
from mtcool.learn.reading.encoding import Encoder
from mtcool.learn.reading.sources import open_source
from mtcool.learn.reading.tables import OnBad, read_batches
from mtcool.learn.running.answers import Writer
from mtcool.learn.running.current import Tell
from mtcool.learn.running.feed import ROWS, STANDARD_INPUT, count_rows
from mtcool.learn.running.saved import read_pass
from mtcool.learn.running.whole import TOLD
from mtcool.simulation.progress import progress_bar


class Answered(NamedTuple):
    """How many rows were answered, and how."""

    rows: int
    skipped: int
    cold: int


def predict(
    model: Path, data: str, on_bad: str, writer: Writer, tell: Tell, *, progress: bool = False
) -> Answered:
    """Write what the model predicts for every row of the data; nothing is learned from them.

    Targets that the model was told, and that were still waiting for their time, count as known.
    Columns that the data have and the model does not know are ignored.
    """
    stops = cast("OnBad", validation.one_of("on_bad", on_bad, ("skip", "stop")))
    play, settings = read_pass(model)
    play.settle()
    encoder = play.learned.encoder
    columns = replace(
        settings.columns, target=None, time=None, arrives=None, features=None, categories=()
    )
    if data != STANDARD_INPUT:
        os.stat(data)  # whose complaint names the file
        _tell_missing(data, columns.agent, encoder, tell)
    known, strangers = set(play.learned.agents), dict[str, None]()
    rows = skipped = cold = 0
    total = None if data == STANDARD_INPUT else count_rows(Path(data))
    with progress_bar("rows", total, progress) as advance:
        for batch, bad in read_batches(data, columns, encoder, on_bad=stops, rows=ROWS):
            for row in bad[: max(TOLD - skipped, 0)]:
                tell(f"{data}, line {row.line}: {row.reason} (skipped)")
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


def _tell_missing(data: str, agent: str, encoder: Encoder, tell: Tell) -> None:
    """Name features of the model that the data do not have: they are taken as unknown."""
    names = open_source(data, agent).names
    missing = [name for name in encoder.kinds if name not in names]
    if missing and np.any([name not in missing for name in encoder.kinds]):
        tell(f"{data} has no column {', '.join(missing)}, which is taken as unknown")
