"""The chapter on the learner: what is run beside the experiments, and what it gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import msgspec

from mtcool.experiments.learner.code import DATA
from mtcool.experiments.learner.figure_two import FigureTwo, Regrets
from mtcool.experiments.learner.real_streams import Errors, RealStream
from mtcool.experiments.report.results import Results
from mtcool.experiments.running.engines import Engine, run_jobs
from mtcool.experiments.running.store import ResultsFolder
from mtcool.experiments.running.suite import FIGURES
from mtcool.experiments.running.work import Work
from mtcool.simulation.progress import progress_bar

REPLICATES, ORDERS = 6, 5

R = TypeVar("R")


@dataclass(frozen=True)
class Chapter:
    """What was measured."""

    figures: Results
    """The experiment with the paper's Figure 2."""
    regrets: list[list[Regrets]]
    """Of the learner, for every point of it and its first replicates."""
    streams: dict[str, list[Errors]]
    """Of every real stream in its orders; empty if the data are not installed."""


def run_chapter(
    results: Sequence[Results], folder: Path, engine: Engine, *, progress: bool
) -> Chapter:
    """Run what an earlier run has not left in the folder."""
    figures = next(one for one in results if one.experiment.head.name == FIGURES)
    count = min(REPLICATES, figures.replicates)
    played = [
        [FigureTwo(msgspec.structs.replace(first, replicate=k)) for k in range(count)]
        for first in figures.firsts
    ]
    streams = stream_works() if has_data() else {}
    store = ResultsFolder(folder / "cells")
    # The streams take longest, each: they begin.
    works: list[Work[object]] = [
        *(work for orders in streams.values() for work in orders),
        *(work for point in played for work in point),
    ]
    missing = [work for work in works if store.get(work) is None]
    done = len(works) - len(missing)
    with progress_bar("learner", len(works), progress, done=done) as advance:
        # The last one is short: by itself, it compiles what the others load.
        for part in (missing[-1:], missing[:-1]):
            for work, result in run_jobs(part, engine):
                store.put(work, result)
                advance(1)
    return Chapter(
        figures,
        [[_stored(store, work) for work in point] for point in played],
        {name: [_stored(store, work) for work in orders] for name, orders in streams.items()},
    )


def stream_works() -> dict[str, list[RealStream]]:
    """The streams, pupils of the schools in several orders because they have no times.

    Examples
    --------
    >>> [len(orders) for orders in stream_works().values()]
    [1, 1, 5]
    """
    orders = {"births": 1, "flights": 1, "schools": ORDERS}
    return {name: [RealStream(name, seed) for seed in range(n)] for name, n in orders.items()}


def has_data() -> bool:
    """Whether the packages are installed that the real data come with."""
    return all(find_spec(package) is not None for package in DATA)


def _stored(store: ResultsFolder, work: Work[R]) -> R:
    found = store.get(work)
    if found is None:
        raise OSError(f"results were taken from {store.folder} during the run")
    return found
