"""Running an experiment from Python: the same work, and the same result folder, as `mtcool run`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtcool.experiments.running.engines import Engine, EngineName, choose_engine
from mtcool.experiments.running.runner import Task, run_tasks
from mtcool.experiments.running.suite import task_of
from mtcool.simulation.progress import progress_bar

if TYPE_CHECKING:
    from mtcool.experiments.learner.chapter import Chapter
    from mtcool.experiments.report.outcome import Outcome
    from mtcool.experiments.report.results import Results


def run(
    experiment: str | os.PathLike[str] | Mapping[str, Any],
    output: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    engine: EngineName = "local",
    scheduler: str | None = None,
    quick: bool = False,
    progress: bool = True,
) -> Outcome:
    """Run an experiment, or what is left of it, and write its result folder.

    The same as `mtcool run`: the same tables, figures and paired differences, to the byte.
    Finished cells are in the folder and are not run again, unless the experiment or code that
    makes their numbers has changed.

    Parameters
    ----------
    experiment
        Path of an experiment file, or its content as a dictionary. Losses, algorithms and learners
        of your own are named as in a file, "module:name". Paths and modules of a dictionary are
        looked for in the current folder.
    output
        Folder for the results; "results/NAME" if not given.
    workers
        Number of processes: 1 by default, where the command `mtcool run` takes all cores. The
        results do not depend on it.
    engine
        "local": processes on this machine. "dask": the workers of a Dask cluster.
    scheduler
        Address of the Dask scheduler; for engine "dask", and only for it.
    quick
        Few short runs, for a first look.
    progress
        Show progress on standard error, as the command does: a bar on a terminal, elsewhere a line
        every few seconds. With False nothing is shown.

    Examples
    --------
    >>> import tempfile, mtcool.experiments
    >>> content = {
    ...     "name": "demo",
    ...     "rounds": 200,
    ...     "replicates": 2,
    ...     "graph": {"kind": "ring", "agents": 4},
    ...     "algorithm": [
    ...         {"name": "shared", "algorithm": "mt_co2ol", "learner": "MTFTRLKT", "lipschitz": 4},
    ...         {"name": "alone", "algorithm": "i_ftrl", "learner": "KT", "lipschitz": 4},
    ...     ],
    ... }
    >>> outcome = mtcool.experiments.run(content, tempfile.mkdtemp())
    >>> [row["algorithm"] for row in outcome.tables["summary"]]
    ['shared', 'alone']
    >>> (outcome.folder / "demo" / "differences.csv").is_file()
    True
    """
    if output is not None and not isinstance(output, str | os.PathLike):
        raise ValueError(f"output must be the path of a folder, got {output!r}")
    task = task_of(experiment, quick=quick)
    head = task.experiment.head
    folder = Path("results") / (f"{head.name}-quick" if quick else head.name)
    if output is not None:
        folder = Path(output)
    place = choose_engine(engine, workers, scheduler)
    (outcome,) = run_all(head.title or head.name, "", [task], folder, place, progress=progress)
    return outcome


def run_all(
    title: str,
    lead: str,
    tasks: Sequence[Task],
    folder: Path,
    engine: Engine,
    *,
    progress: bool,
    learner: bool = False,
    tell: Callable[[str], None] = lambda sentence: None,
) -> list[Outcome]:
    """Run several experiments into one folder, with one report.

    The report is there as soon as the first is finished, and is written again whenever more of them
    are; `tell` is called at the first time. With `learner`, for the paper's experiments, the report
    has a chapter on `mtcool.learn`.
    """
    # Drawing takes time to import, and workers, which import this package, draw nothing.
    from mtcool.experiments.learner.chapter import run_chapter
    from mtcool.experiments.report.report import Report

    report = Report(title, lead, tasks, folder, learner=learner)

    def write(results: list[Results], chapter: Chapter | None = None) -> list[Outcome]:
        new = len(results) - len(report.sections)
        with progress_bar("report", new, progress and new > 0) as advance:
            return report.write(results, chapter, advance)

    def write_early(results: list[Results]) -> None:
        if report.sections:  # cells are run meanwhile, which shows its own progress
            report.write(results)
            return
        write(results)
        tell(f"open {folder / 'report.html'}: it is written again as the rest is finished")

    try:
        results = run_tasks(tasks, folder, engine, progress=progress, finished=write_early)
        outcomes = write(results)
        if learner:
            chapter = run_chapter(results, folder, engine, progress=progress)
            outcomes = write(results, chapter)
        return outcomes
    except KeyboardInterrupt:
        finished = any((folder / "cells").glob("*.cell"))
        kept = f"finished runs are in {folder}" if finished else "no run was finished"
        again = "run again to go on" if finished else "run again to start anew"
        raise KeyboardInterrupt(f"{kept}, {again}") from None
