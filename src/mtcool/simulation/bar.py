"""A progress bar for terminals and notebooks."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from mtcool.simulation.progress import Advance, per_second


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else per_second(task.speed))


def is_seen() -> bool:
    """Whether standard error shows a bar that moves."""
    console = Console(stderr=True)
    return console.is_interactive or console.is_jupyter


@contextmanager
def bar(what: str, total: int | None, done: int) -> Iterator[Advance]:
    """Show a bar on standard error; yields a function to call with the number of steps done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(what, total=total, completed=done)
        yield lambda steps: shown.advance(task, steps)
