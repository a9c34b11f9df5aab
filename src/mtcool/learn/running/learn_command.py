"""All of `mtcool learn`: one pass over the data, a folder with what it found, a model to go on."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from mtcool.learn.reading.tables import BadRow, Batch, Columns
from mtcool.learn.running.answers import CsvWriter
from mtcool.learn.running.checkpoint import kept, save
from mtcool.learn.running.current import RunningPass, Tell
from mtcool.learn.running.feed import Feed, check_data, is_built_in, is_dated, open_feed
from mtcool.learn.running.interrupts import noted
from mtcool.learn.running.network import check_names, check_size, network_of
from mtcool.learn.running.options import LearnOptions
from mtcool.learn.running.outcome import LISTED, LearnOutcome
from mtcool.learn.running.run import Pass
from mtcool.learn.running.saved import read_pass, write_pass
from mtcool.learn.running.settings import PassSettings, Stop
from mtcool.simulation.progress import progress_bar
from mtcool.streams.table import Table

MODEL = "model.npz"
PREDICTIONS = "predictions.csv"
BETWEEN_SAVES = 60.0
"""Seconds after which a run saves its model: what a crash can cost."""
TOLD = 5
"""Bad rows that are told at once; the rest are counted."""


def learn(
    asked: LearnOptions,
    output: Path,
    resume: Path | None,
    tell: Tell,
    report: Callable[[LearnOutcome], object],
    *,
    progress: bool = False,
) -> LearnOutcome:
    """Play the data, write predictions and model into the folder, and report what was found.

    The model is saved every minute, when a run is interrupted, and when a bad row stops it; with
    `resume` the same data are then gone on with. It counts as done when `report` has returned: a
    run that ended before is gone on with to its report. Of data that were done, and have grown
    since, only the new rows are played.
    """
    run = _begin(asked, tell) if resume is None else _go_on(asked, resume, tell)
    run.settings.begin(same=run.feed.is_where(run.settings.stop))
    beginning = run.feed.beginning()  # now: later another file may be in this place
    stop = run.settings.stop
    run.line = stop.line if stop is not None else 0
    # The predictions of the same file go on where they ended, if they are in the same folder.
    beside = resume is not None and os.path.realpath(resume.parent) == os.path.realpath(output)
    after = _kept_of(output / PREDICTIONS, stop) if beside else 0
    done = max(run.line - 1, 0)  # the header is no row
    with (
        CsvWriter(output / PREDICTIONS, dated=run.settings.dated, target=True, after=after) as file,
        kept(run, output / MODEL, file),
        noted() as pressed,
        progress_bar("rows", run.feed.total, progress, done=done) as advance,
    ):
        for batch, bad in _batches(run):
            _play(run, batch, bad, file)
            advance(batch.line.size + len(bad))
            if pressed():
                raise KeyboardInterrupt
            if time.monotonic() > run.saved + BETWEEN_SAVES:
                save(run, output / MODEL, file)
        if run.rows == 0 and stop is None:
            raise ValueError(f"data must have rows to learn from, got none in {run.feed.name}")
        if run.rows == 0 and stop is not None and stop.finished is not None:
            raise ValueError(
                f"data must have rows that {resume} has not learned from, got none in "
                f"{run.feed.name} after {run.feed.unit} {stop.line:,}"
            )
        save(run, output / MODEL, file)
        if pressed():
            raise KeyboardInterrupt
    outcome = _outcome(run)
    _name_strangers(outcome, tell)
    try:
        report(outcome)
    except KeyboardInterrupt:
        told = f"all rows are learned from: --resume {output / MODEL} writes the report"
        raise KeyboardInterrupt(told) from None
    run.settings.finish(beginning)
    write_pass(output / MODEL, run.play, run.settings)
    return outcome


def _kept_of(predictions: Path, stop: Stop | None) -> int:
    """Bytes of the predictions that stay; none if somebody has taken them away."""
    if stop is None or not predictions.exists() or predictions.stat().st_size < stop.written:
        return 0
    return stop.written


def _begin(asked: LearnOptions, tell: Tell) -> RunningPass:
    check_data(asked.data)
    columns = None if is_built_in(asked.data) else asked.columns()
    feed = open_feed(asked, columns)
    network, places = network_of(asked, feed)
    implied = asked.graph is None and asked.near is None and not isinstance(feed.source, Table)
    play = Pass(network, asked.task_or_default, asked.share_or_default)
    if isinstance(feed.source, Table):
        named = zip(feed.source.names, feed.source.features[:1].T, strict=True)
        play.learned.encoder.encode(dict(named))
    if columns is None:
        columns = Columns(agent="agent", target="target", time="time", arrives="arrives")
    settings = PassSettings(
        name=feed.name,
        target=feed.target,
        columns=columns,
        graph=asked.graph,
        near=asked.near,
        neighbours=asked.neighbours,
        implied=implied,
        dated=_dated(feed, columns),
        positions=places,
    )
    return RunningPass(play, settings, feed, asked, tell)


def _dated(feed: Feed, columns: Columns) -> bool:
    if isinstance(feed.source, Table):
        return feed.source.clock is not None
    return is_dated(feed.source, columns)


def _go_on(asked: LearnOptions, resume: Path, tell: Tell) -> RunningPass:
    check_data(asked.data)
    play, settings = read_pass(resume)
    others = {
        "graph": settings.graph,
        "near": settings.near,
        "neighbours": settings.neighbours,
        "task": play.evaluation.task,
        "share": play.share,
    }
    asked.check_same(settings.columns, others, str(resume))
    built_in = is_built_in(asked.data)
    feed = open_feed(asked, None if built_in else settings.columns)
    return RunningPass(play, settings, feed, asked, tell, goes_on=True)


def _batches(run: RunningPass) -> Iterator[tuple[Batch, list[BadRow]]]:
    task = run.play.evaluation.task
    return run.feed.batches(run.settings, run.play.learned.encoder, task, run.asked.when_bad)


def _play(run: RunningPass, batch: Batch, bad: list[BadRow], file: CsvWriter) -> None:
    """Play a batch and write its predictions."""
    _note(run, bad)
    if batch.line.size:
        check_size(run, batch)
        check_names(run, batch)
        if run.settings.implied and run.settings.rows == 0:
            run.tell(
                "no graph was given: every agent is a neighbour of every other (--graph complete); "
                "--graph none keeps them apart"
            )
        run.busy = True
        file.write(run.play.play(batch))
        run.settings.rows += batch.line.size
        run.settings.time = float(batch.time[-1])
        run.rows += batch.line.size
    run.line = max([run.line, *batch.line[-1:].tolist(), *(row.line for row in bad)])
    run.busy = False


def _note(run: RunningPass, bad: list[BadRow]) -> None:
    """Count bad rows, and name the first of them."""
    for row in bad:
        said = f"{run.feed.unit} {row.line}: {row.reason}"
        if len(run.complaints) < TOLD:
            run.tell(f"{run.feed.name}, {said} (skipped)")
        if len(run.complaints) < LISTED:
            run.complaints.append(said)
            if len(run.complaints) == TOLD + 1:
                run.tell("more bad rows are skipped and counted; the report lists the first")
    run.settings.skipped += len(bad)


def _name_strangers(outcome: LearnOutcome, tell: Tell) -> None:
    """Say who is not in the graph."""
    if outcome.strangers:
        names = ", ".join(map(str, outcome.strangers[:LISTED]))
        more = len(outcome.strangers) - LISTED
        names += f" and {more:,} more (agents.csv)" if more > 0 else ""
        tell(f"{outcome.apart}: {names}")


def _outcome(run: RunningPass) -> LearnOutcome:
    play, settings = run.play, run.settings
    waiting, last = play.progressive.state()
    encoder = play.learned.encoder
    texts = [name for name, kind in encoder.kinds.items() if kind == "category"]
    return LearnOutcome(
        name=settings.name if not run.goes_on else run.feed.name,
        target=settings.target,
        share=play.share,
        agents=play.learned.agents,
        network=play.network,
        evaluation=play.evaluation,
        messages=play.learned.messages,
        message_bytes=play.learned.message_bytes,
        skipped=settings.skipped,
        complaints=tuple(run.complaints),
        earlier=settings.earlier_rows,
        dated=settings.dated,
        positions=settings.positions,
        strangers=play.strangers(),
        near=settings.near or (),
        waiting=int((waiting.arrives > last).sum()),
        numbers=tuple(name for name in encoder.kinds if name not in texts),
        categories={name: encoder.columns[name] for name in texts},
    )
