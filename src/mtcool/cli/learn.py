"""The command `mtcool learn`."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from mtcool.cli.learn_options import (
    AgentColumn,
    ArrivesColumn,
    AsJson,
    CategoryColumns,
    Data,
    FeatureColumns,
    Folder,
    GraphName,
    Nearest,
    OnBadRow,
    PlaceColumns,
    SavedModel,
    ShareName,
    TargetColumn,
    TaskName,
    TimeColumn,
)
from mtcool.cli.option_names import named_as_typed
from mtcool.cli.output import interruptible, stdout_kept_for_json
from mtcool.cli.terminal import console, shown, tell

if TYPE_CHECKING:
    from mtcool.learn.running.outcome import LearnOutcome

COLOURS = {"good": "green", "open": "yellow", "bad": "red"}


def learn(
    data: Data,
    agent: AgentColumn = None,
    target: TargetColumn = None,
    time: TimeColumn = None,
    arrives: ArrivesColumn = None,
    features: FeatureColumns = None,
    categories: CategoryColumns = None,
    graph: GraphName = None,
    near: PlaceColumns = None,
    neighbours: Nearest = None,
    task: TaskName = None,
    share: ShareName = None,
    output: Folder = None,
    as_json: AsJson = False,
    resume: SavedModel = None,
    on_bad: OnBadRow = "stop",
) -> None:
    """Learn from a table of many agents: does sharing help them.

    Every row is predicted before its target is used: by agents that share with their neighbours,
    by each alone, and by one model for all. The folder then has report.html, every prediction,
    metrics over time and by agent, and a model for `mtcool predict` and --resume.
    """
    from mtcool.learn.report import write_report
    from mtcool.learn.running.learn_command import learn as learn_all
    from mtcool.learn.running.options import LearnOptions, words_of

    with (
        named_as_typed(),
        interruptible(),
        stdout_kept_for_json() if as_json else nullcontext(),
    ):
        asked = LearnOptions(
            data=data,
            agent=agent,
            target=target,
            time=time,
            arrives=arrives,
            features=words_of(features),
            categories=words_of(categories),
            graph=graph,
            near=words_of(near),
            neighbours=neighbours,
            task=task,
            share=share,
            on_bad=on_bad,
        )
        folder = output or Path("results") / asked.short_name
        outcome = learn_all(
            asked,
            folder,
            resume,
            tell,
            lambda found: write_report(found, folder, progress=True),
            progress=True,
        )
    if as_json:
        print(json.dumps(outcome.summary(), indent=1))
    else:
        _show(outcome, folder)


def _show(outcome: "LearnOutcome", folder: Path) -> None:
    """Print what the report says at its top, and where the rest is."""
    from mtcool.learn.report import findings, headline_table
    from mtcool.learn.report.verdicts import verdict_on

    screen = console()
    verdict = verdict_on(outcome)
    screen.print(f"Does sharing help? {shown(outcome.name)}", style="bold", markup=False)
    screen.print(shown(verdict.headline), markup=False, style=COLOURS[verdict.tone])
    screen.print(shown(verdict.advice), markup=False)
    for line in headline_table(outcome):
        screen.print(f"  {shown(line)}", markup=False)
    parts = {
        "Who gains": findings.who_gains(outcome),
        "Does the graph matter": [findings.graph_matters(outcome)],
        "What it costs": [findings.costs(outcome)],
        "The data": findings.about_rows(outcome),
    }
    for title, sentences in parts.items():
        screen.print(f"{title}: {shown(' '.join(sentences))}", markup=False)
    screen.print(
        f"Open {folder / 'report.html'}; predictions, tables and the model are beside it.",
        markup=False,
    )
