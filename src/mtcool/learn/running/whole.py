"""All of `mtcool learn`: one pass over the data, a folder with what it found, a model to go on."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, final

from mtcool import validation
from mtcool.graphs import Graph
from mtcool.learn.reading.graphs import WORDS as GRAPH_WORDS
from mtcool.learn.reading.graphs import graph_from, graph_of_places, places_of
from mtcool.learn.reading.tables import BadRow, Batch, Columns
from mtcool.learn.running.answers import CsvWriter
from mtcool.learn.running.asked import Asked
from mtcool.learn.running.built_in import places_in
from mtcool.learn.running.feed import (
    STANDARD_INPUT,
    Feed,
    check_data,
    is_built_in,
    is_dated,
    open_feed,
)
from mtcool.learn.running.interrupts import noted
from mtcool.learn.running.outcome import LISTED, Network, Outcome
from mtcool.learn.running.run import MOST_COMPLETE, Pass
from mtcool.learn.running.saved import read_pass, write_pass
from mtcool.learn.running.settings import Settings, Stop
from mtcool.simulation.progress import progress_bar
from mtcool.streams.table import Table

Tell: TypeAlias = Callable[[str], None]
"""Takes sentences that people read while they wait."""
MODEL = "model.npz"
PREDICTIONS = "predictions.csv"
BETWEEN_SAVES = 60.0
"""Seconds after which a run saves its model: what a crash can cost."""
NEIGHBOURS = 5
"""Nearest agents that each agent is joined to, if nothing else is said."""
TOLD = 5
"""Bad rows that are told at once; the rest are counted."""


@final
@dataclass
class Run:
    """A pass, what was asked of it, and what there is to read."""

    play: Pass
    settings: Settings
    feed: Feed
    asked: Asked
    tell: Tell
    goes_on: bool = False
    complaints: list[str] = field(default_factory=list)
    line: int = 0
    rows: int = 0
    saved: float = field(default_factory=time.monotonic)
    busy: bool = False
    """Whether some learners may have played what others have not."""


def learn(
    asked: Asked,
    output: Path,
    resume: Path | None,
    tell: Tell,
    report: Callable[[Outcome], object],
    *,
    progress: bool = False,
) -> Outcome:
    """Play the data, write predictions and model into the folder, and report what was found.

    The model is saved every minute, when a run is interrupted, and when a bad row stops it; with
    `resume` the same data are then gone on with. It counts as done when `report` has returned: a
    run that ended before is gone on with to its report.
    """
    run = _begin(asked, tell) if resume is None else _go_on(asked, resume, tell)
    earlier = run.settings.rows
    run.settings.begin(run.feed.place)
    stop = run.settings.stop
    # The predictions of the same file go on where they ended, if they are in the same folder.
    beside = resume is not None and os.path.realpath(resume.parent) == os.path.realpath(output)
    after = stop.written if stop is not None and beside else 0
    done = max(run.feed.done(run.settings) - 1, 0)  # the header is no row
    with (
        CsvWriter(output / PREDICTIONS, dated=run.settings.dated, target=True, after=after) as file,
        _kept(run, output / MODEL, file),
        noted() as pressed,
        progress_bar("rows", run.feed.total, progress, done=done) as advance,
    ):
        for batch, bad in _batches(run):
            _play(run, batch, bad, file)
            advance(batch.line.size + len(bad))
            if pressed():
                raise KeyboardInterrupt
            if time.monotonic() > run.saved + BETWEEN_SAVES:
                _save(run, output / MODEL, file)
        if run.rows == 0 and stop is None:
            raise ValueError(f"data must have rows to learn from, got none in {run.feed.name}")
        run.line = max(run.line, run.feed.done(run.settings))
        _save(run, output / MODEL, file)
        if pressed():
            raise KeyboardInterrupt
    outcome = _outcome(run, earlier)
    try:
        report(outcome)
    except KeyboardInterrupt:
        told = f"all rows are learned from: --resume {output / MODEL} writes the report"
        raise KeyboardInterrupt(told) from None
    run.settings.stop = None
    write_pass(output / MODEL, run.play, run.settings)
    return outcome


def _begin(asked: Asked, tell: Tell) -> Run:
    check_data(asked.data)
    columns = None if is_built_in(asked.data) else asked.columns()
    feed = open_feed(asked, columns)
    network, places = _network(asked, feed)
    implied = asked.graph is None and asked.near is None and not isinstance(feed.source, Table)
    play = Pass(network, asked.task_or_default, asked.share_or_default)
    if isinstance(feed.source, Table):
        named = zip(feed.source.names, feed.source.features[:1].T, strict=True)
        play.learned.encoder.encode(dict(named))
    if columns is None:
        columns = Columns(agent="agent", target="target", time="time", arrives="arrives")
    settings = Settings(
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
    return Run(play, settings, feed, asked, tell)


def _dated(feed: Feed, columns: Columns) -> bool:
    if isinstance(feed.source, Table):
        return feed.source.clock is not None
    return is_dated(feed.source, columns)


def _network(asked: Asked, feed: Feed) -> tuple[Network, dict[str, tuple[float, float]]]:
    """Who talks to whom, and where they are if coordinates tell."""
    if asked.near is not None and asked.graph is not None:
        raise ValueError(f"graph must be left out with near, got {asked.graph!r}")
    if asked.near is not None:
        if isinstance(feed.source, Table):
            raise ValueError(f"near must be left out with a built-in stream, got {asked.near!r}")
        if feed.source == STANDARD_INPUT:
            raise ValueError("data must be a file with near, which reads it twice, got '-'")
        neighbours = NEIGHBOURS if asked.neighbours is None else asked.neighbours
        places = places_of(feed.source, str(asked.agent), asked.near)
        graph = graph_of_places(places, validation.count("neighbours", neighbours))
        return graph, {name: (east, north) for name, (north, east) in places.items()}
    if asked.neighbours is not None:
        raise ValueError(f"neighbours must be left out without near, got {asked.neighbours!r}")
    if asked.graph is not None:
        if asked.graph not in GRAPH_WORDS:
            os.stat(asked.graph)  # whose complaint names the file
        return graph_from(asked.graph), {}
    if isinstance(feed.source, Table):
        return graph_from(feed.source.graph), places_in(feed.source)
    return "complete", {}


def _go_on(asked: Asked, resume: Path, tell: Tell) -> Run:
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
    return Run(play, settings, feed, asked, tell, goes_on=True)


def _batches(run: Run) -> Iterator[tuple[Batch, list[BadRow]]]:
    task = run.play.evaluation.task
    return run.feed.batches(run.settings, run.play.learned.encoder, task, run.asked.when_bad)


def _play(run: Run, batch: Batch, bad: list[BadRow], file: CsvWriter) -> None:
    """Play a batch and write its predictions."""
    _note(run, bad)
    if batch.line.size:
        _check_size(run, batch)
        _check_names(run, batch)
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


def _note(run: Run, bad: list[BadRow]) -> None:
    """Count bad rows, and name the first of them."""
    for row in bad:
        said = f"line {row.line}: {row.reason}"
        if len(run.complaints) < TOLD:
            run.tell(f"{run.feed.name}, {said} (skipped)")
        if len(run.complaints) < LISTED:
            run.complaints.append(said)
            if len(run.complaints) == TOLD + 1:
                run.tell("more bad rows are skipped and counted; the report lists the first")
    run.settings.skipped += len(bad)


def _check_size(run: Run, batch: Batch) -> None:
    """Refuse more agents than everybody can talk to, unless that was asked for."""
    if run.settings.implied:
        known = {*run.play.learned.agents, *batch.agents}
        if len(known) > MOST_COMPLETE:
            raise ValueError(
                f"graph must be given for more than {MOST_COMPLETE} agents, got none: --graph "
                "FILE, --near LAT,LON, --graph complete or --graph none"
            )


def _check_names(run: Run, batch: Batch) -> None:
    """Refuse a graph that has none of the first rows' agents: the names are not those meant."""
    graph = run.play.network
    if run.settings.rows or run.settings.graph is None or not isinstance(graph, Graph):
        return
    if graph.size and set(batch.agents).isdisjoint(graph.labels):
        raise ValueError(
            f"graph must have agents of {run.feed.name}, got none of them: an agent of the data is "
            f"{batch.agents[0]!r}, one of the graph is {graph.labels[0]!r}"
        )


@contextmanager
def _kept(run: Run, path: Path, file: CsvWriter) -> Iterator[None]:
    """Save what was learned when a run ends before its data do, and say so."""
    try:
        yield
    except (KeyboardInterrupt, ValueError) as error:
        if run.rows == 0 or run.busy:
            raise
        _save(run, path, file)
        kept = f"predictions up to line {run.line:,} and the model that learned from them are kept"
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"{kept}: go on with --resume {path}") from None
        raise ValueError(
            f"{error}; {kept}: mend the line in this file, then go on with --resume {path}"
        ) from None


def _save(run: Run, path: Path, file: CsvWriter) -> None:
    run.settings.stop = Stop(run.feed.place, run.line, file.written())
    write_pass(path, run.play, run.settings)
    run.saved = time.monotonic()


def _outcome(run: Run, earlier: int) -> Outcome:
    play, settings = run.play, run.settings
    network = play.network
    waiting, last = play.progressive.state()
    strangers = play.strangers()
    if strangers:
        names = ", ".join(map(str, strangers[:LISTED]))
        more = len(strangers) - LISTED
        names += f" and {more:,} more (agents.csv)" if more > 0 else ""
        run.tell(f"not in the graph, so without neighbours: {names}")
    return Outcome(
        name=settings.name if not run.goes_on else run.feed.name,
        target=settings.target,
        share=play.share,
        agents=play.learned.agents,
        network=network,
        evaluation=play.evaluation,
        messages=play.learned.messages,
        message_bytes=play.learned.message_bytes,
        skipped=settings.skipped,
        complaints=tuple(run.complaints),
        earlier=earlier,
        dated=settings.dated,
        positions=settings.positions,
        strangers=strangers if isinstance(network, Graph) else (),
        waiting=int((waiting.arrives > last).sum()),
    )
