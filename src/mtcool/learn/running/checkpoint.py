"""What a run keeps that ends before its data do: the model, and where to go on."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mtcool.learn.running.answers import CsvWriter
from mtcool.learn.running.current import RunningPass
from mtcool.learn.running.saved import write_pass
from mtcool.learn.running.settings import Stop


@contextmanager
def kept(run: RunningPass, path: Path, file: CsvWriter) -> Iterator[None]:
    """Save what was learned when a run ends before its data do, and say so."""
    try:
        yield
    except (KeyboardInterrupt, ValueError) as error:
        if run.rows == 0 or run.busy:
            raise
        save(run, path, file)
        where = f"{run.feed.unit} {run.line:,}"
        told = f"predictions up to {where} and the model that learned from them are kept"
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"{told}: go on with --resume {path}") from None
        raise ValueError(
            f"{error}; {told}: mend the {run.feed.unit} in this file, or skip it, and go on with "
            f"--resume {path}"
        ) from None


def save(run: RunningPass, path: Path, file: CsvWriter) -> None:
    """Write the model, with the place in the data and in the predictions."""
    run.settings.stop = Stop(run.feed.place, run.line, file.written())
    write_pass(path, run.play, run.settings)
    run.saved = time.monotonic()
