"""The paper's experiments, and those it could not show: experiment files that come with mtcool."""

import dataclasses
import os
from collections.abc import Collection, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from mtcool import validation
from mtcool.experiments.files.loading import load_experiment, read_source
from mtcool.experiments.files.toml import toml_of
from mtcool.experiments.running.runner import FullSize, Task

TITLE = "Multitask Online Learning: Listen to the Neighborhood Buzz, the experiments"
LEAD = (
    "The evidence of the paper, completed. The paper leaves out the dimension d and the gradient "
    "bound L of its experiments; L decides who wins, so every figure states both, and two sections "
    "vary them. All sentences under What we see are computed from the data."
)

# In the order of the report, with the number of replicates unless all 48 are asked for. The paper's
# own figures run at full size always.
EXPERIMENTS = {
    "figures": 48,
    "hedge": 16,
    "bound": 12,
    "dimension": 6,
    "pairwise": 6,
    "structure": 6,
    "weights": 6,
    "activations": 6,
    "rates": 6,
    "growth": 6,
    "privacy": 6,
    "privacy-rounds": 6,
    "privacy-few": 8,
    "bytes": 6,
    "churn": 6,
    "delays": 6,
    "partners": 6,
}
FIGURES, LEARNER = "figures", "learner"
"""The paper's figures, and the section on `mtcool.learn`, which plays their streams again."""
SECTIONS = (*EXPERIMENTS, LEARNER)
QUICK, FEW = ("figures", "hedge"), 4
"""Sections of a quick look at the paper, and its replicates; the figures have all of theirs."""
QUICK_ROUNDS, QUICK_REPLICATES = 3_000, 2
"""Of a quick look at another experiment."""


def paper_sections(only: Collection[str] = (), *, quick: bool = False) -> list[str]:
    """The sections of `mtcool paper`, in the order of the report: all, a few, or those asked for.

    Examples
    --------
    >>> paper_sections(quick=True)
    ['figures', 'hedge']
    >>> paper_sections(["learner", "hedge"])
    ['figures', 'hedge', 'learner']
    """
    for name in only:
        validation.one_of("only", name, SECTIONS)
    chosen = {*only} or {*(QUICK if quick else SECTIONS)}
    if LEARNER in chosen:
        chosen.add(FIGURES)
    return [name for name in SECTIONS if name in chosen]


def paper_tasks(
    sections: Collection[str] = SECTIONS, *, full: bool = False, quick: bool = False
) -> list[Task]:
    """The experiments of these sections of `mtcool paper`, all at full length.

    Examples
    --------
    >>> [task.replicates for task in paper_tasks()][:3]
    [48, 16, 12]
    >>> [task.replicates for task in paper_tasks(["figures", "growth"], quick=True)]
    [48, 4]
    """
    if full and quick:
        raise ValueError("full must be left out with quick, got both")
    return [_paper_task(name, full, quick) for name in EXPERIMENTS if name in sections]


def _paper_task(name: str, full: bool, quick: bool) -> Task:
    task = task_of(_folder() / f"{name}.toml")
    if full:
        return task
    most = EXPERIMENTS[name]
    if quick and name != FIGURES:
        size = FullSize(most, task.rounds)
        return dataclasses.replace(task, replicates=FEW, quick=size)
    return dataclasses.replace(task, replicates=most)


def paper_lead(sections: Collection[str]) -> str:
    """What the report says first, with the sections that are left out.

    Examples
    --------
    >>> paper_lead(SECTIONS) == LEAD
    True
    >>> paper_lead([*EXPERIMENTS])[-86:]
    'Left out of this report: learner. Without --quick and --only, mtcool paper has it all.'
    """
    missing = ", ".join(name for name in SECTIONS if name not in sections)
    if not missing:
        return LEAD
    end = "Without --quick and --only, mtcool paper has it all."
    return f"{LEAD} Left out of this report: {missing}. {end}"


def task_of(experiment: str | os.PathLike[str] | Mapping[str, Any], *, quick: bool = False) -> Task:
    """An experiment, a file or its content, as a task: at full size, or for a first look."""
    if isinstance(experiment, Mapping):
        place, source, folder = "experiment", toml_of(experiment), Path()
    elif isinstance(experiment, str | os.PathLike):
        path = Path(experiment)
        place, source, folder = str(path), read_source(path), path.parent
    else:
        raise ValueError(
            f"experiment must be the path of a file or a dictionary, got {experiment!r}"
        )
    whole = load_experiment(source, folder, place)
    task = Task(whole, whole.head.replicates, source, folder=folder)
    if not quick:
        return task
    full = FullSize(task.replicates, task.rounds)
    short = load_experiment(source, folder, place, most_rounds=QUICK_ROUNDS)
    look = Task(short, min(full.replicates, QUICK_REPLICATES), source, full, folder)
    # A file that is small enough runs as it is, and there is nothing to warn of.
    return task if FullSize(look.replicates, look.rounds) == full else look


def _folder() -> Path:
    return Path(str(files("mtcool.experiments") / "paper"))
