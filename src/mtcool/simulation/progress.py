"""A progress bar with rate and remaining time, or nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

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

Advance: TypeAlias = Callable[[int], None]


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.speed or 0.0
        return Text("" if task.speed is None else f"{speed:,.{0 if speed >= 10 else 1}f}/s")


@contextmanager
def progress_bar(what: str, total: int, show: bool) -> Iterator[Advance]:
    """A function to call with the number of steps done; the bar goes to standard error."""
    if not show:
        yield lambda steps: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)
