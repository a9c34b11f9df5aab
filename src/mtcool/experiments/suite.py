"""The paper's experiments, and those it could not show: experiment files that come with mtcool."""

import dataclasses
from importlib.resources import files
from pathlib import Path

from mtcool.experiments.runner import Task
from mtcool.experiments.spec import load_experiment

TITLE = "Multitask Online Learning: Listen to the Neighborhood Buzz, the experiments"
LEAD = (
    "The evidence of the paper, completed. The paper leaves out the dimension d and the gradient "
    "bound L of its experiments; L decides who wins, so every figure states both, and two sections "
    "vary them. All sentences under What we see are computed from the data."
)

# In the order of the report. The first two are the paper's figures and run at full size always.
NAMES = (
    "figures",
    "hedge",
    "bound",
    "dimension",
    "pairwise",
    "structure",
    "weights",
    "activations",
    "growth",
)
AT_FULL_SIZE = ("figures", "hedge")
FEWER = 6
"""Replicates of the other experiments, unless all are asked for."""
QUICK_ROUNDS, QUICK_REPLICATES = 3_000, 2


def paper_tasks(*, full: bool = False, quick: bool = False) -> list[Task]:
    """The experiments of `mtcool paper`.

    >>> [task.replicates for task in paper_tasks()][:3]
    [48, 48, 6]
    """
    tasks = [task_of(_folder() / f"{name}.toml", quick=quick) for name in NAMES]
    if full:
        return tasks
    return [
        task
        if task.experiment.head.name in AT_FULL_SIZE
        else dataclasses.replace(task, replicates=min(FEWER, task.replicates))
        for task in tasks
    ]


def task_of(path: Path, *, quick: bool = False) -> Task:
    """An experiment file as a task: at its full size, or small enough for a first look."""
    experiment = load_experiment(path, most_rounds=QUICK_ROUNDS if quick else None)
    replicates = experiment.head.replicates
    return Task(
        experiment,
        min(replicates, QUICK_REPLICATES) if quick else replicates,
        path.read_text(encoding="utf-8"),
        quick,
    )


def _folder() -> Path:
    return Path(str(files("mtcool.experiments") / "paper"))
